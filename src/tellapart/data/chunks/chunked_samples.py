"""Two samples in chunks, checked by one pass over each: what the scan of large data works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tellapart.arguments import check_choice
from tellapart.arrays import FloatArray, IntArray
from tellapart.data.chunks.arrays import ArrayRows
from tellapart.data.chunks.chunk import Labels, Reading
from tellapart.data.chunks.dask_rows import DaskSource
from tellapart.data.chunks.draw import DrawnRows, Sketch, draw_pooled, drawn_places
from tellapart.data.chunks.fold import RowsDone, RowStore
from tellapart.data.chunks.recognize import is_arrow_dataset, is_dask, is_file_dataset
from tellapart.data.chunks.source import ChunkSource, MemorySource
from tellapart.data.chunks.summary import (
    Summary,
    Survey,
    flaws_of,
    pool_summaries,
    recoded,
    recoding,
)
from tellapart.data.design import Design
from tellapart.data.missing import POLICIES, check_rows_left, settle_missing
from tellapart.data.missing_pattern import AsRead, MissingPattern
from tellapart.data.samples import Kind, Samples, extremes_of
from tellapart.data.sources import check_columns, check_shape, open_source
from tellapart.data.tables import match_columns
from tellapart.threads import in_threads

# Rows drawn of both samples together, and of each.
MOST_POOLED = 1 << 16
MOST_DRAWN = 20_000
# Wide samples get fewer rows: those drawn of one sample are to take no more than this.
DRAWN_BYTES = 1 << 28
FEWEST_DRAWN = 1024
# Rows of a block when rows are only counted.
COUNTING_STEP = 1 << 16


@dataclass(frozen=True, eq=False)
class ChunkedSamples:
    """Two samples over the same columns, of which only drawn rows are held.

    Attributes
    ----------
    x, y : RowStore
        The samples, to be summed over block by block.
    names, kinds, categories, dropped_columns, dropped_rows, design
        As in `tellapart.data.samples.Samples`.
    drawn : Samples
        Rows of each sample drawn at random, at most 20,000 of each.
    drawn_rows : pair of arrays
        Their numbers in their samples.
    pooled : DrawnRows
        Rows drawn from both samples together, at most 65,536.
    least, greatest : arrays of shape (D,)
        The smallest and the largest value of each column in both samples; of a categorical one
        the first and the last code.
    pattern : MissingPattern or None
        Where values are missing: `x`, `y` and `pooled` hold all rows and columns as they were
        read, and this says what of them is compared.
    template : Samples or None
        Of data in chunks, no rows of the columns as they were read.
    """

    x: RowStore
    y: RowStore
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    categories: Mapping[str, tuple[str, ...]]
    drawn: Samples
    drawn_rows: tuple[IntArray, IntArray]
    pooled: DrawnRows
    least: FloatArray
    greatest: FloatArray
    dropped_columns: tuple[str, ...] = ()
    dropped_rows: tuple[int, int] = (0, 0)
    pattern: MissingPattern | None = None
    template: Samples | None = None
    design: Design | None = None

    @property
    def n_x(self) -> int:
        """Rows of the first sample, m."""
        return self.x.shape[0]

    @property
    def n_y(self) -> int:
        """Rows of the second sample, n."""
        return self.y.shape[0]

    @property
    def n_columns(self) -> int:
        """Number of columns, D."""
        return len(self.names)

    @property
    def n_values(self) -> tuple[int, int]:
        """Rows of each sample that take part with their values."""
        if self.pattern is None or not self.pattern.whole_rows:
            return self.n_x, self.n_y
        return self.n_x - self.dropped_rows[0], self.n_y - self.dropped_rows[1]

    @property
    def all_drawn(self) -> bool:
        """Whether the rows drawn of each sample are all there are."""
        return (self.drawn.n_x, self.drawn.n_y) == self.n_values

    @property
    def all_pooled(self) -> bool:
        """Whether the rows drawn from both samples together are all there are."""
        return self.pooled.rows.size == self.n_x + self.n_y

    def draw(self, most: int, seed: int) -> Samples:
        """Return at most `most` rows of each sample, drawn at random, in one pass over them."""
        if max(self.drawn.n_read) >= min(most, max(self.n_x, self.n_y)):
            return self.drawn
        x, y = (
            store.rows(drawn_places(seed, sample, store.shape[0], most)[0])
            for sample, store in enumerate((self.x, self.y))
        )
        if self.pattern is not None and self.template is not None:
            return settle_missing(replace(self.template, x=x, y=y), self.pattern)
        return replace(self.drawn, x=x, y=y, shared=None)


def read_chunked(
    X: object,
    Y: object,
    *,
    missing: str = "error",
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
    places = (range(len(names)), range(len(names)) if order is None else order)
    readings = [
        Reading(title, names, tuple(int(s) for s in place))
        for title, place in zip(titles, places, strict=True)
    ]
    most = _most_pooled(len(names))
    done = [0, 0]

    def survey(k: int) -> Summary:
        def tell(rows: int) -> None:
            done[k] = rows
            if progress is not None:
                progress(sum(done))

        summary = sources[k].survey(Survey(readings[k], seed, k, most), tell)
        check_shape(sources[k].title, summary.n_rows, sources[k].n_columns)
        return summary

    # Whoever reads files waits for them: both samples at once keep both cores busy.
    together = all(source.waits for source in sources)
    summaries = in_threads(survey, (0, 1), 2 if together else 1)
    kinds, labels = pool_summaries(*summaries)
    return _settled(sources, readings, summaries, kinds, labels, policy)


def in_chunks(samples: Samples | ChunkedSamples, seed: int = 0) -> ChunkedSamples:
    """Return samples in the form of chunked ones, whichever they are."""
    return samples if isinstance(samples, ChunkedSamples) else as_chunked(samples, seed)


def as_chunked(samples: Samples, seed: int = 0, n_jobs: int = 1) -> ChunkedSamples:
    """Return samples in memory in the form of chunked ones: the case of one chunk each.

    The same rows in files or on a cluster give the same draws and the same sums.
    """
    held: Samples | AsRead = samples if samples.as_read is None else samples.as_read
    stores = ArrayRows(held.x, n_jobs), ArrayRows(held.y, n_jobs)
    most = _most_pooled(samples.n_columns)
    sketches = []
    for k, store in enumerate(stores):
        rows, marks = drawn_places(seed, k, store.shape[0], most)
        sketches.append(Sketch(most, marks, rows, store.rows(rows)))
    labels = tuple(samples.categories.get(name) for name in samples.names)
    extremes = [np.array(extremes_of(values)) for values in (samples.x, samples.y)]
    return ChunkedSamples(
        *stores,
        samples.names,
        samples.kinds,
        samples.categories,
        *_drawn(sketches, samples),
        draw_pooled(sketches[0], sketches[1], most),
        *_ranges(extremes, labels),
        samples.dropped_columns,
        samples.dropped_rows,
        None if samples.as_read is None else samples.as_read.pattern,
        design=samples.design,
    )


def _open(title: str, data: Any) -> ChunkSource:
    source = _source(title, data)
    check_columns(title, source.n_columns)
    return source


def _source(title: str, data: Any) -> ChunkSource:
    # Arrow's datasets take half a second to load: only those who have one wait for it.
    if is_file_dataset(data):
        from tellapart.data.chunks.files import FileSource

        return FileSource(title, data.dataset, data.names, whole=True)
    if is_arrow_dataset(data):
        from tellapart.data.chunks.files import FileSource

        return FileSource(title, data)
    if is_dask(data):
        return DaskSource(title, data)
    return MemorySource(open_source(title, data))


def _settled(
    sources: Sequence[ChunkSource],
    readings: Sequence[Reading],
    summaries: Sequence[Summary],
    kinds: tuple[Kind, ...],
    labels: Labels,
    policy: str,
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
    template = Samples(empty, empty, found, kinds, categories, gone)
    most = _most_pooled(len(names))
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
        *_drawn(sketches, template),
        draw_pooled(sketches[0], sketches[1], most),
        *_ranges(extremes, labels),
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


def _drawn(
    sketches: Sequence[Sketch], template: Samples
) -> tuple[Samples, tuple[IntArray, IntArray]]:
    """Return the rows drawn of each sample, by row number, and these numbers."""
    x, y = (replace(sketch, most=MOST_DRAWN).smallest() for sketch in sketches)
    if template.as_read is not None:
        return template.rows_as_read(x.rows, y.rows), (x.rows, y.rows)
    # Rows drawn one by one have no design: pairs and clusters are torn.
    whole = (x.rows.size, y.rows.size) == (template.n_x, template.n_y)
    design = template.design if whole else None
    shared = template.shared if whole else None
    drawn = replace(template, x=x.values, y=y.values, design=design, shared=shared)
    return drawn, (x.rows, y.rows)


def _ranges(extremes: Sequence[FloatArray], labels: Labels) -> tuple[FloatArray, FloatArray]:
    least = np.minimum(extremes[0][0], extremes[1][0])
    greatest = np.maximum(extremes[0][1], extremes[1][1])
    for s, known in enumerate(labels):
        if known is not None:
            least[s], greatest[s] = 0.0, len(known) - 1.0
    return least, greatest


def _most_pooled(n_columns: int) -> int:
    return min(MOST_POOLED, max(DRAWN_BYTES // (8 * n_columns), FEWEST_DRAWN))
