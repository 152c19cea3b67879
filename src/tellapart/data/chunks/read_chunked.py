"""Two samples in chunks, read: one pass over each says what they hold, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tellapart.arguments import check_choice
from tellapart.arrays import FloatArray, IntArray
from tellapart.data.chunks.chunk import Labels, Reading
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
from tellapart.data.chunks.settle import plan_readings
from tellapart.data.chunks.source import ChunkSource, MemorySource
from tellapart.data.chunks.summary import (
    Summary,
    Survey,
    flaws_of,
    pool_summaries,
    recoded,
    recoding,
)
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.missing import POLICIES, check_rows_left, settle_missing
from tellapart.data.missing_pattern import MissingPattern
from tellapart.data.samples import Kind, Samples
from tellapart.data.saved_labels import remembered, row_labels
from tellapart.data.sources import check_columns, check_shape, open_source
from tellapart.data.tables import match_columns
from tellapart.threads import in_threads

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
        As in `read_samples`; see `tellapart.data.chunks.settle` for what decides.
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
