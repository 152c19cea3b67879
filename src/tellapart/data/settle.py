"""Tables as people have them: dates split into parts, and columns that name rows left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tellapart.data.choice import checked_keep
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.columns import Series, as_series, decoded_labels, is_arrow_text, to_arrow
from tellapart.data.identifiers import (
    is_named_like_one,
    may_be_consecutive,
    why_numbers_name_rows,
    why_text_names_rows,
)
from tellapart.data.samples import columns_of
from tellapart.data.sources import Source, distinct
from tellapart.data.table_columns import TableColumns
from tellapart.data.times import part_name, parts_of, varying_parts
from tellapart.errors import InputError, warn_caller

Parts = Mapping[str, Mapping[str, Sequence[Any]]]
"""For each column of dates or times its parts, one Arrow array per sample."""

_TIMES = (nw.Date, nw.Datetime, nw.Time, nw.Duration, nw.Object)
_LIKE_A_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}\b.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}\b.*")


def settle_columns(
    sources: Sequence[Source], keep: object = ()
) -> tuple[list[Source], ColumnNotes]:
    """Return samples with their dates split, without the columns that name rows; and notes of it.

    Both are decided by pooled values, whatever sample they are of: every permutation of the
    labels would be decided alike, and p-values stay valid. What is left out is warned of.

    Parameters
    ----------
    sources : sequence of Source
        Samples over the same columns. Tables are settled; a matrix, and whatever is beside one,
        comes back as it is.
    keep : sequence of str
        Columns to compare even if they look like identifiers.
    """
    kept = checked_keep(keep, sources)
    names = sources[0].names or ()
    alike = all(s.dtypes and set(s.names or ()) == set(names) for s in sources)
    if not alike:
        # What does not match is refused later, in words of its own.
        return list(sources), ColumnNotes(kept=kept)
    tables = [TableColumns(source) for source in sources]
    reasons = {**_numbers_that_name_rows(tables, names), **_texts_that_name_rows(tables, names)}
    gone = {name: reasons[name] for name in names if name in reasons and name not in kept}
    if len(gone) == len(names):
        gone.popitem()  # something must be left, to be refused or compared as it is
    warn_of(gone, [source.title for source in sources])
    times = {name: parts for name in names if (parts := _parts(tables, name))}
    if not gone and not times and not kept:
        return list(sources), ColumnNotes()
    settled = [settled_source(source, k, gone, times, kept) for k, source in enumerate(sources)]
    shown = {name: tuple(found) for name, found in times.items()}
    return settled, ColumnNotes(gone, parts=shown, kept=kept)


def settled_source(
    source: Source, k: int, gone: Iterable[str], times: Parts, kept: Iterable[str]
) -> Source:
    """Return the sample at place k without some columns, and with parts in the place of others."""
    every = source.names or ()
    if isinstance(source.data, tuple):
        columns: list[tuple[str, Series]] = []
        for name, series in zip(every, source.data, strict=True):
            if name in times:
                parts = times[name].items()
                columns += [(part_name(name, part), as_series(arrays[k])) for part, arrays in parts]
            elif name not in gone:
                columns.append((name, _as_category(series) if name in kept else series))
        names = tuple(name for name, _ in columns)
        data: Any = tuple(series for _, series in columns)
    else:
        left = [place for place, name in enumerate(every) if name not in gone]
        names = tuple(every[place] for place in left)
        data = source.data
        if len(left) < len(every):
            data = columns_of(data, np.array(left, dtype=np.intp))
    names = distinct(source.title, names)
    return replace(source, names=names, shape=(source.shape[0], len(names)), data=data, dtypes=())


def _parts(tables: Sequence[TableColumns], name: str) -> Mapping[str, Sequence[Any]] | None:
    """Return the parts of a column of dates or times that vary; None if it is no such column."""
    if not any(isinstance(table.dtypes[name], _TIMES) for table in tables):
        return None
    arrays = [table.arrow(name) for table in tables]
    kinds = [() if values is None else parts_of(values.type) for values in arrays]
    parts = next((some for some in kinds if some), ())
    if not parts:
        return None
    for k, values in enumerate(arrays):
        if kinds[k] != parts:
            if values is None or values.null_count < len(values):
                titles = " and ".join(table.source.title for table in tables)
                raise InputError(
                    f"column {name!r} must be of one kind in {titles}; got dates, times or "
                    f"durations in one, and {tables[k].dtypes[name]} in {tables[k].source.title}"
                )
            arrays[k] = pa.nulls(len(values))
    return varying_parts(arrays, parts)


def _numbers_that_name_rows(tables: Sequence[TableColumns], names: Sequence[str]) -> dict[str, str]:
    """Return the columns of whole numbers that name rows, each with the reason."""
    whole = [name for name in names if all(table.dtypes[name].is_integer() for table in tables)]
    if not whole:
        return {}
    low, high = np.array([table.extremes(whole) for table in tables]).swapaxes(0, 1)
    n_rows = sum(table.source.shape[0] for table in tables)
    likely = may_be_consecutive(low.min(axis=0), high.max(axis=0), n_rows, len(tables))
    found = {}
    for name, may_be in zip(whole, likely, strict=True):
        if may_be or is_named_like_one(name):
            pooled = np.concatenate([table.numbers(name) for table in tables])
            reason = why_numbers_name_rows(name, pooled, len(tables))
            if reason is not None:
                found[name] = reason
    return found


def _texts_that_name_rows(tables: Sequence[TableColumns], names: Sequence[str]) -> dict[str, str]:
    """Return the columns of text that name rows, each with the reason."""
    n_rows = sum(table.source.shape[0] for table in tables)
    found = {}
    for name in names:
        # Where one of them has categories, that is the user's word on it.
        if not all(table.dtypes[name] == nw.String for table in tables):
            continue
        counts: Counter[str] = Counter()
        for table in tables:
            values = table.arrow(name)
            if values is not None and is_arrow_text(values.type):
                counted = pc.value_counts(values.cast(pa.large_string()).drop_null())
                texts = decoded_labels(table.source.title, name, counted.field("values"))
                times = counted.field("counts").to_pylist()
                counts.update(dict(zip(texts, times, strict=True)))
        reason = why_texts_name_rows(counts, n_rows, len(tables))
        if reason is not None:
            found[name] = reason
    return found


def why_texts_name_rows(counts: Mapping[str, int], n_rows: int, n_samples: int) -> str | None:
    """Say why a column of text names rows, None if it does not; texts that look like dates, too."""
    reason = why_text_names_rows(counts, n_rows, n_samples)
    if reason is None or not all(map(_LIKE_A_DATE.fullmatch, counts)):
        return reason
    return f"{reason}, to be converted to dates if they are such"


def warn_of(gone: Mapping[str, str], titles: Sequence[str]) -> None:
    """Warn of columns that are excluded as identifiers, each with its reason."""
    for name, reason in gone.items():
        warn_caller(
            f"column {name!r} of {' and '.join(titles)} is excluded: it appears to be an "
            f"identifier ({reason}); pass keep=[{name!r}] to compare it"
        )


def _as_category(series: Series) -> Series:
    """Return a column of text as categories, which are compared however many there are."""
    values = to_arrow(series)
    if values is None or not is_arrow_text(values.type):
        return series
    return as_series(values.cast(pa.large_string()).dictionary_encode())
