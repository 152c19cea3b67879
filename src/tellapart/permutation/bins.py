"""Permutations of bins of rows: exactly valid, and their cost does not grow with the rows.

The rows of each sample are put at random into bins of b rows, and labels are permuted among the
bins; the few rows left over keep theirs. Such permutations are a subgroup of all permutations, so
a rank among them is a valid p-value. What a statistic needs of the data are then sums over bins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import IntArray
from tellapart.permutation.labels import Permutations, draw_permutations

Singles = NDArray[np.float32]

# Bins of the smaller sample: from about 250 on nothing is lost against permutations of rows.
MOST_BINS = 250
FEWEST_BINS = 150
# Bins of both samples together where their sizes allow it.
USUAL_BINS = 1_250
# Rows of the larger sample that take part, in multiples of the smaller: the rest adds nothing.
LARGER_SHARE = 20


@dataclass(frozen=True)
class BinnedLabels:
    """Bins of pooled rows, and labels of the bins under every permutation.

    Attributes
    ----------
    rows : array of shape (G, b)
        Pooled row numbers of each bin.
    fixed_x, fixed_y : array
        Rows that keep their labels.
    labels : array of shape (k, G)
        1 where a bin counts as x; row 0 holds the true labels.
    n_x, n_y : int
        Rows of the two samples.
    exact : bool
        Whether all permutations of the bins are there.
    """

    rows: IntArray
    fixed_x: IntArray
    fixed_y: IntArray
    labels: Singles
    n_x: int
    n_y: int
    exact: bool

    @property
    def n_rows(self) -> int:
        """Rows of both samples, N."""
        return self.n_x + self.n_y

    @property
    def n_bins(self) -> int:
        """Number of bins, G."""
        return int(self.rows.shape[0])

    @property
    def rows_per_bin(self) -> int:
        """Rows in each bin, b."""
        return int(self.rows.shape[1])

    @property
    def count(self) -> int:
        """Number of permutations, the true labels among them."""
        return int(self.labels.shape[0])

    def sums(self, values: Singles) -> Singles:
        """Return the sums over each bin of values of shape (N, F)."""
        if self.rows_per_bin == 1:
            return np.ascontiguousarray(values[self.rows[:, 0]])
        return np.asarray(values[self.rows.T].sum(axis=0, dtype=np.float32))

    def sums_of_x(self, values: Singles) -> Singles:
        """Return the sums over the rows that count as x, one row per permutation."""
        fixed = values[self.fixed_x].sum(axis=0, dtype=np.float32)
        return np.asarray(self.labels @ self.sums(values) + fixed)

    def means(self, values: Singles) -> tuple[Singles, Singles]:
        """Return the means over x and over y, one row per permutation."""
        of_x = self.sums_of_x(values)
        total = values.sum(axis=0, dtype=np.float64).astype(np.float32)
        return of_x / np.float32(self.n_x), (total - of_x) / np.float32(self.n_y)

    def differences(self, values: Singles) -> Singles:
        """Return mean_x − mean_y, one row per permutation."""
        of_x, of_y = self.means(values)
        return of_x - of_y


def draw_bins(n_x: int, n_y: int, n_permutations: int, rng: np.random.Generator) -> BinnedLabels:
    """Put the rows into bins and draw permutations of their labels; all of them where few."""
    size = rows_per_bin(n_x, n_y)
    bins_x, bins_y = n_x // size, n_y // size
    bins_x, bins_y = min(bins_x, LARGER_SHARE * bins_y), min(bins_y, LARGER_SHARE * bins_x)
    rows_x = np.arange(n_x) if n_x == bins_x else rng.permutation(n_x)
    rows_y = n_x + (np.arange(n_y) if n_y == bins_y else rng.permutation(n_y))
    used_x, used_y = bins_x * size, bins_y * size
    rows = np.concatenate([rows_x[:used_x], rows_y[:used_y]]).reshape(-1, size)
    drawn = draw_permutations(bins_x, bins_y, n_permutations, rng)
    return BinnedLabels(
        rows=rows,
        fixed_x=rows_x[used_x:],
        fixed_y=rows_y[used_y:],
        labels=_unpacked(drawn, bins_x + bins_y),
        n_x=n_x,
        n_y=n_y,
        exact=drawn.exact,
    )


def rows_per_bin(n_x: int, n_y: int) -> int:
    """Return b: 1 where rows are few, else such that the smaller sample has 150 to 500 bins.

    >>> rows_per_bin(200, 300), rows_per_bin(2_000, 2_000), rows_per_bin(200, 10**6)
    (1, 8, 1)
    """
    smaller, larger = sorted((n_x, n_y))
    bins = USUAL_BINS * smaller // (smaller + larger)
    return max(smaller // min(max(bins, FEWEST_BINS), MOST_BINS), 1)


def _unpacked(drawn: Permutations, n_bins: int) -> Singles:
    # The true labels come first, also where all permutations are listed.
    return np.unpackbits(drawn.bits, axis=1, count=n_bins).astype(np.float32)
