"""Two samples in chunks, read: one pass over each says what they hold, and what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tellapart.arguments import check_choice
from tellapart.arrays import FloatArray, IntArray
from tellapart.data.chunks import summary
from tellapart.data.chunks.chunk import ColumnKind, Labels, Reading
from tellapart.data.chunks.chunked_samples import (
    ChunkedSamples,
    drawn_samples,
    most_pooled,
    ranges_of,
)
from tellapart.data.chunks.dask_rows import DaskSource
from tellapart.data.chunks.draw import Sketch, draw_pooled
from tellapart.data.chunks.fold import RowsDone
from tellapart.data.chunks.recognize import is_arrow_dataset, is_dask, is_file_dataset
from tellapart.data.chunks.summary import (
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
from tellapart.data.column_choice import checked_keep
from tellapart.data.column_notes import ColumnNotes, remembered, row_labels
from tellapart.data.identifiers import (
    FEWEST_NAMED,
    WholeNumbers,
    are_whole,
    is_named_like_one,
    why_numbers_name_rows,
)
from tellapart.data.missing import POLICIES, MissingPattern, check_rows_left, settle_missing
from tellapart.data.samples import Kind, Samples
from tellapart.data.sources import check_columns, check_shape, distinct, open_source
from tellapart.data.tables import match_columns, warn_of, why_texts_name_rows
from tellapart.data.times import part_name
from tellapart.errors import InputError
from tellapart.threads import in_threads

# Chunks as people have them: dates split into parts, and columns that name rows left out.
#
# The rules are those of tables in memory (`tellapart.data.tables`), as far as one pass and memory
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
    return {**found, **_numbers_that_name_rows(summaries)}


def _numbers_that_name_rows(summaries: Sequence[Summary]) -> dict[str, str]:
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

    The rules are those of `tellapart.data.tables.read_samples`: for what a column may hold, how
    columns are matched, and what is refused.

    Parameters
    ----------
    X, Y : dataset, Dask array or DataFrame, or whatever `read_samples` takes
        The samples.
    missing : {"error", "pairwise", "drop-rows", "drop-columns"}
        What to do where there are missing values. To count the rows without any takes a pass over
        them of its own.
    keep : sequence of str or None
        As in `read_samples`; see `tellapart.data.chunks.read_chunked` for what decides.
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
        from tellapart.data.chunks.files import FileSource

        return FileSource(title, data.dataset, data.names, whole=True, where=data.where)
    if is_arrow_dataset(data):
        from tellapart.data.chunks.files import FileSource

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
