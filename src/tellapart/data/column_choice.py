"""Some columns of tables, chosen by name: `--columns`, `--drop` and `keep`."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from tellapart.arrays import FloatArray
from tellapart.data.columns import to_arrow
from tellapart.data.sources.source import Source, is_anndata, is_file_dataset
from tellapart.data.sources.table import described, quoted
from tellapart.errors import InputError


class Headed(Protocol):
    """A sample that was opened: its title, and the names of its columns if they have any."""

    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def names(self) -> tuple[str, ...] | None: ...  # noqa: D102
    @property
    def n_columns(self) -> int: ...  # noqa: D102


def choose_columns(
    tables: Sequence[Any],
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    needed: Sequence[str] = (),
) -> tuple[list[Any], tuple[str, ...]]:
    """Return tables restricted to some columns, in the order of each; and which are left out.

    Parameters
    ----------
    tables : sequence of pyarrow tables, AnnData or file datasets
        As files are read.
    columns : sequence of str or None
        The columns to keep, which every table must have; None for all. Each text is a name, or
        several with commas between them, in double quotes where a name has a comma itself.
    drop : sequence of str
        Columns to leave out, written in the same way. One table may be without them: that is how
        two files with different columns become comparable.
    needed : sequence of str
        Columns that stay whatever is chosen, such as the one that names groups.

    Examples
    --------
    >>> import pyarrow as pa
    >>> x = pa.table({"age": [31, 47], "sex": ["f", "m"], "ward": [1, 2]})
    >>> tables, left_out = choose_columns([x, x.drop(["ward"])], drop=["ward"])
    >>> [table.column_names for table in tables], left_out
    ([['age', 'sex'], ['age', 'sex']], ('ward',))
    >>> choose_columns([x], columns=["ward,age"])[0][0].column_names
    ['age', 'ward']
    """
    if columns is None and not drop:
        return list(tables), ()
    names = [names_of(table) for table in tables]
    known = dict.fromkeys(name for some in names for name in some)
    wanted = None if columns is None else typed_names(columns, known)
    unwanted = typed_names(drop, known)
    for some in names:
        _check_known("columns", wanted or (), some)
    _check_known("drop", unwanted, known)
    clash = [name for name in needed if name in unwanted]
    if clash:
        raise InputError(f"drop must leave the column {clash[0]!r}, by which rows are grouped")
    chosen = []
    for table, some in zip(tables, names, strict=True):
        kept = [
            name
            for name in some
            if name in needed or ((wanted is None or name in wanted) and name not in unwanted)
        ]
        if not set(kept) - set(needed):
            raise InputError("drop must leave at least one column to compare; got all of them")
        chosen.append(_with_columns(table, kept))
    left = {name for table in chosen for name in names_of(table)}
    return chosen, tuple(name for name in known if name not in left)


def typed_names(texts: Iterable[str], known: Iterable[str]) -> dict[str, None]:
    """Return the names in texts as people type them: one, or several with commas between."""
    found: dict[str, None] = {}
    for text in texts:
        # A name that has a comma may also be given as it is.
        found.update(dict.fromkeys([text] if text in known else _between_commas(text)))
    return found


def _between_commas(text: str) -> list[str]:
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:  # a line break outside quotes: no list, and as a name it is told as unknown
        return [text]


def typed_in(tables: Sequence[Any], texts: Iterable[str]) -> list[str]:
    """Return the names of columns that people typed, of tables that may have them."""
    known = dict.fromkeys(name for table in tables for name in names_of(table))
    return list(typed_names(texts, known))


def _check_known(argument: str, given: Iterable[str], names: Iterable[str]) -> None:
    every = dict.fromkeys(names)
    unknown = [name for name in given if name not in every]
    if unknown:
        raise InputError(
            f"{argument} must name columns; got {unknown[0]!r}; {nearest(unknown[0], every)}"
        )


def nearest(name: str, names: Iterable[str]) -> str:
    """Return what to say after a name that is not known: the known ones nearest to it."""
    every = list(names)
    near = difflib.get_close_matches(name, every, n=3)
    return f"the nearest names are {quoted(near)}" if near else f"there are {quoted(every)}"


def names_of(table: Any) -> list[str]:
    """Return the names of the columns of a table, AnnData or file dataset."""
    if isinstance(table, pa.Table):
        return list(table.column_names)
    return [str(name) for name in (table.var_names if is_anndata(table) else table.names)]


def _with_columns(table: Any, names: list[str]) -> Any:
    if isinstance(table, pa.Table):
        wanted = set(names)
        # By place, since names may repeat: that is refused later, in words of its own.
        return table.select([k for k, name in enumerate(table.column_names) if name in wanted])
    if is_file_dataset(table):
        return replace(table, names=tuple(names))
    return table[:, names]


def checked_keep(keep: object, sources: Sequence[Headed]) -> tuple[str, ...]:
    """Return the names of columns to keep, which some sample must have."""
    if isinstance(keep, str | bytes) or not isinstance(keep, Iterable):
        raise InputError(f"keep must be a sequence of column names; got {described(keep)}")
    names = tuple(str(name) for name in keep)
    known = dict.fromkeys(name for source in sources for name in source.names or ())
    absent = [name for name in names if name not in known]
    if absent:
        hint = nearest(absent[0], known) if known else "the columns have no names"
        raise InputError(f"keep must name columns; got {quoted(absent)}; {hint}")
    return names


# The columns of an opened table, found by name.


@dataclass(frozen=True)
class TableColumns:
    """A table that was opened: what its columns are, before they are read.

    Parameters
    ----------
    source : Source
        A table, with the dtypes of its columns.
    """

    source: Source

    @cached_property
    def dtypes(self) -> dict[str, Any]:
        """The dtype of each column."""
        return dict(zip(self.source.names or (), self.source.dtypes, strict=True))

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each column stands."""
        return {name: place for place, name in enumerate(self.dtypes)}

    def arrow(self, name: str) -> Any:
        """Return a column as an Arrow array, or None where Arrow has no type for it."""
        place = self.places[name]
        if isinstance(self.source.data, tuple):
            return to_arrow(self.source.data[place])
        return pa.array(np.ascontiguousarray(self.source.data[:, place]))

    def numbers(self, name: str) -> FloatArray:
        """Return the numbers of one column that are not missing."""
        if isinstance(self.source.data, np.ndarray):
            values = self.source.data[:, self.places[name]]
            return np.asarray(values[~np.isnan(values)])
        present = self.arrow(name).cast(pa.float64(), safe=False).drop_null()
        return np.asarray(present.to_numpy())

    def extremes(self, names: list[str]) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest number of some columns."""
        if isinstance(self.source.data, np.ndarray):
            chosen = self.source.data[:, [self.places[name] for name in names]]
            return chosen.min(axis=0), chosen.max(axis=0)
        every = [self.numbers(name) for name in names]
        low = [values.min(initial=np.inf) for values in every]
        return np.array(low), np.array([values.max(initial=-np.inf) for values in every])
