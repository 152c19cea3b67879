"""A random part of each sample held out, whatever the chunks: a row's number tells its part.

The rows of a sample have a random order that nobody stores (`tellapart.data.chunks.draw`), and
the first ones in it are held out. Their places in that order number them anew, at random, which is
what puts them into bins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.data.chunks.chunked_samples import ChunkedSamples
from tellapart.data.chunks.draw import DrawnRows, places_of, shuffled
from tellapart.data.chunks.fold import A, Fold, RowsDone, RowStore
from tellapart.data.samples import count_held_out


@dataclass(frozen=True)
class Halves:
    """Which rows of two samples are held out, and which train.

    Attributes
    ----------
    seed : int
        Decides the parts.
    n_rows, n_held_out : pairs of int
        Rows of X and of Y: all of them, and those held out.

    Examples
    --------
    >>> halves = Halves(seed=0, n_rows=(6, 4), n_held_out=(3, 2))
    >>> sorted(halves.places(0, first_row=0, count=6).tolist())
    [0, 1, 2, 3, 4, 5]
    >>> int(halves.held_out(1, np.arange(4)).sum())
    2
    """

    seed: int
    n_rows: tuple[int, int]
    n_held_out: tuple[int, int]

    @classmethod
    def of(cls, samples: ChunkedSamples, test_size: float, seed: int) -> Halves:
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
            own = drawn.sample == sample
            inside[own] = self.held_out(sample, drawn.rows[own]) == held_out
        values = np.asfortranarray(drawn.values[inside])
        return DrawnRows(values, drawn.sample[inside], drawn.rows[inside])


@dataclass(frozen=True, eq=False)
class PartOfRows(RowStore):
    """The rows of one sample that are held out, or the others.

    Rows keep the numbers they have among all rows, so that those of a block rise but may leave
    some out.
    """

    whole: RowStore
    halves: Halves
    sample: int
    held_out: bool

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        out = self.halves.n_held_out[self.sample]
        n_rows, n_columns = self.whole.shape
        return (out if self.held_out else n_rows - out), n_columns

    @property
    def side_by_side(self) -> bool:  # type: ignore[override]
        """Whether several blocks are summed at once."""
        return self.whole.side_by_side

    def fold(self, fold: Fold[A], step: int, progress: RowsDone | None = None) -> A:
        """Return the sum over the rows of the part, in blocks of `step` rows of both parts."""
        of_part = _OfPart(fold, self.halves, self.sample, self.held_out)
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
    halves: Halves
    sample: int
    held_out: bool

    def start(self) -> A:
        return self.fold.start()

    def add(self, held: A, first_row: int, values: FloatArray) -> A:
        places = self.halves.places(self.sample, first_row, values.shape[0])
        inside = (places < self.halves.n_held_out[self.sample]) == self.held_out
        return self.fold.add(held, first_row, np.asfortranarray(values[inside]))

    def merge(self, left: A, right: A) -> A:
        return self.fold.merge(left, right)
