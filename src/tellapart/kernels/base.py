"""The contracts of kernels: scalar kernels per column, and the whole kernel K_z built on them.

Every kernel is an additive-index kernel, K_z(x, y) = φ(t) with t = Σ_s ω(z_s) ψ_s(x_s, y_s).
A *kernel* (`Kernel`) is immutable settings; `fit` freezes its bandwidths on the pooled training
sample and returns a `FittedKernel`, which is what statistics and tests use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, cast, runtime_checkable

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.data.samples import Samples
from tellapart.kernels.feature_maps import FeatureMap


class Expansion(Protocol):
    """The kernel sums of one column's two samples, in a form that is cheap to evaluate.

    Attributes
    ----------
    mean_xx, mean_yy, mean_xy : float
        Means of k(x_i, x_j), k(y_i, y_j) and k(x_i, y_j) over all i, j, diagonals included.
    """

    mean_xx: float
    mean_yy: float
    mean_xy: float

    def witness(self, values: FloatArray) -> FloatArray:
        """Return mean_i k(x_i, v) − mean_j k(y_j, v) for each v in `values`."""


class KernelMoments(Protocol):
    """What the kernel of one column needs of a sample: sums over its rows, chunk by chunk."""

    @property
    def count(self) -> int:
        """Number of values summed."""

    def merge(self, other: Any) -> Self:
        """Return the moments of both sets of values together."""


class PairFunction(Protocol):
    """A symmetric function ψ_s of two values of one column."""

    def gram(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the matrix ψ(u_i, v_j), a new array."""


class ScalarKernel(Protocol):
    """A kernel of one column with its bandwidth frozen, and k(v, v) = 1."""

    @property
    def compact(self) -> bool:
        """Whether moments and expansions are far smaller than the samples: many can be kept."""

    def gram(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the matrix k(u_i, v_j)."""

    def elementwise(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the vector k(u_i, v_i)."""

    def moments(self, values: FloatArray) -> KernelMoments:
        """Return what `expand` needs of values of this column, in O(n) or O(n log n)."""

    def expand(self, x: Any, y: Any) -> Expansion:
        """Return the kernel sums of two samples of this column from their moments."""

    def features(self, values: FloatArray, starts: IntArray | None = None) -> FloatArray | None:
        """Return Φ (n × r) with ΦΦᵀ = Gram to 1e-12, or None where no short one exists.

        The pooled values of the test half go in at once; columns r are few (tens to a few
        hundred) or the answer is None. With `starts`, the values stand group after group and the
        answer is the sums of Φ over the groups, (G × r): `starts` says where each begins, and
        where the last ends.
        """

    def feature_map(self, drawn: FloatArray, low: float, high: float) -> FeatureMap | None:
        """Return features that chunks share, of values from `low` to `high`; None without any.

        `drawn` are values of pooled rows, by which a long range is cut off.
        """

    def gram_sums(self, values: FloatArray, starts: IntArray) -> FloatArray:
        """Return S (G × G), S_gh the sum of k(u_i, u_j) over i in group g and j in group h.

        For columns without short features: it must not take the square of the rows.
        """


@runtime_checkable
class Spectral(Protocol):
    """A ψ_s of numbers with random frequencies: of itself, or of exp(−ψ_s/2)."""

    def frequencies(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw ω with k(u, v) = E cos(ω(u − v))."""


class Outer(Protocol):
    """φ and its first two derivatives, each from arrays to arrays of the same shape."""

    def value(self, t: FloatArray, /) -> FloatArray:
        """Return φ(t)."""

    def slope(self, t: FloatArray, /) -> FloatArray:
        """Return φ′(t)."""

    def curvature(self, t: FloatArray, /) -> FloatArray:
        """Return φ″(t)."""


@dataclass(frozen=True)
class Identity:
    """φ(t) = t."""

    def value(self, t: FloatArray, /) -> FloatArray:
        """Return φ(t)."""
        return t

    def slope(self, t: FloatArray, /) -> FloatArray:
        """Return φ′(t)."""
        return np.ones_like(t)

    def curvature(self, t: FloatArray, /) -> FloatArray:
        """Return φ″(t)."""
        return np.zeros_like(t)


@dataclass(frozen=True)
class Square:
    """φ(t) = (t + c)², c the `offset`."""

    offset: float

    def value(self, t: FloatArray, /) -> FloatArray:
        """Return φ(t)."""
        return np.square(t + self.offset)

    def slope(self, t: FloatArray, /) -> FloatArray:
        """Return φ′(t)."""
        return 2 * (t + self.offset)

    def curvature(self, t: FloatArray, /) -> FloatArray:
        """Return φ″(t)."""
        return np.full_like(t, 2.0)


@dataclass(frozen=True)
class Exponential:
    """φ(t) = exp(−t / 2σ²), σ² the `variance`: its derivatives are multiples of its value."""

    variance: float

    def value(self, t: FloatArray, /) -> FloatArray:
        """Return φ(t)."""
        return np.exp(t / (-2 * self.variance))

    def slope(self, t: FloatArray, /) -> FloatArray:
        """Return φ′(t)."""
        return self.slope_from_value(self.value(t))

    def slope_from_value(self, value: FloatArray, /) -> FloatArray:
        """Return φ′(t) = −φ(t) / 2σ²: no second exponential."""
        return value / (-2 * self.variance)

    def curvature(self, t: FloatArray, /) -> FloatArray:
        """Return φ″(t)."""
        return self.curvature_from_value(self.value(t))

    def curvature_from_value(self, value: FloatArray, /) -> FloatArray:
        """Return φ″(t) = φ(t) / 4σ⁴."""
        return value / (4 * self.variance**2)


# Larger differences count as this one, so that products of two of them, and with them every
# second derivative, stay finite.
LARGEST_DIFFERENCE = 1e70


@dataclass(frozen=True)
class SquaredDifference:
    """ψ(u, v) = ((u − v) / τ)².

    Examples
    --------
    >>> import numpy as np
    >>> SquaredDifference(2.0).gram(np.array([0.0]), np.array([1.0, 4.0])).tolist()
    [[0.25, 4.0]]
    """

    scale: float = 1.0

    def frequencies(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw ω with exp(−ψ(u, v)/2) = E cos(ω(u − v)): normal, with variance 1/τ²."""
        return rng.standard_normal(count) / self.scale

    def gram(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the matrix ψ(u_i, v_j)."""
        with np.errstate(over="ignore"):  # far apart: cut off below
            difference = np.subtract.outer(u, v)
            difference /= self.scale
            if _far_apart(u, v, self.scale):
                np.clip(difference, -LARGEST_DIFFERENCE, LARGEST_DIFFERENCE, out=difference)
        return np.square(difference, out=difference)


@dataclass(frozen=True)
class Mismatch:
    """ψ(u, v) = 1[u ≠ v], for the codes of a categorical column.

    Examples
    --------
    >>> import numpy as np
    >>> Mismatch().gram(np.array([0.0, 1.0]), np.array([1.0])).tolist()
    [[1.0], [0.0]]
    """

    def gram(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the matrix 1[u_i ≠ v_j]."""
        return np.not_equal.outer(u, v).astype(np.float64)


def _far_apart(u: FloatArray, v: FloatArray, scale: float) -> bool:
    if u.size == 0 or v.size == 0:
        return False
    largest = max(float(np.abs(u).max()), float(np.abs(v).max()))
    return largest / LARGEST_DIFFERENCE > scale / 2


@dataclass(frozen=True)
class Weight:
    """ω(z) = z^power for power 1 or 2, and its derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> WEIGHTS["square"].slope(np.array([0.5, -1.0])).tolist()
    [1.0, -2.0]
    """

    power: int

    def value(self, z: FloatArray) -> FloatArray:
        """Return ω(z)."""
        return z**self.power

    def slope(self, z: FloatArray) -> FloatArray:
        """Return ω′(z)."""
        return np.ones_like(z) if self.power == 1 else 2 * z

    def curvature(self, z: FloatArray) -> FloatArray:
        """Return ω″(z)."""
        return np.full_like(z, 0.0 if self.power == 1 else 2.0)


WEIGHTS = {"linear": Weight(1), "square": Weight(2)}


@dataclass(frozen=True)
class Abilities:
    """What the form of a kernel allows: callers ask this, never for its name or type.

    Attributes
    ----------
    fast_sums : bool
        F(z) = aᵀz − λ zᵀVz, with a and V by sums over rows, not over pairs of rows.
    exact : bool
        The solvers of sparse trust region problems choose the variables, whatever λ is.
    exact_unregularized : bool
        They do at λ = 0; their optimum there is an upper bound at every λ.
    closed_form : bool
        The best choice at λ = 0 is known outright, so it can be reselected under every
        permutation of the labels.
    short_features : bool
        K_z is a sum over columns, each of which may have short features.
    own_bandwidths : bool
        A column's bandwidth is its own: nothing is fitted over all columns together.
    averages : bool
        t is a weighted average over the columns (ω(z) = z², Σω = 1): every further variable takes
        weight from the others, so that a choice with little regularization uses few.
    """

    fast_sums: bool = False
    exact: bool = False
    exact_unregularized: bool = False
    closed_form: bool = False
    short_features: bool = False
    own_bandwidths: bool = False
    averages: bool = False


@dataclass(frozen=True)
class FittedKernel:
    """K_z(x, y) = φ(Σ_s ω(z_s) ψ_s(x_s, y_s)) with every bandwidth frozen.

    Attributes
    ----------
    name : str
        "linear", "quadratic", "gaussian", …
    scalars : tuple of PairFunction
        ψ_s, one per column.
    constant : bool array
        Columns that never vary in the training sample: they carry no information and K_z leaves
        them out, whatever z_s.
    weight : Weight
        ω and its derivatives.
    outer : Outer
        φ and its derivatives.
    abilities : Abilities
        What this form allows.
    """

    name: str
    scalars: tuple[PairFunction, ...]
    constant: BoolArray
    weight: Weight
    outer: Outer
    abilities: Abilities = Abilities()

    def columns(self, index: IntArray) -> Self:
        """Return the kernel of some columns only, as `Samples.columns` does for the data."""
        scalars = tuple(self.scalars[s] for s in index)
        return replace(self, scalars=scalars, constant=self.constant[index])

    def weights(self, z: FloatArray) -> FloatArray:
        """Return ω(z_s), and 0 for the constant columns."""
        return np.where(self.constant, 0.0, self.weight.value(z))

    def gram(self, u: FloatArray, v: FloatArray, z: FloatArray) -> FloatArray:
        """Return the matrix K_z(u_i, v_j); only columns with z_s ≠ 0 are touched."""
        return self.outer.value(self._index(u, v, self.weights(z)))

    @property
    def scalar_kernels(self) -> tuple[ScalarKernel, ...]:
        """The ψ_s as kernels of their own, which they are where there are `fast_sums`."""
        return cast(tuple[ScalarKernel, ...], self.scalars)

    @property
    def squared_scales(self) -> FloatArray | None:
        """τ_s of the varying columns if each of their ψ_s is ((u − v)/τ_s)²; None otherwise."""
        varying = np.flatnonzero(~self.constant)
        functions = [self.scalars[s] for s in varying]
        scales = [psi.scale for psi in functions if isinstance(psi, SquaredDifference)]
        return np.array(scales) if len(scales) == len(functions) else None

    @property
    def square_offset(self) -> float | None:
        """The c of φ(t) = (t + c)² with ω(z) = z, where MMD² is quadratic in z; None otherwise."""
        if isinstance(self.outer, Square) and self.weight.power == 1:
            return self.outer.offset
        return None

    @property
    def exponent_variance(self) -> float | None:
        """The σ² of φ(t) = exp(−t/2σ²) with ω(z) = z² and ψ_s ≥ 0; None for other kernels."""
        known = all(isinstance(psi, SquaredDifference | Mismatch) for psi in self.scalars)
        if known and isinstance(self.outer, Exponential) and self.weight.power == 2:
            return self.outer.variance
        return None

    def _index(self, u: FloatArray, v: FloatArray, weights: FloatArray) -> FloatArray:
        """Return t = Σ_s ω_s ψ_s(u_i, v_j)."""
        active = np.flatnonzero(weights)
        columns_u = np.ascontiguousarray(u[:, active].T)
        columns_v = np.ascontiguousarray(v[:, active].T)
        total = np.zeros((u.shape[0], v.shape[0]))
        # Row blocks small enough for one column's matrix to stay in cache until it is added.
        rows = max(1, current_budget().gram_block_entries // max(1, v.shape[0]))
        for start in range(0, u.shape[0], rows):
            block = total[start : start + rows]
            for s, column_u, column_v in zip(active, columns_u, columns_v, strict=True):
                psi = self.scalars[s].gram(column_u[start : start + rows], column_v)
                psi *= weights[s]
                block += psi
        return total


class Kernel(Protocol):
    """Immutable settings of a kernel."""

    @property
    def name(self) -> str:
        """The name users pass as `kernel=`."""

    @property
    def abilities(self) -> Abilities:
        """What the form of the kernel allows."""

    def fit(self, samples: Samples, *, n_jobs: int = 1) -> FittedKernel:
        """Freeze the bandwidths on the pooled training sample, in `n_jobs` threads."""
