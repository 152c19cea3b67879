"""The one door for data: any two tables or matrices in, checked samples out."""

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

from tellapart.arguments import check_choice
from tellapart.arrays import IntArray
from tellapart.data.column_choice import Headed, TableColumns, checked_keep
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.column_store import ColumnStore
from tellapart.data.columns import (
    Series,
    as_series,
    decoded_labels,
    is_arrow_text,
    pool_columns,
    to_arrow,
)
from tellapart.data.design_labels import DesignArguments, take_labels, with_labels
from tellapart.data.frames import quoted
from tellapart.data.identifiers import (
    is_named_like_one,
    may_be_consecutive,
    why_numbers_name_rows,
    why_text_names_rows,
)
from tellapart.data.missing import POLICIES, REFUSED, handle_missing
from tellapart.data.samples import Kind, Samples, Values, columns_of
from tellapart.data.sources import Source, distinct, open_source
from tellapart.data.times import HOUR, SECONDS, part_name, part_of, parts_of, varying_parts
from tellapart.errors import InputError, warn_caller

# Tables as people have them: dates split into parts, and columns that name rows left out.


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


_NUMERIC: Kind = "numeric"


def read_samples(
    X: object,
    Y: object,
    *,
    missing: str = "error",
    keep: Sequence[str] | None = None,
    titles: tuple[str, str] = ("X", "Y"),
    design: DesignArguments | None = None,
) -> Samples:
    """Check two samples and bring them into one form: x (m × D) and y (n × D) in float64.

    Float64 NumPy arrays are passed on without a copy, sparse matrices as sparse columns. Columns
    of tables are matched by name, in the order of X; arrays get the other sample's names, or
    x0, x1, …. The rows' index plays no part.

    Parameters
    ----------
    X, Y : array, sparse matrix, table or AnnData
        NumPy arrays (or lists of rows) of two dimensions; SciPy sparse matrices and arrays; what
        `with_names` returns; pandas, polars or pyarrow tables; AnnData, whose X is compared
        under its var_names.
        Numbers and decimals are numeric; booleans, categories and text are categorical.
        Text that is mostly numbers, or that names the rows, is refused.
    missing : {"error", "pairwise", "drop-rows", "drop-columns"}
        What to do where there are NaN, None or null. "pairwise" keeps all rows: every statistic of
        a column, or of several, uses the rows that have them. "drop-rows" leaves out rows with
        any missing value, "drop-columns" columns with one in either sample. A scan compares which
        values are missing all the same, on all rows.
    keep : sequence of str or None
        Columns to compare even if they seem to name rows; others that do are left out with a
        warning, and dates are split into parts: see `tellapart.data.tables`. None takes columns
        as they are, and refuses such ones.
    titles : pair of str
        What messages call the two samples.
    design : DesignArguments or None
        Columns, or labels, of strata, pairs and clusters. Such columns are not compared.

    Returns
    -------
    Samples
        Finite numbers, at least two rows per sample and one column; categorical columns as
        codes of the sorted labels of both samples.

    Raises
    ------
    InputError
        If the samples cannot be compared; the message names the sample and the column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> X = pa.table({"age": [31, 47, 52], "sex": ["f", "m", "f"]})
    >>> Y = pa.table({"sex": ["m", "m"], "age": [64.5, 58.0]})
    >>> samples = read_samples(X, Y)
    >>> samples.names, samples.kinds
    (('age', 'sex'), ('numeric', 'categorical'))
    >>> samples.y
    array([[64.5,  1. ],
           [58. ,  1. ]])
    >>> samples.categories
    {'sex': ('f', 'm')}
    """
    policy = missing if missing == REFUSED else check_choice("missing", missing, POLICIES)
    taken = None
    if design is not None and design.given:
        (X, Y), taken = take_labels((X, Y), design, titles)
    samples = handle_missing(read_as_is(X, Y, titles, keep), policy, titles)
    if taken is None:
        return samples
    labels = taken.coded(titles, samples.n_read)
    return with_labels(samples, labels, policy, titles)


def read_as_is(
    X: object,
    Y: object,
    titles: tuple[str, str] = ("X", "Y"),
    keep: Sequence[str] | None = None,
) -> Samples:
    """Read two samples, NaN where a value is missing; see `read_samples`."""
    sources = [open_source(titles[0], X), open_source(titles[1], Y)]
    notes = ColumnNotes()
    if keep is not None:
        sources, notes = settle_columns(sources, keep)
    notes = notes.with_row_labels(name for source in sources for name in source.row_labels)
    return read_opened(sources[0], sources[1], notes)


def read_opened(left: Source, right: Source, notes: ColumnNotes) -> Samples:
    """Read two samples that are opened, over columns that are settled; see `read_as_is`."""
    names, order = match_columns(left, right)
    (x, y), kinds, categories = read_sources((left, right), names, (None, order))
    return Samples(x, y, names, kinds, categories, notes=notes)


def read_sources(
    sources: Sequence[Source], names: tuple[str, ...], orders: Sequence[IntArray | None]
) -> tuple[list[Values], tuple[Kind, ...], dict[str, tuple[str, ...]]]:
    """Return one matrix per source over the same columns, their kinds, and their labels.

    `orders` says where the columns of `names` stand in each source; None where they are as named.
    """
    matrices = [source.numbers for source in sources]
    whole = [
        matrix if order is None else columns_of(matrix, order)
        for matrix, order in zip(matrices, orders, strict=True)
        if matrix is not None
    ]
    if len(whole) == len(sources):
        return whole, tuple(_NUMERIC for _ in names), {}
    return _read_by_column(sources, names, orders)


def _read_by_column(
    sources: Sequence[Source], names: tuple[str, ...], orders: Sequence[IntArray | None]
) -> tuple[list[Values], tuple[Kind, ...], dict[str, tuple[str, ...]]]:
    places = [np.arange(len(names)) if order is None else order for order in orders]
    matrices: list[Values] = [
        # Numbers and truth values are their own codes: a store of them stays as it is. The others
        # in Fortran order: columns are written here, and read later, one at a time.
        source.data.columns(place)
        if isinstance(source.data, ColumnStore)
        else np.empty(source.shape, order="F")
        for source, place in zip(sources, places, strict=True)
    ]
    kinds: list[Kind] = []
    categories: dict[str, tuple[str, ...]] = {}
    for s, name in enumerate(names):
        columns = [
            source.column(int(place[s]), name)
            for source, place in zip(sources, places, strict=True)
        ]
        values, kind, labels = pool_columns(columns)
        for matrix, column in zip(matrices, values, strict=True):
            if isinstance(matrix, np.ndarray):
                matrix[:, s] = column
        kinds.append(kind)
        if labels is not None:
            categories[name] = labels
    return matrices, tuple(kinds), categories


def match_columns(left: Headed, right: Headed) -> tuple[tuple[str, ...], IntArray | None]:
    """Return the common names, and where each stands in the right sample if not in its place."""
    n_columns = left.n_columns
    if left.names is None or right.names is None:
        if n_columns != right.n_columns:
            raise InputError(
                f"{left.title} and {right.title} must have the same number of columns; "
                f"got {n_columns} and {right.n_columns}"
            )
        names = left.names or right.names or tuple(f"x{s}" for s in range(n_columns))
        return names, None
    if set(left.names) != set(right.names):
        parts = [
            f"only in {here.title}: {quoted(extra)}"
            for here, there in ((left, right), (right, left))
            if (extra := [n for n in here.names or () if n not in set(there.names or ())])
        ]
        raise InputError(
            f"{left.title} and {right.title} must have the same columns; got {'; '.join(parts)}"
        )
    if left.names == right.names:
        return left.names, None
    place = {name: s for s, name in enumerate(right.names)}
    return left.names, np.array([place[name] for name in left.names], dtype=np.intp)


# Columns as a reference decides: what is left out of it is left out of every batch.
#
# Identifiers of the reference are left out, as `tellapart.data.tables` does of two samples. Of
# dates and times a batch has its own by design: it comes later, from one day or one week, and
# would differ in day, weekday and month whatever happens. What can be compared is the time of
# day, and how long something took. No batch has a say in it, so that all are compared over the
# same columns.


COMPARED = (HOUR, SECONDS)
"""The parts of dates, times and durations that batches share with a reference."""


def decide_columns(reference: Source, keep: object = ()) -> ColumnNotes:
    """Return which columns of a reference are left out or split; warn of identifiers.

    Parameters
    ----------
    reference : Source
        The reference, opened. A table is looked at; a matrix is compared as it is.
    keep : sequence of str
        Columns to compare even if they look like identifiers.

    Examples
    --------
    >>> from datetime import datetime
    >>> from tellapart.data.sources import open_source
    >>> when = [datetime(2026, 11, 1 + k // 24, k % 24) for k in range(72)]
    >>> table = pa.table({"when": when, "day": [w.date() for w in when], "load": range(0, 144, 2)})
    >>> notes = decide_columns(open_source("reference", table))
    >>> dict(notes.parts), notes.moments
    ({'when': ('hour',)}, ('day',))
    """
    (settled,), notes = settle_columns((reference,), keep)
    shared = {
        name: tuple(part for part in parts if part in COMPARED)
        for name, parts in notes.parts.items()
    }
    decided = replace(
        notes,
        parts={name: parts for name, parts in shared.items() if parts},
        moments=tuple(name for name, parts in shared.items() if not parts),
    ).with_row_labels(settled.row_labels)
    gone = {*decided.naming_rows, *decided.moments}
    if reference.names and gone.issuperset(reference.names):
        raise InputError(
            f"{reference.title} must have a column to compare with batches; its columns are dates "
            f"and names of rows only: {', '.join(map(repr, reference.names))}"
        )
    return decided


def follow_columns(source: Source, notes: ColumnNotes, names: tuple[str, ...] | None) -> Source:
    """Return a reference, or a batch, with its columns as the reference has decided.

    `names` are the columns of the reference as it came, for a batch of as many without names. What
    is left out need not be there.
    """
    gone = {*notes.naming_rows, *notes.moments}
    if not (gone or notes.parts or notes.kept):
        return source
    if source.names is None and names is not None and len(names) == source.n_columns:
        source = replace(source, names=names)
    times: Parts = {
        name: {part: [_part(source, name, part)] for part in parts}
        for name, parts in notes.parts.items()
        if name in (source.names or ())
    }
    return settled_source(source, 0, gone, times, notes.kept)


def _part(source: Source, name: str, part: str) -> pa.Array:
    """Return one part of a column that must hold dates, times or durations, or nothing at all."""
    values = TableColumns(source).arrow(name) if source.dtypes else None
    if values is not None and values.null_count == len(values):
        return pa.nulls(len(values))
    if values is None or part not in parts_of(values.type):
        kind = "numbers" if values is None else str(values.type)
        expected = "durations" if part == SECONDS else "dates or times"
        raise InputError(
            f"column {name!r} of {source.title} must hold {expected}, as in the reference; "
            f"got {kind}"
        )
    return part_of(values, part)
