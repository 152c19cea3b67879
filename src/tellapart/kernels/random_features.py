"""Random Fourier features: a kernel that has no short features, approximated for many rows.

Gaussian: exp(−Σ_s ω_s ψ_s / 2σ²) = E cos(θ(u) − θ(v)), θ a sum of one random phase per column. A
numeric column adds √ω_s/σ times a normal frequency times the value. A categorical one, whose factor
is 1 for equal levels and a = exp(−ω_s/2σ²) for others, adds a phase by level, uniform with
probability 1 − a and else 0.

Quadratic: (Σ_s z_s k_s + c)² is c² and a sum of kernels 2c z_s k_s and z_s z_r k_s k_r. Each
frequency belongs to one of them, drawn in proportion to its weight, and carries its sign; the
phases of a product are added. The constant c² plays no part in MMD².

What is drawn depends on the kernel and not on the rows, so that the test with the approximated
kernel is as valid as with the kernel itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.kernels.base import Exponential, FittedKernel, Mismatch, PairFunction, Spectral
from tellapart.kernels.scalar import Indicator

# What a column adds to a phase at most: single precision knows no cosine of more.
LARGEST_PHASE = 1e6


@dataclass(frozen=True)
class RandomFeatures:
    """K(u, v) ≈ Σ_r w_r cos(θ_r(u) − θ_r(v)), the phases θ_r linear in the values.

    Attributes
    ----------
    frequencies : array of shape (D, R)
        What a unit of each numeric column adds to the phases.
    levels : tuple of (column, array of shape (L, R))
        What each level of a categorical column adds.
    weights : array of shape (R,)
        w_r, of either sign.
    """

    frequencies: FloatArray
    levels: tuple[tuple[int, Singles], ...]
    weights: FloatArray

    @property
    def diagonal(self) -> float:
        """K(u, u), the same for all u."""
        return float(self.weights.sum())

    @property
    def magnitude(self) -> float:
        """A bound on |K|."""
        return float(np.abs(self.weights).sum())

    def of(self, values: FloatArray, centre: FloatArray) -> Singles:
        """Return cosines and sines (n × 2R) of rows (n × D); `centre` is taken from them first."""
        # In units of the largest frequency, so that what is clipped would leave single precision.
        units = np.abs(self.frequencies).max(axis=1)
        units[units == 0.0] = 1.0
        with np.errstate(over="ignore", under="ignore"):
            points = np.clip((values - centre) * units, -LARGEST_PHASE, LARGEST_PHASE)
        slopes = (self.frequencies / units[:, np.newaxis]).astype(np.float32)
        angles = points.astype(np.float32) @ slopes
        for column, table in self.levels:
            angles += table[values[:, column].astype(np.intp)]
        count = self.weights.shape[0]
        result = np.empty((values.shape[0], 2 * count), dtype=np.float32)
        np.cos(angles, out=result[:, :count])
        np.sin(angles, out=result[:, count:])
        return result


def draw_features(
    kernel: FittedKernel,
    z: FloatArray,
    n_levels: Sequence[int],
    count: int,
    rng: np.random.Generator,
) -> RandomFeatures | None:
    """Draw `count` random frequencies of K_z; None for a kernel of which they are not known.

    Parameters
    ----------
    kernel : FittedKernel
        The kernel.
    z : array of length D
        The weights.
    n_levels : sequence of int
        The number of categories of each column; 0 for numbers.
    count : int
        R.
    rng : numpy Generator
        The rows have no part in it.
    """
    weights = kernel.weights(z)
    active = np.flatnonzero(weights)
    if not all(isinstance(kernel.scalars[s], Spectral | Indicator | Mismatch) for s in active):
        return None
    drawn = _Phases(kernel.scalars, n_levels, count, rng)
    if isinstance(kernel.outer, Exponential) and kernel.weight.power == 2:
        for s in active:
            share = float(weights[s] / kernel.outer.variance)
            # Of exp(−ω/2σ²·1[u ≠ v]), the share that does not depend on the level needs no phase.
            varied = rng.random(count) >= math.exp(-0.5 * share)
            drawn.add(int(s), np.arange(count), math.sqrt(share), np.flatnonzero(varied))
        return drawn.features(np.full(count, 1.0 / count))
    offset = kernel.square_offset
    if offset is None:
        return None
    return _of_square(drawn, weights, active, offset, count, rng)


def _of_square(
    drawn: _Phases,
    weights: FloatArray,
    active: IntArray,
    offset: float,
    count: int,
    rng: np.random.Generator,
) -> RandomFeatures:
    """Return the features of (Σ_s ω_s k_s + c)² − c²."""
    nowhere = active.size
    used = weights[active]
    # One table of all terms; the last column stands for no second factor.
    terms = np.concatenate([np.outer(used, used), 2 * offset * used[:, np.newaxis]], axis=1).ravel()
    masses = np.abs(terms)
    term = rng.choice(terms.size, size=count, p=masses / masses.sum())
    first, second = np.divmod(term, nowhere + 1)
    for position, s in enumerate(active):
        for factor in (first, second):
            which = np.flatnonzero(factor == position)
            drawn.add(int(s), which, 1.0, which)
    return drawn.features(np.sign(terms[term]) * masses.sum() / count)


class _Phases:
    """What each column adds to the phases, put together draw by draw."""

    def __init__(
        self,
        scalars: Sequence[PairFunction],
        n_levels: Sequence[int],
        count: int,
        rng: np.random.Generator,
    ) -> None:
        self._scalars, self._n_levels, self._rng = scalars, n_levels, rng
        self._frequencies = np.zeros((len(scalars), count))
        self._levels: dict[int, Singles] = {}

    def add(self, s: int, which: IntArray, factor: float, varied: IntArray) -> None:
        """Add a draw for column s to the frequencies `which`; of levels, to those `varied`."""
        scalar = self._scalars[s]
        if isinstance(scalar, Spectral):
            self._frequencies[s, which] += factor * scalar.frequencies(which.size, self._rng)
            return
        count = max(self._n_levels[s], 1)
        table = self._levels.setdefault(
            s, np.zeros((count, self._frequencies.shape[1]), dtype=np.float32)
        )
        table[:, varied] += self._rng.uniform(0.0, 2 * math.pi, (count, varied.size))

    def features(self, weights: FloatArray) -> RandomFeatures:
        return RandomFeatures(self._frequencies, tuple(self._levels.items()), weights)


N_LANDMARKS = 32
# Directions with less than this share of the largest eigenvalue are rounding error.
_LEAST_SHARE = 1e-10


@dataclass(frozen=True)
class Landmarks:
    """The features of one column.

    With landmarks l at even ranks of the pooled values, w their shares of the rows and diag(√w)
    k(l, l) diag(√w) = V Λ Vᵀ, the features f(v) = Λ^{-1/2} Vᵀ diag(√w) k(l, v) of the largest
    eigenvalues keep most of the kernel on these rows (Nyström). Only the sorted pooled values
    enter: neither labels nor the order of the rows.

    Attributes
    ----------
    scalar : PairFunction
        k.
    points : array of length L
        The landmarks.
    projection : array of shape (L, r)
        diag(√w) V Λ^{-1/2}.
    """

    scalar: PairFunction
    points: FloatArray
    projection: FloatArray

    @classmethod
    def of(cls, scalar: PairFunction, pooled: FloatArray, rank: int) -> Landmarks:
        """Place landmarks for these values; at most `rank` features.

        Examples
        --------
        >>> import numpy as np
        >>> from tellapart.kernels.scalar import GaussianScalar
        >>> values = np.linspace(-2.0, 2.0, 100)
        >>> features = Landmarks.of(GaussianScalar(1.0), values, 10).features(values)
        >>> gram = GaussianScalar(1.0).gram(values, values)
        >>> bool(np.abs(features @ features.T - gram).max() < 1e-3)
        True
        """
        ranks = (2 * np.arange(N_LANDMARKS) + 1) * pooled.shape[0] // (2 * N_LANDMARKS)
        points, counts = np.unique(
            np.partition(pooled, np.unique(ranks))[ranks], return_counts=True
        )
        roots = np.sqrt(counts / counts.sum())
        gram = scalar.gram(points, points) * np.multiply.outer(roots, roots)
        values, vectors = np.linalg.eigh((gram + gram.T) / 2)
        kept = np.flatnonzero(values > _LEAST_SHARE * max(values[-1], 0.0))[::-1][:rank]
        return cls(scalar, points, roots[:, None] * vectors[:, kept] / np.sqrt(values[kept]))

    @property
    def rank(self) -> int:
        """How many features there are."""
        return int(self.projection.shape[1])

    def features(self, values: FloatArray) -> FloatArray:
        """Return f of each value, of shape (n, rank)."""
        return np.asarray(self.scalar.gram(values, self.points) @ self.projection)


# Tiles of a Gram matrix: the kernel between some rows and others of one pool.


# Squared lengths, in units of the index t, above which opening up a square loses too many digits.
FAR = 4_000.0


class GramTiles:
    """K_z between slices of the rows of a pool.

    Where t = Σ_s ω_s ((u_s − v_s)/τ_s)² with ω ≥ 0, it opens up: ‖u‖² + ‖v‖² − 2 u·v in scaled
    coordinates, one matrix product for a tile. Rows far out, which would lose digits that way, and
    other kernels take the kernel's own `gram`.

    Parameters
    ----------
    kernel : FittedKernel
        The kernel.
    pooled : array of shape (N, D)
        The rows.
    z : array of length D
        The weights.
    """

    def __init__(self, kernel: FittedKernel, pooled: FloatArray, z: FloatArray) -> None:
        self._kernel, self._pooled, self._z = kernel, pooled, z
        self._points = _scaled(kernel, pooled, z)
        if self._points is not None:
            self._lengths = np.einsum("ij,ij->i", self._points, self._points)
            self._far = ~(self._lengths <= FAR)
            self._points[self._far] = 0.0

    def tile(self, rows: slice, columns: slice) -> FloatArray:
        """Return K_z(u_i, u_j) for i in `rows` and j in `columns`."""
        u, v = self._pooled[rows], self._pooled[columns]
        if self._points is None:
            return self._kernel.gram(u, v, self._z)
        index = self._points[rows] @ self._points[columns].T
        index *= -2.0
        index += self._lengths[rows, np.newaxis]
        index += self._lengths[columns]
        np.maximum(index, 0.0, out=index)
        far_rows, far_columns = self._far[rows], self._far[columns]
        if far_rows.any() or far_columns.any():
            index[far_rows] = 0.0
            index[:, far_columns] = 0.0
        gram = self._kernel.outer.value(index)
        if far_rows.any():
            gram[far_rows] = self._kernel.gram(u[far_rows], v, self._z)
        if far_columns.any():
            gram[:, far_columns] = self._kernel.gram(u, v[far_columns], self._z)
        return gram


def _scaled(kernel: FittedKernel, pooled: FloatArray, z: FloatArray) -> FloatArray | None:
    """Return coordinates in which t is the squared distance; None where there are none."""
    scales, weights = kernel.squared_scales, kernel.weights(z)
    if scales is None or (weights < 0).any():
        return None
    varying = np.flatnonzero(~kernel.constant)
    values = pooled[:, varying]
    with np.errstate(over="ignore", invalid="ignore"):
        # Differences are what counts: without the common offset none of their digits are lost.
        return np.asarray(
            (values - np.median(values, axis=0)) * (np.sqrt(weights[varying]) / scales)
        )
