"""Labels of strata, pairs and clusters: read from columns of the tables, or given as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import narwhals as nw
import numpy as np
import pyarrow as pa

from tellapart.arrays import IntArray
from tellapart.data.choice import nearest
from tellapart.data.columns import label_of
from tellapart.data.described import described
from tellapart.data.row_labels import UNKNOWN, Names, RowLabels
from tellapart.data.sources import as_frame, frame_names, is_anndata
from tellapart.errors import InputError

ARGUMENTS = ("strata", "paired", "clusters")
GIVEN = "given labels"
"""What results say of labels that came as arrays."""


@dataclass(frozen=True)
class DesignArguments:
    """What was asked for: see `tellapart.two_sample_test`."""

    strata: object = None
    paired: object = False
    clusters: object = None

    @property
    def given(self) -> dict[str, object]:
        """The arguments that ask for something."""
        asked = {name: getattr(self, name) for name in ARGUMENTS}
        return {
            name: value
            for name, value in asked.items()
            if value is not None and not (isinstance(value, bool | np.bool_) and not value)
        }

    def told(self) -> dict[str, object]:
        """Return what was asked for as plain values: columns, True, or that labels were given."""
        return {
            name: value if isinstance(value, str) else True if value is True else GIVEN
            for name, value in self.given.items()
        }

    def check(self, n_tables: int) -> None:
        """Raise where an argument is of no kind that labels the rows of one table, or of two."""
        of_table, arrays = "the table", "a label array with one label per row"
        if n_tables == 2:
            of_table, arrays = "both tables", "a pair of label arrays, one per sample"
        for name, value in self.given.items():
            if isinstance(value, str):
                continue
            by_row = isinstance(value, bool | np.bool_)
            several = not by_row and hasattr(value, "__len__") and not isinstance(value, bytes)
            fits = several and (n_tables == 1 or len(cast(Any, value)) == 2)
            if not (fits or (by_row and name == "paired" and n_tables == 2)):
                row = ""
                if name == "paired" and n_tables == 2:
                    row = "True (row i of X belongs to row i of Y), "
                raise InputError(
                    f"{name} must be {row}the name of a column of {of_table}, or {arrays}; "
                    f"got {value if by_row else described(value)}"
                )


@dataclass(frozen=True, eq=False)
class TakenLabels:
    """Labels as they came, for one table or for two: lists of values, or True for row numbers."""

    sides: Mapping[str, Sequence[Sequence[object]] | bool]
    names: Names

    def coded(self, titles: Sequence[str], sizes: Sequence[int]) -> list[RowLabels]:
        """Return the codes of every table's rows, of which there are `sizes`."""
        found: dict[str, list[IntArray]] = {}
        for name, sides in self.sides.items():
            if isinstance(sides, bool):
                if len(set(sizes)) > 1:
                    raise InputError(
                        "paired=True needs as many rows of X as of Y, row i of X belonging to row "
                        f"i of Y; got {sizes[0]} and {sizes[1]}; name a column that matches them"
                    )
                found[name] = [np.arange(size) for size in sizes]
                continue
            found[name] = encode(sides)
            for codes, size, title in zip(found[name], sizes, titles, strict=True):
                if codes.size != size:
                    raise InputError(
                        f"{name} must have one label for each of the {size} rows of {title}; "
                        f"got {codes.size}"
                    )
        return [
            RowLabels(
                size,
                self.names,
                *(found[name][place] if name in found else None for name in ARGUMENTS),
            )
            for place, size in enumerate(sizes)
        ]


def take_labels(
    tables: Sequence[object], asked: DesignArguments, titles: Sequence[str]
) -> tuple[list[object], TakenLabels]:
    """Return the tables without the columns that label their rows, and the labels."""
    asked.check(len(tables))
    columns = {name: value for name, value in asked.given.items() if isinstance(value, str)}
    taken = [
        take_columns(title, table, columns) for title, table in zip(titles, tables, strict=True)
    ]
    sides: dict[str, Sequence[Sequence[object]] | bool] = {}
    for name, value in asked.given.items():
        if isinstance(value, bool | np.bool_):
            sides[name] = True
        elif isinstance(value, str):
            sides[name] = [labels[name] for _, labels in taken]
        else:
            arrays = [value] if len(tables) == 1 else list(cast(Any, value))
            sides[name] = [read_labels(name, side) for side in arrays]
    called = (_name_of(asked.given[name]) if name in sides else None for name in ARGUMENTS)
    return [rest for rest, _ in taken], TakenLabels(sides, Names(*called))


def _name_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def take_columns(
    title: str, table: Any, columns: Mapping[str, str]
) -> tuple[object, dict[str, list[object]]]:
    """Return a table without some columns, and the labels in them by the name of the argument."""
    if not columns:
        return table, {}
    if is_anndata(table):
        obs = nw.from_native(table.obs, eager_only=True)
        return table, _labels_of("obs of " + title, obs, columns)
    frame = as_frame(title, table)
    if frame is None:
        name, value = next(iter(columns.items()))
        raise InputError(
            f"{name} must be label arrays, with one label per row, where {title} has no named "
            f"columns; got {value!r} and {described(table)}"
        )
    labels = _labels_of(title, frame, columns)
    names = frame_names(title, frame)
    gone = {names.index(value) for value in columns.values()}
    rest = frame.select([frame.columns[s] for s in range(len(names)) if s not in gone])
    return rest.to_native(), labels


def _labels_of(
    title: str, frame: nw.DataFrame[Any], columns: Mapping[str, str]
) -> dict[str, list[object]]:
    names = frame_names(title, frame)
    found = {}
    for argument, value in columns.items():
        if value not in names:
            raise InputError(
                f"{argument} must be a column of {title}; got {value!r}; {nearest(value, names)}"
            )
        found[argument] = frame[:, names.index(value)].to_list()
    return found


def read_labels(argument: str, values: object) -> list[object]:
    """Return labels that came as a sequence, one per row."""
    native = nw.from_native(cast(Any, values), series_only=True, pass_through=True)
    if isinstance(native, nw.Series):
        return list(native.to_list())
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return list(values.to_pylist())
    listed = np.asarray(values, dtype=None if isinstance(values, np.ndarray) else object)
    if listed.ndim != 1:
        raise InputError(
            f"{argument} must be label arrays of one dimension, one label per row; "
            f"got {described(values)}"
        )
    return list(listed.tolist())


def encode(sides: Sequence[Sequence[object]]) -> list[IntArray]:
    """Return codes of labels, the same for equal ones on all sides; 1 and 1.0 are equal."""
    place: dict[str, int] = {}
    known: dict[object, int] = {}

    def code(value: object) -> int:
        # None, NaN, NaT and pandas.NA are missing: the last is equal to nothing, itself included.
        if value is None or type(value).__name__ == "NAType" or value != value:
            return UNKNOWN
        if value not in known:
            known[value] = place.setdefault(label_of(value), len(place))
        return known[value]

    return [np.array([code(value) for value in side], dtype=np.intp) for side in sides]


def refuse_chunks(asked: DesignArguments) -> None:
    """Raise where data in chunks come with a design: their rows are never held together."""
    for name in asked.given:
        raise InputError(
            f"{name} needs samples in memory, as rows that belong together may lie in any chunk; "
            "got data in chunks: read them first, or leave it out"
        )
