"""A table of values and a table of metadata, one row of each per observation, as one input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import narwhals as nw
import numpy as np

from tellapart.data.sources.anndata import is_anndata
from tellapart.data.sources.source import HeldSource
from tellapart.data.sources.table import Frame, QuerySource, TableSource, as_frame, frame_names
from tellapart.errors import InputError
from tellapart.text import described, nearest, quoted


@dataclass(frozen=True, eq=False)
class AnnotatedTable:
    """A table that is compared, and what is known of its rows: made by `with_metadata`.

    Attributes
    ----------
    table : table
        The values, which are compared.
    obs : table
        The metadata in the order of the rows of `table`; not compared.
    """

    table: Any
    obs: Any


class MetadataSource(HeldSource):
    """Tables with metadata of their rows."""

    @classmethod
    def claims(cls, data: object) -> bool:
        """Say whether `with_metadata` made this."""
        return isinstance(data, AnnotatedTable)

    @classmethod
    def load(cls, title: str, data: Any) -> Any:  # noqa: ARG003
        """Return the table of values."""
        return data.table


def metadata_of(data: object) -> Frame | None:
    """Return what is known of the rows: `obs` of AnnData or of `with_metadata`, or None."""
    if isinstance(data, AnnotatedTable) or is_anndata(data):
        return cast(Frame, nw.from_native(cast(Any, data).obs, eager_only=True))
    return None


def with_metadata(values: Any, metadata: Any, *, on: str | None = None) -> AnnotatedTable:
    """Join a table of values, such as counts, and a table of metadata of the same rows.

    The values are compared; the metadata say which group, stratum, pair or cluster a row belongs
    to, as `obs` of AnnData does. Rows are matched by the index of pandas tables, or by a column
    that both tables have, whatever their order.

    Parameters
    ----------
    values : table
        One row per observation, one column per variable. Counts that come with one row per gene
        are transposed first: `counts.T`.
    metadata : table
        One row for each row of `values`.
    on : str or None
        The column of both tables that matches their rows; it is not compared. None: the index of
        pandas tables.

    Returns
    -------
    AnnotatedTable
        To be passed to `tellapart.compare_groups` with `by` and, for a design, `strata`, `paired`
        or `clusters` as columns of the metadata; or as X or Y of `tellapart.two_sample_test`.

    Raises
    ------
    InputError
        If a row of one table has no row of the other, or more than one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> counts = pa.table({"sample": ["s1", "s2", "s3"], "TP53": [8, 0, 3], "MYC": [0, 5, 9]})
    >>> samples = pa.table({"id": ["s3", "s1", "s2"], "arm": ["drug", "drug", "placebo"]})
    >>> samples = samples.rename_columns(["sample", "arm"])
    >>> joined = with_metadata(counts, samples, on="sample")
    >>> joined.table.column_names, joined.obs.column("arm").to_pylist()
    (['TP53', 'MYC'], ['drug', 'placebo', 'drug'])
    """
    frame, about = _frame("values", values), _frame("metadata", metadata)
    if on is None:
        keys, known = _index("values", values), _index("metadata", metadata)
    else:
        keys, known = _column("values", frame, on), _column("metadata", about, on)
        frame = frame.drop(on)
    places = _matched(keys, known, frame.columns)
    return AnnotatedTable(frame.to_native(), about[places].to_native())


def _frame(title: str, data: Any) -> Frame:
    if QuerySource.claims(data):
        data = QuerySource.load(title, data)
    frame = as_frame(title, TableSource.load(title, data)) if TableSource.claims(data) else None
    if frame is None:
        raise InputError(
            f"{title} must be a pandas, polars or pyarrow table; got {described(data)}"
        )
    return frame


def _index(title: str, data: Any) -> list[object]:
    """Return the index of a pandas table."""
    index = getattr(data, "index", None)
    if index is None or not hasattr(index, "tolist"):
        raise InputError(
            f"on must name the column that matches the rows, as {title} has no index; "
            f"got on=None and {described(data)}"
        )
    return list(index.tolist())


def _column(title: str, frame: Frame, on: object) -> list[object]:
    names = frame_names(title, frame)
    if not isinstance(on, str) or on not in names:
        hint = nearest(str(on), names)
        raise InputError(f"on must be a column of {title}; got {on!r}; {hint}")
    return list(frame[on].to_list())


def _matched(
    keys: Sequence[object], known: Sequence[object], columns: Sequence[object]
) -> list[int]:
    """Return for every row of the values the row of the metadata; each must have exactly one."""
    place_of = {key: place for place, key in enumerate(known)}
    for title, every in (("values", keys), ("metadata", known)):
        if len(set(every)) < len(every):
            seen: set[object] = set()
            repeated = [key for key in every if key in seen or seen.add(key)]  # type: ignore[func-returns-value]
            raise InputError(
                f"{title} must have each row once; got more than one {quoted(map(str, repeated))}"
            )
    without = [key for key in keys if key not in place_of]
    if not without and len(known) == len(keys):
        return [place_of[key] for key in keys]
    wanted = set(keys)
    unused = [key for key in known if key not in wanted]
    parts = []
    if without:
        parts.append(
            f"{len(without)} of {len(keys)} rows of values without metadata: {_few(without)}"
        )
    if unused:
        parts.append(
            f"{len(unused)} of {len(known)} rows of metadata without values: {_few(unused)}"
        )
    hint = ""
    if known and np.mean([key in set(columns) for key in known]) > 0.5:
        hint = "; the rows of metadata are columns of values: pass values transposed, values.T"
    raise InputError(
        f"values and metadata must have the same rows; got {' and '.join(parts)}{hint}"
    )


def _few(keys: Sequence[object]) -> str:
    return quoted(map(str, keys))
