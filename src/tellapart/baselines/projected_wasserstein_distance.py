"""Wasserstein distances of samples on a line: exact for unequal sizes, with gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class QuantileMerge:
    """Where the quantile functions of m and of n sorted values are both constant.

    W_p^p = ∫₀¹ |F⁻¹(t) − G⁻¹(t)|^p dt = Σ_k share_k |x_(of_x[k]) − y_(of_y[k])|^p over at most
    m + n − 1 pieces between the levels i/m and j/n. They depend on the sizes only.
    """

    of_x: IntArray
    of_y: IntArray
    share: FloatArray

    @classmethod
    def of_sizes(cls, m: int, n: int) -> QuantileMerge:
        """Return the pieces for samples of m and n values.

        >>> merge = QuantileMerge.of_sizes(2, 3)
        >>> merge.of_x, merge.of_y, merge.share.round(3)
        (array([0, 0, 1, 1]), array([0, 1, 1, 2]), array([0.333, 0.167, 0.167, 0.333]))
        """
        # In units of 1/(mn) the levels are integers: equal ones are surely seen to be equal.
        levels = np.union1d(np.arange(1, m + 1) * n, np.arange(1, n + 1) * m)
        share = np.diff(levels, prepend=0) / (m * n)
        return cls((levels - 1) // n, (levels - 1) // m, share)

    def distances(self, x: FloatArray, y: FloatArray, order: int) -> FloatArray:
        """Return W_p^p of each row of sorted values of x (k × m) and y (k × n)."""
        gaps = np.abs(x[:, self.of_x] - y[:, self.of_y])
        return np.asarray((gaps if order == 1 else gaps * gaps) @ self.share)


@dataclass(frozen=True)
class ProjectedDistance:
    """W_p^p of x·β and y·β, and its gradient in β, for many β at once.

    For p = 2 the distance is the least of the quadratics βᵀW_Mβ over transports M, and the
    gradient is 2W_Mβ of the M in force: the one that matches equal quantiles.
    """

    x: FloatArray
    y: FloatArray
    order: int
    merge: QuantileMerge

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, order: int) -> ProjectedDistance:
        """Return the distance of two samples with the same columns."""
        return cls(x, y, order, QuantileMerge.of_sizes(x.shape[0], y.shape[0]))

    def value(self, directions: FloatArray) -> FloatArray:
        """Return the distance along each row of `directions` (k × D)."""
        x, y = np.sort(directions @ self.x.T, axis=1), np.sort(directions @ self.y.T, axis=1)
        return self.merge.distances(x, y, self.order)

    def value_and_gradient(self, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the distance along each row of `directions`, and its gradient there."""
        x, y = directions @ self.x.T, directions @ self.y.T
        order_x, order_y = np.argsort(x, axis=1), np.argsort(y, axis=1)
        x, y = np.take_along_axis(x, order_x, axis=1), np.take_along_axis(y, order_y, axis=1)
        moves = x[:, self.merge.of_x] - y[:, self.merge.of_y]
        if self.order == 1:
            value, pull = np.abs(moves) @ self.merge.share, np.sign(moves) * self.merge.share
        else:
            value, pull = moves**2 @ self.merge.share, 2 * moves * self.merge.share
        of_x = _by_row(pull, self.merge.of_x, order_x)
        of_y = _by_row(pull, self.merge.of_y, order_y)
        return value, of_x @ self.x - of_y @ self.y


def permuted_distances(scores: FloatArray, labels: FloatArray, order: int) -> FloatArray:
    """Return W_p^p between the scores labelled 1 and those labelled 0, per row of labels.

    The scores are sorted once: whatever the labels, those of one side then stand in order. Rows
    with the same number of ones, all of them but with clusters, are done together.

    >>> permuted_distances(np.array([3.0, 0.0, 1.0]), np.array([[1.0, 0, 0], [0, 1, 0]]), 1)
    array([2.5, 2. ])
    """
    ranks = np.argsort(scores, kind="stable")
    ordered, sides = scores[ranks], labels[:, ranks] > 0.5
    found, ones = np.empty(sides.shape[0]), sides.sum(axis=1)
    for n_x in np.unique(ones):
        alike = np.flatnonzero(ones == n_x)
        own = sides[alike]
        values = np.broadcast_to(ordered, own.shape)
        x, y = values[own].reshape(alike.size, -1), values[~own].reshape(alike.size, -1)
        merge = QuantileMerge.of_sizes(x.shape[1], y.shape[1])
        found[alike] = merge.distances(x, y, order)
    return found


def _by_row(pull: FloatArray, piece_of: IntArray, order: IntArray) -> FloatArray:
    """Return the pull on each row of a sample, summed over its pieces of the quantile function."""
    starts = np.flatnonzero(np.diff(piece_of, prepend=-1))
    by_rank = np.add.reduceat(pull, starts, axis=1)
    by_row = np.empty_like(by_rank)
    np.put_along_axis(by_row, order, by_rank, axis=1)
    return by_row
