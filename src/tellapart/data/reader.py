"""The one door for data: any two inputs in, checked samples out, in memory or in chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arguments import check_choice
from tellapart.arrays import FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.column_plan import (
    Heading,
    HeldColumns,
    SurveyedColumns,
    match_columns,
    plan_columns,
)
from tellapart.data.column_store import ColumnStore, Values, columns_of
from tellapart.data.columns import BOOLEAN_LABELS, Labels, Reading
from tellapart.data.design_labels import DesignArguments, take_labels, with_labels
from tellapart.data.hints import Margins, row_names, transposition_of
from tellapart.data.missing import (
    POLICIES,
    REFUSED,
    MissingPattern,
    check_rows_left,
    handle_missing,
    resolve_missing,
)
from tellapart.data.row_draws import AllRows, Sketch, most_pooled
from tellapart.data.row_stores import RowsDone
from tellapart.data.samples import CodedRows, Kind, Samples
from tellapart.data.sources import kind_of_input, names_before_work, open_held, open_source
from tellapart.data.sources.source import HeldSource, Source, check_shape
from tellapart.data.sources.table import QuerySource
from tellapart.data.summary import (
    ColumnSummary,
    Summary,
    Survey,
    flaws_of,
    pool_columns,
    recoded,
    recoding,
)
from tellapart.errors import InputError
from tellapart.threads import in_threads

# Rows of a block when rows are only counted.
COUNTING_STEP = 1 << 16


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
        Columns to compare even if they appear to be identifiers; others that do are left out with a
        warning, and dates are split into parts: see `tellapart.data.column_plan`. None takes
        columns as they are, and refuses such ones.
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
    check_columns_first((X, Y), titles)
    taken = None
    if design is not None and design.asked:
        (X, Y), taken = take_labels((X, Y), design, titles)
    samples = handle_missing(read_as_is(X, Y, titles, keep), policy, titles)
    if taken is None:
        return samples
    covariates = read_covariates(taken.covariates, titles)
    labels = taken.coded(titles, samples.n_read, covariates)
    return with_labels(samples, labels, policy, titles)


def check_columns_first(samples: Sequence[object], titles: tuple[str, str]) -> None:
    """Raise if the columns of two samples do not match, before any query of them is run."""
    if any(issubclass(kind_of_input(sample), QuerySource) for sample in samples):
        names = [names_before_work(*pair) for pair in zip(titles, samples, strict=True)]
        left, right = (
            None if known is None else Heading(title, known, len(known))
            for title, known in zip(titles, names, strict=True)
        )
        if left is not None and right is not None:
            match_columns(left, right)


def read_covariates(
    tables: Sequence[object] | None, titles: Sequence[str]
) -> Sequence[CodedRows] | None:
    """Return the covariates of one table or of two, NaN where missing; None where there are none.

    Numbers are covariates as they are, also where they look like identifiers.
    """
    if tables is None:
        return None
    called = [f"the covariates of {title}" for title in titles]
    sources = [
        open_held(title, _as_columns(table)) for title, table in zip(called, tables, strict=True)
    ]
    names = sources[0].column_names
    orders: list[IntArray | None] = [None]
    if len(sources) == 2:
        names, order = match_columns(sources[0], sources[1])
        orders.append(order)
    keep = list(names) if all(source.names for source in sources) else []
    readings, _ = resolve_columns(sources, names, orders, keep)
    return read_rows(sources, readings)


def _as_columns(table: object) -> object:
    """Return an array of one covariate as a column, other tables as they are."""
    if isinstance(table, list | tuple | np.ndarray):
        values = np.asarray(table)
        return values[:, np.newaxis] if values.ndim == 1 else table
    return table


def read_as_is(
    X: object,
    Y: object,
    titles: tuple[str, str] = ("X", "Y"),
    keep: Sequence[str] | None = None,
) -> Samples:
    """Read two samples, NaN where a value is missing; see `read_samples`."""
    sources = open_held(titles[0], X), open_held(titles[1], Y)
    try:
        names, order = match_columns(*sources)
    except InputError as error:
        margins = [
            Margins(source.shape, row_names(sample), source.names)
            for source, sample in zip(sources, (X, Y), strict=True)
        ]
        raise InputError(f"{error}{transposition_of(margins[0], margins[1], titles)}") from None
    readings, notes = resolve_columns(sources, names, (None, order), keep)
    return read_opened(sources, readings, notes)


def resolve_columns(
    sources: Sequence[HeldSource],
    names: tuple[str, ...],
    orders: Sequence[IntArray | None],
    keep: object = None,
) -> tuple[list[Reading], ColumnNotes]:
    """Return how to read samples in memory, and notes of what is not compared as it is."""
    plan = plan_columns(sources, names, orders, keep)
    readings, notes = plan.resolve(HeldColumns(sources, plan.readings))
    row_labels = [name for source in sources for name in source.row_labels]
    return readings, notes.with_row_labels(row_labels) if row_labels else notes


def read_opened(
    sources: Sequence[HeldSource], readings: Sequence[Reading], notes: ColumnNotes
) -> Samples:
    """Read two samples that are opened, over columns that are decided; see `read_as_is`."""
    x, y = read_rows(sources, readings)
    return x.beside(y, notes)


def read_rows(sources: Sequence[HeldSource], readings: Sequence[Reading]) -> list[CodedRows]:
    """Return the rows of each source, over the same columns; NaN where a value is missing."""
    names = readings[0].names
    numeric: Kind = "numeric"
    matrices = [source.numbers for source in sources]
    whole = [
        _some_columns(matrix, reading)
        for matrix, reading in zip(matrices, readings, strict=True)
        if matrix is not None
    ]
    if len(whole) == len(sources):
        return [CodedRows(matrix, names, (numeric,) * len(names)) for matrix in whole]
    return _read_by_column(sources, readings)


def _some_columns(matrix: Values, reading: Reading) -> Values:
    """Return the columns of a matrix that are read, without a copy where it is all of them."""
    if reading.places == tuple(range(matrix.shape[1])):
        return matrix
    return columns_of(matrix, np.array(reading.places, dtype=np.intp))


def _read_by_column(sources: Sequence[HeldSource], readings: Sequence[Reading]) -> list[CodedRows]:
    names = readings[0].names
    matrices: list[Values] = [
        # Numbers and truth values are their own codes: a store of them stays as it is. The others
        # in Fortran order: columns are written here, and read later, one at a time.
        _some_columns(source.data, reading)
        if isinstance(source.data, ColumnStore)
        else np.empty((source.shape[0], len(names)), order="F")
        for source, reading in zip(sources, readings, strict=True)
    ]
    kinds: list[Kind] = []
    categories: dict[str, tuple[str, ...]] = {}
    for s, name in enumerate(names):
        columns = [
            reading.resolved(source.column(reading.places[s], name, reading.parts[s]))
            for source, reading in zip(sources, readings, strict=True)
        ]
        summaries = [ColumnSummary(column.title, name) for column in columns]
        is_rounded = any(column.rounded is not None for column in columns)
        for summary, column in zip(summaries, columns, strict=True):
            summary.add(column, extremes=is_rounded)
        kind, labels = pool_columns(summaries)
        for matrix, column in zip(matrices, columns, strict=True):
            if isinstance(matrix, np.ndarray):
                has_codes = labels is not None and labels is not BOOLEAN_LABELS
                matrix[:, s] = column.codes_among(labels or ()) if has_codes else column.values
        kinds.append(kind)
        if labels is not None:
            categories[name] = labels
    return [CodedRows(matrix, names, tuple(kinds), categories) for matrix in matrices]


def read_chunked(
    X: object,
    Y: object,
    *,
    missing: str = "error",
    keep: Sequence[str] | None = None,
    seed: int = 0,
    titles: tuple[str, str] = ("X", "Y"),
    progress: RowsDone | None = None,
) -> Samples:
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
        As in `read_samples`; see `tellapart.data.column_plan` for what decides.
    seed : int
        Key of the rows' marks: the same seed draws the same rows, whatever the chunks.
    titles : pair of str
        What messages call the two samples.
    progress : callable or None
        Told how many rows of both samples have been read.

    Returns
    -------
    Samples
        Over all rows, of which some are held: finite numbers, at least two rows per sample
        and one column.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.dataset as ds
    >>> X = ds.dataset(pa.table({"age": [31, 47, 52], "sex": ["f", "m", "f"]}))
    >>> Y = ds.dataset(pa.table({"sex": ["m", "m"], "age": [64.5, 58.0]}))
    >>> samples = read_chunked(X, Y)
    >>> samples.n_read, samples.names, samples.categories
    ((3, 2), ('age', 'sex'), {'sex': ('f', 'm')})
    >>> samples.y
    array([[64.5,  1. ],
           [58. ,  1. ]])
    """
    policy = check_choice("missing", missing, POLICIES)
    check_columns_first((X, Y), titles)
    sources = open_source(titles[0], X), open_source(titles[1], Y)
    names, order = match_columns(*sources)
    plan = plan_columns(sources, names, (None, order), keep)
    most, most_levels = most_pooled(len(plan.origins)), current_budget().most_levels
    done = [0, 0]

    def survey(k: int) -> Summary:
        def report(rows: int) -> None:
            done[k] = rows
            if progress is not None:
                progress(sum(done))

        first_pass = Survey(plan.readings[k], seed, k, most, most_levels)
        summary = sources[k].survey(first_pass, report)
        check_shape(sources[k].title, summary.n_rows, sources[k].n_columns)
        return summary

    # Reading files means waiting for them: both samples at once keep both cores busy.
    together = all(source.waits for source in sources)
    summaries = in_threads(survey, (0, 1), 2 if together else 1)
    readings, notes = plan.resolve(SurveyedColumns(summaries))
    for source in sources:
        notes = notes.with_row_labels(source.row_labels).without(source.unchosen)
    every = {name: s for s, name in enumerate(plan.readings[0].names)}
    left = np.array([every[name] for name in readings[0].names], dtype=np.intp)
    whole = _pooled(sources, readings, [one.of(left) for one in summaries], policy, notes)
    return replace(whole, seed=seed)


def _pooled(
    sources: Sequence[Source],
    readings: Sequence[Reading],
    summaries: Sequence[Summary],
    policy: str,
    notes: ColumnNotes,
) -> Samples:
    """Return the samples, once it is known what they hold and what they miss."""
    columns = zip(*(one.columns for one in summaries), strict=True)
    kinds, labels = zip(*(pool_columns(pair) for pair in columns), strict=True)
    names = readings[0].names
    read = np.arange(len(names))
    pattern = flaws_of(summaries).resolve(policy, read, len(names))
    if pattern is not None and not pattern.names:
        # Columns without any value are all that is missing: they need not be read again.
        read, pattern = pattern.kept, None
    labels, kinds = tuple(labels[s] for s in read), tuple(kinds[s] for s in read)
    stores = [
        source.open(replace(reading.columns(read), labels=labels, n_rows=one.n_rows))
        for source, reading, one in zip(sources, readings, summaries, strict=True)
    ]
    sketches = [_with_codes(one, read, labels) for one in summaries]
    compared = tuple(names[s] for s in read)
    categories = {
        n: levels for n, levels in zip(compared, labels, strict=True) if levels is not None
    }
    dropped = tuple(name for name in names if name not in set(compared))
    most = current_budget().drawn_rows
    x, y = (replace(sketch, most=most).smallest() for sketch in sketches)
    held = Samples(x.values, y.values, compared, kinds, categories, dropped, notes=notes)
    extremes = [
        np.array([(one.columns[s].least, one.columns[s].greatest) for s in read]).T
        for one in summaries
    ]
    whole = AllRows.of(stores, sketches, extremes, labels, (x.rows, y.rows))
    if pattern is None:
        return replace(held, all_rows=whole)
    return _with_pattern(held, whole, pattern, (readings[0].title, readings[1].title))


def _with_pattern(
    held: Samples, whole: AllRows, pattern: MissingPattern, titles: tuple[str, str]
) -> Samples:
    """Return samples that miss values with what of them is compared."""
    dropped = [0, 0]
    if pattern.whole_rows:
        for k, (store, title) in enumerate(zip((whole.x, whole.y), titles, strict=True)):
            n_left = store.fold(_CompleteRows(pattern), COUNTING_STEP)
            check_rows_left(title, n_left, store.shape[0])
            dropped[k] = store.shape[0] - n_left
    kept = pattern.kept
    return replace(
        resolve_missing(held, pattern, titles),
        dropped_rows=(dropped[0], dropped[1]),
        all_rows=replace(whole, least=whole.least[kept], greatest=whole.greatest[kept]),
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
    for s, levels in enumerate(labels):
        if levels is not None:
            places = recoding(summary.columns[kept[s]].counts, levels)
            values[:, s] = recoded(values[:, s], places)
    return replace(sketch, values=values)
