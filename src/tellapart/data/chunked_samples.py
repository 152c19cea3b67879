"""Two samples in chunks, checked by one pass over each: what the scan of large data works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.data.columns import Labels
from tellapart.data.design import Design
from tellapart.data.missing import AsRead, MissingPattern, resolve_missing
from tellapart.data.row_order import (
    DrawnRows,
    Sketch,
    draw_pooled,
    drawn_places,
    places_of,
    shuffled,
)
from tellapart.data.row_stores import A, ArrayRows, Fold, RowsDone, RowStore
from tellapart.data.samples import Kind, Samples, count_held_out, extremes_of


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

    @classmethod
    def of(
        cls,
        stores: Sequence[RowStore],
        sketches: Sequence[Sketch],
        like: Samples,
        extremes: Sequence[FloatArray],
    ) -> ChunkedSamples:
        """Return samples over the columns of others, with the rows that were drawn of them."""
        drawn, drawn_rows = drawn_samples(sketches, like)
        most = max(sketch.most for sketch in sketches)
        labels = tuple(like.categories.get(name) for name in like.names)
        return cls(
            stores[0],
            stores[1],
            like.names,
            like.kinds,
            like.categories,
            drawn,
            drawn_rows,
            draw_pooled(sketches[0], sketches[1], most),
            *ranges_of(extremes, labels),
            like.dropped_columns,
            like.dropped_rows,
            design=like.design,
        )

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
            return resolve_missing(replace(self.template, x=x, y=y), self.pattern)
        return replace(self.drawn, x=x, y=y, shared=None)


def in_chunks(samples: Samples | ChunkedSamples, seed: int = 0) -> ChunkedSamples:
    """Return samples in the form of chunked ones, whichever they are."""
    return samples if isinstance(samples, ChunkedSamples) else as_chunked(samples, seed)


def as_chunked(samples: Samples, seed: int = 0, n_jobs: int = 1) -> ChunkedSamples:
    """Return samples in memory in the form of chunked ones: the case of one chunk each.

    The same rows in files or on a cluster give the same draws and the same sums.
    """
    held: Samples | AsRead = samples if samples.as_read is None else samples.as_read
    stores = ArrayRows(held.x, n_jobs), ArrayRows(held.y, n_jobs)
    most = most_pooled(samples.n_columns)
    sketches = []
    for k, store in enumerate(stores):
        rows, marks = drawn_places(seed, k, store.shape[0], most)
        sketches.append(Sketch(most, marks, rows, store.rows(rows)))
    extremes = [np.array(extremes_of(values)) for values in (samples.x, samples.y)]
    pattern = None if samples.as_read is None else samples.as_read.pattern
    return replace(ChunkedSamples.of(stores, sketches, samples, extremes), pattern=pattern)


def drawn_samples(
    sketches: Sequence[Sketch], template: Samples
) -> tuple[Samples, tuple[IntArray, IntArray]]:
    """Return the rows drawn of each sample, by row number, and these numbers."""
    x, y = (replace(sketch, most=current_budget().drawn_rows).smallest() for sketch in sketches)
    if template.as_read is not None:
        return template.rows_as_read(x.rows, y.rows), (x.rows, y.rows)
    # Rows drawn one by one have no design: pairs and clusters are torn.
    whole = (x.rows.size, y.rows.size) == (template.n_x, template.n_y)
    design = template.design if whole else None
    shared = template.shared if whole else None
    drawn = replace(template, x=x.values, y=y.values, design=design, shared=shared)
    return drawn, (x.rows, y.rows)


def ranges_of(extremes: Sequence[FloatArray], labels: Labels) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest value of each column in both samples."""
    least = np.minimum(extremes[0][0], extremes[1][0])
    greatest = np.maximum(extremes[0][1], extremes[1][1])
    for s, names_of_levels in enumerate(labels):
        if names_of_levels is not None:
            least[s], greatest[s] = 0.0, len(names_of_levels) - 1.0
    return least, greatest


def most_pooled(n_columns: int) -> int:
    """Return how many rows to draw from both samples together."""
    budget = current_budget()
    of_width = max(budget.drawn_bytes // (8 * n_columns), budget.fewest_drawn_rows)
    return min(budget.pooled_rows, of_width)


# A random part of each sample held out, whatever the chunks: a row's number decides its part.
#
# The rows of a sample have a random order that nobody stores (`tellapart.data.row_order`), and
# the first ones in it are held out. Their places in that order number them at random, which
# puts them into bins.


@dataclass(frozen=True)
class Holdout:
    """Which rows of two samples are held out, and which train.

    Attributes
    ----------
    seed : int
        Decides the parts.
    n_rows, n_held_out : pairs of int
        Rows of X and of Y: all of them, and those held out.

    Examples
    --------
    >>> holdout = Holdout(seed=0, n_rows=(6, 4), n_held_out=(3, 2))
    >>> sorted(holdout.places(0, first_row=0, count=6).tolist())
    [0, 1, 2, 3, 4, 5]
    >>> int(holdout.held_out(1, np.arange(4)).sum())
    2
    """

    seed: int
    n_rows: tuple[int, int]
    n_held_out: tuple[int, int]

    @classmethod
    def of(cls, samples: ChunkedSamples, test_size: float, seed: int) -> Holdout:
        """Hold out a share of the rows of each sample."""
        rows = samples.n_x, samples.n_y
        of_x, of_y = (
            count_held_out(n, test_size, name) for n, name in zip(rows, ("X", "Y"), strict=True)
        )
        return cls(seed, rows, (of_x, of_y))

    def places(self, sample: int, first_row: int, count: int) -> IntArray:
        """Return the places of consecutive rows in the random order of their sample.

        Those below `n_held_out` are held out.
        """
        return shuffled(self.seed, sample, self.n_rows[sample], first_row, count)

    def held_out(self, sample: int, rows: IntArray) -> BoolArray:
        """Say which of some rows, given by their numbers, are held out."""
        places = places_of(self.seed, sample, self.n_rows[sample], rows)
        return np.asarray(places < self.n_held_out[sample])

    def part(self, samples: ChunkedSamples, *, held_out: bool) -> ChunkedSamples:
        """Return the rows held out, or the others, as samples of their own.

        Of the rows drawn from both parts, those of the part stay.
        """
        x, y = (
            PartOfRows(store, self, sample, held_out)
            for sample, store in enumerate((samples.x, samples.y))
        )
        kept = [
            np.flatnonzero(self.held_out(sample, rows) == held_out)
            for sample, rows in enumerate(samples.drawn_rows)
        ]
        of_x, of_y = (rows[few] for rows, few in zip(samples.drawn_rows, kept, strict=True))
        return replace(
            samples,
            x=x,
            y=y,
            drawn=samples.drawn.rows(kept[0], kept[1]),
            drawn_rows=(of_x, of_y),
            pooled=self._pooled(samples.pooled, held_out),
        )

    def _pooled(self, drawn: DrawnRows, held_out: bool) -> DrawnRows:
        inside = np.empty(drawn.rows.size, dtype=np.bool_)
        for sample in range(2):
            of_sample = drawn.sample == sample
            inside[of_sample] = self.held_out(sample, drawn.rows[of_sample]) == held_out
        values = np.asfortranarray(drawn.values[inside])
        return DrawnRows(values, drawn.sample[inside], drawn.rows[inside])


@dataclass(frozen=True, eq=False)
class PartOfRows(RowStore):
    """The rows of one sample that are held out, or the others.

    Rows keep the numbers they have among all rows, so that those of a block rise but may leave
    some out.
    """

    whole: RowStore
    holdout: Holdout
    sample: int
    held_out: bool

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        out = self.holdout.n_held_out[self.sample]
        n_rows, n_columns = self.whole.shape
        return (out if self.held_out else n_rows - out), n_columns

    @property
    def side_by_side(self) -> bool:  # type: ignore[override]
        """Whether several blocks are summed at once."""
        return self.whole.side_by_side

    def fold(self, fold: Fold[A], step: int, progress: RowsDone | None = None) -> A:
        """Return the sum over the rows of the part, in blocks of `step` rows of both parts."""
        of_part = _OfPart(fold, self.holdout, self.sample, self.held_out)
        if progress is None:
            return self.whole.fold(of_part, step)
        share = self.shape[0] / self.whole.shape[0]
        return self.whole.fold(of_part, step, lambda rows: progress(int(share * rows)))

    def rows(self, index: IntArray) -> FloatArray:
        """Return some rows, by the numbers they have among all."""
        return self.whole.rows(index)


@dataclass(frozen=True, eq=False)
class _OfPart(Generic[A]):
    """A fold that sees the rows of one part only."""

    fold: Fold[A]
    holdout: Holdout
    sample: int
    held_out: bool

    def start(self) -> A:
        return self.fold.start()

    def add(self, held: A, first_row: int, values: FloatArray) -> A:
        places = self.holdout.places(self.sample, first_row, values.shape[0])
        inside = (places < self.holdout.n_held_out[self.sample]) == self.held_out
        return self.fold.add(held, first_row, np.asfortranarray(values[inside]))

    def merge(self, left: A, right: A) -> A:
        return self.fold.merge(left, right)
