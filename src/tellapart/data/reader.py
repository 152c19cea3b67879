"""The one door for data: any two tables or matrices in, checked samples out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tellapart.arguments import check_choice
from tellapart.arrays import FloatArray, IntArray
from tellapart.data import summary
from tellapart.data.chunked_samples import ChunkedSamples, drawn_samples, most_pooled, ranges_of
from tellapart.data.column_choice import Headed, TableColumns, checked_keep
from tellapart.data.column_notes import ColumnNotes, remembered, row_labels
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
from tellapart.data.drawn_rows import Sketch, draw_pooled
from tellapart.data.identifiers import (
    FEWEST_NAMED,
    WholeNumbers,
    are_whole,
    is_named_like_one,
    may_be_consecutive,
    why_numbers_name_rows,
    why_text_names_rows,
)
from tellapart.data.missing import (
    POLICIES,
    REFUSED,
    MissingPattern,
    check_rows_left,
    handle_missing,
    settle_missing,
)
from tellapart.data.reading import ColumnKind, Labels, Reading
from tellapart.data.row_stores import RowsDone
from tellapart.data.samples import Kind, Samples, Values, columns_of
from tellapart.data.sources.dask import DaskSource
from tellapart.data.sources.source import (
    Source,
    check_columns,
    check_shape,
    distinct,
    is_arrow_dataset,
    is_dask,
    is_file_dataset,
    open_source,
)
from tellapart.data.sources.table import quoted
from tellapart.data.summary import (
    ChunkSource,
    ColumnSummary,
    MemorySource,
    Summary,
    Survey,
    flaws_of,
    pool_summaries,
    recoded,
    recoding,
)
from tellapart.data.times import HOUR, SECONDS, part_name, part_of, parts_of, varying_parts
from tellapart.errors import InputError, warn_caller
from tellapart.threads import in_threads

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
        warning, and dates are split into parts: see `tellapart.data.reader`. None takes columns
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
    if design is not None and design.asked:
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
# Identifiers of the reference are left out, as `tellapart.data.reader` does of two samples. Of
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
    >>> from tellapart.data.sources.source import open_source
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


# Two samples in chunks, read: one pass over each says what they hold, and what is refused.


# Chunks as people have them: dates split into parts, and columns that name rows left out.
#
# The rules are those of tables in memory (`tellapart.data.reader`), as far as one pass and memory
# of a few numbers allow. Texts are counted up to a limit, beyond which a column is left out.
# Whole numbers are consecutive by their sums (`tellapart.data.identifiers`); whether those of a
# column called "id" repeat is seen in rows drawn from both samples together. No label plays a
# part.


@dataclass(frozen=True)
class Readings:
    """How both samples are read for the first time.

    Attributes
    ----------
    of : pair of Reading
        One for each sample.
    origins : tuple of str
        The column of the input that each column comes from.
    kept : tuple of str, or None
        Columns to compare even if they seem to name rows; None takes all as they are.
    """

    of: tuple[Reading, Reading]
    origins: tuple[str, ...]
    kept: tuple[str, ...] | None

    def settle(self, summaries: Sequence[Summary]) -> tuple[IntArray, ColumnNotes]:
        """Return the columns to compare, after the first pass, and what became of the others."""
        names = self.of[0].names
        _refuse_many(summaries, names if self.kept is None else self.kept)
        if self.kept is None:
            return np.arange(len(names)), ColumnNotes()
        for one in summaries:
            for column in one.columns:
                if column.name in self.kept and column.form == "text":
                    column.form = "category"  # compared however many there are
        reasons = why_name_rows(summaries)
        gone = {name: reasons[name] for name in names if name in reasons and name not in self.kept}
        if len(gone) == len(names):
            gone.popitem()  # something must be left, to be refused or compared as it is
            _refuse_many(summaries, [name for name in names if name not in gone])
        warn_of(gone, [reading.title for reading in self.of])
        parts = self._varying_parts(summaries)
        left = [s for s in range(len(names)) if names[s] not in gone and parts.get(s, True)]
        shown: dict[str, tuple[str, ...]] = {}
        for s in left:
            part = self.of[0].parts[s]
            if part is not None:
                shown[self.origins[s]] = (*shown.get(self.origins[s], ()), part)
        return np.array(left, dtype=np.intp), ColumnNotes(gone, parts=shown, kept=self.kept)

    def _varying_parts(self, summaries: Sequence[Summary]) -> dict[int, bool]:
        """Return, for each part of dates or times, whether it is compared.

        Those that vary are; where none of a column does, its first part is.
        """
        places: dict[str, list[int]] = {}
        for s, (origin, part) in enumerate(zip(self.origins, self.of[0].parts, strict=True)):
            if part is not None:
                places.setdefault(origin, []).append(s)
        found = {}
        for own in places.values():
            varying = {s: _varies([one.columns[s] for one in summaries]) for s in own}
            found.update(varying if any(varying.values()) else {s: s == own[0] for s in own})
        return found


def plan_readings(
    sources: Sequence[ChunkSource],
    names: tuple[str, ...],
    order: IntArray | None,
    keep: Sequence[str] | None,
) -> Readings:
    """Return how to read two samples whose columns were matched; see `match_columns`.

    With `keep`, dates get as many columns as they have parts; None takes columns as they are.
    """
    x, y = sources
    places = [list(range(len(names))), list(range(len(names)))]
    if order is not None:
        places[1] = [int(place) for place in order]
    if keep is None:
        of_x = Reading.as_is(x.title, names, places[0])
        return Readings((of_x, Reading.as_is(y.title, names, places[1])), names, None)
    kept = checked_keep(keep, sources)
    tables = bool(x.kinds) and bool(y.kinds)
    rows: list[tuple[str, str, str | None, int, int, bool]] = []
    for s, name in enumerate(names):
        at = places[0][s], places[1][s]
        kinds = [x.kinds[at[0]], y.kinds[at[1]]] if tables else [ColumnKind(), ColumnKind()]
        parts = _common_parts(name, kinds, (x.title, y.title))
        whole = all(kind.whole for kind in kinds)
        for part in parts or (None,):
            shown = name if part is None else part_name(name, part)
            rows.append((shown, name, part, *at, whole))
    shown_names, origins, parts_read, of_x_at, of_y_at, wholes = zip(*rows, strict=True)
    distinct(x.title, shown_names)
    readings = (
        Reading(x.title, shown_names, of_x_at, parts_read, wholes),
        Reading(y.title, shown_names, of_y_at, parts_read, wholes),
    )
    return Readings(readings, origins, kept)


def why_name_rows(summaries: Sequence[Summary]) -> dict[str, str]:
    """Return the columns that seem to name rows, each with the reason."""
    found = {}
    n_rows = sum(one.n_rows for one in summaries)
    for columns in zip(*(one.columns for one in summaries), strict=True):
        forms = {column.form for column in columns} - {"empty"}
        counts: Counter[str] = Counter()
        for column in columns:
            counts.update(column.counts)
        if any(column.too_many for column in columns) or len(counts) > summary.MOST_LEVELS:
            found[columns[0].name] = f"more than {summary.MOST_LEVELS:,} distinct texts"
        elif forms == {"text"}:
            reason = why_texts_name_rows(counts, n_rows, len(columns))
            if reason is not None:
                found[columns[0].name] = reason
    return {**found, **_numbers_that_name_rows_of_read_chunked(summaries)}


def _numbers_that_name_rows_of_read_chunked(summaries: Sequence[Summary]) -> dict[str, str]:
    """Return the columns of whole numbers that name rows, each with the reason."""
    x, y = summaries
    asked = [
        s
        for s, (a, b) in enumerate(zip(x.columns, y.columns, strict=True))
        if a.numbers is not None
        and b.numbers is not None
        and (is_named_like_one(a.name) or (a.numbers.possible and b.numbers.possible))
    ]
    if not asked:
        return {}
    sketches = [one.of(np.array(asked)).sketch for one in summaries]
    drawn = draw_pooled(sketches[0], sketches[1], x.sketch.most)
    all_drawn = drawn.rows.size == x.n_rows + y.n_rows
    found = {}
    for k, s in enumerate(asked):
        values = drawn.values[:, k]
        reason = _why_numbers(
            [x.columns[s], y.columns[s]], values[~np.isnan(values)], all_drawn=all_drawn
        )
        if reason is not None:
            found[x.columns[s].name] = reason
    return found


def _why_numbers(
    columns: Sequence[ColumnSummary], drawn: np.ndarray, *, all_drawn: bool
) -> str | None:
    name = columns[0].name
    if not are_whole(drawn):
        return None
    if all_drawn:
        return why_numbers_name_rows(name, drawn, len(columns))
    pooled = WholeNumbers(len(columns))
    for column in columns:
        assert column.numbers is not None
        pooled.merge(column.numbers)
    least = min(column.least for column in columns)
    greatest = max(column.greatest for column in columns)
    if pooled.are_consecutive(least, greatest):
        return "consecutive whole numbers, each at most once in a sample"
    if drawn.size < FEWEST_NAMED or not is_named_like_one(name):
        return None
    if np.unique(drawn, return_counts=True)[1].max() > len(columns):
        return None
    return f"its name, and whole numbers that do not repeat among {drawn.size:,} drawn rows"


def _common_parts(name: str, kinds: Sequence[ColumnKind], titles: Sequence[str]) -> tuple[str, ...]:
    """Return the parts of a column of dates or times in both samples; none if it is no such."""
    parts = next((kind.parts for kind in kinds if kind.parts), ())
    for kind, title in zip(kinds, titles, strict=True):
        if parts and kind.parts != parts and not kind.empty:
            raise InputError(
                f"column {name!r} must be of one kind in {' and '.join(titles)}; got dates, times "
                f"or durations in one, and {kind.dtype or 'no dates'} in {title}"
            )
    return parts


def _refuse_many(summaries: Sequence[Summary], names: Sequence[str]) -> None:
    """Refuse columns that must be compared, and have more texts than can be held."""
    wanted = set(names)
    for one in summaries:
        for column in one.columns:
            if column.too_many and column.name in wanted:
                raise InputError(
                    f"column {column.name!r} of {column.title} looks like an identifier: more "
                    f"than {summary.MOST_LEVELS} distinct labels; drop the column"
                )


def _varies(columns: Sequence[ColumnSummary]) -> bool:
    labels = {label for column in columns for label in column.counts}
    least = min(column.least for column in columns)
    return len(labels) > 1 or max(column.greatest for column in columns) > least


# Rows of a block when rows are only counted.
COUNTING_STEP = 1 << 16


def read_chunked(
    X: object,
    Y: object,
    *,
    missing: str = "error",
    keep: Sequence[str] | None = None,
    seed: int = 0,
    titles: tuple[str, str] = ("X", "Y"),
    progress: RowsDone | None = None,
) -> ChunkedSamples:
    """Check two samples by one pass over each, of which at least one comes in chunks.

    The rules are those of `tellapart.data.reader.read_samples`: for what a column may hold, how
    columns are matched, and what is refused.

    Parameters
    ----------
    X, Y : dataset, Dask array or DataFrame, or whatever `read_samples` takes
        The samples.
    missing : {"error", "pairwise", "drop-rows", "drop-columns"}
        What to do where there are missing values. To count the rows without any takes a pass over
        them of its own.
    keep : sequence of str or None
        As in `read_samples`; see `tellapart.data.reader` for what decides.
    seed : int
        Key of the rows' marks: the same seed draws the same rows, whatever the chunks.
    titles : pair of str
        What messages call the two samples.
    progress : callable or None
        Told how many rows of both samples have been read.

    Returns
    -------
    ChunkedSamples
        Finite numbers, at least two rows per sample and one column.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.dataset as ds
    >>> X = ds.dataset(pa.table({"age": [31, 47, 52], "sex": ["f", "m", "f"]}))
    >>> Y = ds.dataset(pa.table({"sex": ["m", "m"], "age": [64.5, 58.0]}))
    >>> samples = read_chunked(X, Y)
    >>> samples.n_x, samples.n_y, samples.names, samples.categories
    (3, 2, ('age', 'sex'), {'sex': ('f', 'm')})
    >>> samples.drawn.y
    array([[64.5,  1. ],
           [58. ,  1. ]])
    """
    policy = check_choice("missing", missing, POLICIES)
    sources = _open(titles[0], X), _open(titles[1], Y)
    names, order = match_columns(*sources)
    readings = plan_readings(sources, names, order, keep)
    most = most_pooled(len(readings.origins))
    done = [0, 0]

    def survey(k: int) -> Summary:
        def tell(rows: int) -> None:
            done[k] = rows
            if progress is not None:
                progress(sum(done))

        summary = sources[k].survey(Survey(readings.of[k], seed, k, most), tell)
        check_shape(sources[k].title, summary.n_rows, sources[k].n_columns)
        return summary

    # Whoever reads files waits for them: both samples at once keep both cores busy.
    together = all(source.waits for source in sources)
    summaries = in_threads(survey, (0, 1), 2 if together else 1)
    left, notes = readings.settle(summaries)
    for data in (X, Y):
        labels_gone, unchosen = _left_behind(data)
        notes = notes.with_row_labels(labels_gone).without(unchosen)
    summaries = [one.of(left) for one in summaries]
    own = [reading.columns(left) for reading in readings.of]
    kinds, labels = pool_summaries(*summaries)
    return _settled(sources, own, summaries, kinds, labels, policy, notes)


def _open(title: str, data: Any) -> ChunkSource:
    source = _source(title, data)
    check_columns(title, source.n_columns)
    return source


def _source(title: str, data: Any) -> ChunkSource:
    # Arrow's datasets take half a second to load: only those who have one wait for it.
    if is_file_dataset(data):
        from tellapart.data.sources.dataset import FileSource

        return FileSource(title, data.dataset, data.names, whole=True, where=data.where)
    if is_arrow_dataset(data):
        from tellapart.data.sources.dataset import FileSource

        return FileSource(title, data)
    if is_dask(data):
        return DaskSource(title, data)
    return MemorySource(open_source(title, data))


def _left_behind(data: Any) -> tuple[Sequence[str], list[str]]:
    """Return the columns of files that are not compared: saved row labels, and others, as asked."""
    if not is_file_dataset(data):
        return remembered(data), []
    gone = [name for name in data.dataset.schema.names if name not in set(data.names)]
    labels = [name for name in row_labels(data.dataset.schema.names) if name in gone]
    return labels, [name for name in gone if name not in labels]


def _settled(
    sources: Sequence[ChunkSource],
    readings: Sequence[Reading],
    summaries: Sequence[Summary],
    kinds: tuple[Kind, ...],
    labels: Labels,
    policy: str,
    notes: ColumnNotes,
) -> ChunkedSamples:
    """Return the samples, once it is known what they hold and what they miss."""
    names = readings[0].names
    every = np.arange(len(names))
    pattern = flaws_of(summaries).settle(policy, every, len(names))
    read = every
    if pattern is not None and not pattern.names:
        # Columns without any value are all that is missing: they need not be read again.
        read, pattern = pattern.kept, None
    labels = tuple(labels[s] for s in read)
    kinds = tuple(kinds[s] for s in read)
    x, y = (
        source.store(reading.columns(read), labels, one.n_rows)
        for source, reading, one in zip(sources, readings, summaries, strict=True)
    )
    sketches = [_with_codes(one, read, labels) for one in summaries]
    found = tuple(names[s] for s in read)
    categories = {n: known for n, known in zip(found, labels, strict=True) if known is not None}
    gone = tuple(name for name in names if name not in set(found))
    empty = np.empty((0, len(found)))
    template = Samples(empty, empty, found, kinds, categories, gone, notes=notes)
    most = max(sketch.most for sketch in sketches)
    extremes = [
        np.array([(one.columns[s].least, one.columns[s].greatest) for s in read]).T
        for one in summaries
    ]
    whole = ChunkedSamples(
        x,
        y,
        found,
        kinds,
        categories,
        *drawn_samples(sketches, template),
        draw_pooled(sketches[0], sketches[1], most),
        *ranges_of(extremes, labels),
        gone,
        template=template,
    )
    titles = readings[0].title, readings[1].title
    return whole if pattern is None else _with_pattern(whole, pattern, titles)


def _with_pattern(
    whole: ChunkedSamples, pattern: MissingPattern, titles: tuple[str, str]
) -> ChunkedSamples:
    """Return samples that miss values with what of them is compared."""
    dropped = [0, 0]
    if pattern.whole_rows:
        for k, (store, title) in enumerate(zip((whole.x, whole.y), titles, strict=True)):
            n_left = store.fold(_CompleteRows(pattern), COUNTING_STEP)
            check_rows_left(title, n_left, store.shape[0])
            dropped[k] = store.shape[0] - n_left
    drawn = settle_missing(whole.drawn, pattern, titles)
    dropped_rows = dropped[0], dropped[1]
    return replace(
        whole,
        names=drawn.names,
        kinds=drawn.kinds,
        categories=drawn.categories,
        drawn=replace(drawn, dropped_rows=dropped_rows),
        least=whole.least[pattern.kept],
        greatest=whole.greatest[pattern.kept],
        dropped_columns=drawn.dropped_columns,
        dropped_rows=dropped_rows,
        pattern=pattern,
    )


@dataclass(frozen=True, eq=False)
class _CompleteRows:
    """The fold that counts rows which miss nothing."""

    pattern: MissingPattern

    def start(self) -> int:
        return 0

    def add(self, held: int, first_row: int, values: FloatArray) -> int:  # noqa: ARG002
        return held + int(np.count_nonzero(~self.pattern.indicators(values).any(axis=1)))

    def merge(self, left: int, right: int) -> int:
        return left + right


def _with_codes(summary: Summary, kept: IntArray, labels: Labels) -> Sketch:
    """Return the drawn rows of a sample, by row number, with codes into the labels of both."""
    sketch = summary.sketch.smallest()
    values = np.asfortranarray(sketch.values[:, kept])
    for s, known in enumerate(labels):
        if known is not None:
            places = recoding(summary.columns[kept[s]].counts, known)
            values[:, s] = recoded(values[:, s], places)
    return replace(sketch, values=values)
