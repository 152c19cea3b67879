"""The contracts of kernels: scalar kernels per column, and the whole kernel K_z built on them.

Every kernel is an additive-index kernel, K_z(x, y) = φ(t) with t = Σ_s ω(z_s) ψ_s(x_s, y_s).
A *kernel* (`Kernel`) is immutable settings; `fit` freezes its bandwidths on the pooled training
sample and returns a `FittedKernel`, which is what statistics and tests use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.data.samples import Samples

# Entries of one column's Gram block: 256 kB.
_BLOCK_ENTRIES = 32_768


class Expansion(Protocol):
    """The kernel sums of one column's two samples, in a form that is cheap to evaluate."""

    @property
    def mean_xx(self) -> float:
        """Mean of k(x_i, x_j) over all i, j, diagonal included."""
        ...

    @property
    def mean_yy(self) -> float:
        """Mean of k(y_i, y_j) over all i, j, diagonal included."""
        ...

    @property
    def mean_xy(self) -> float:
        """Mean of k(x_i, y_j) over all i, j."""
        ...

    def witness(self, values: FloatArray) -> FloatArray:
        """Return mean_i k(x_i, v) − mean_j k(y_j, v) for each v in `values`."""
        ...


class PairFunction(Protocol):
    """A symmetric function ψ_s of two values of one column."""

    def gram(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the matrix ψ(u_i, v_j), a new array."""
        ...


class ScalarKernel(Protocol):
    """A kernel of one column with its bandwidth frozen, and k(v, v) = 1."""

    @property
    def compact(self) -> bool:
        """Whether an expansion is far smaller than the samples, so that many can be kept."""
        ...

    def gram(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the matrix k(u_i, v_j)."""
        ...

    def elementwise(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the vector k(u_i, v_i)."""
        ...

    def expand(self, x: FloatArray, y: FloatArray) -> Expansion:
        """Return the kernel sums of the two samples of this column in O(n) or O(n log n)."""
        ...

    def features(self, values: FloatArray) -> FloatArray | None:
        """Return Φ (n × r) with ΦΦᵀ = Gram to 1e-12, or None where no short one exists.

        The pooled values of the test half go in at once; columns r are few (tens to a few
        hundred) or the answer is None.
        """
        ...


@dataclass(frozen=True)
class FittedKernel:
    """A kernel with every bandwidth frozen: K_z(x, y) = Σ_s z_s k_s(x_s, y_s) for `linear`.

    Attributes
    ----------
    name : str
        "linear", …
    scalars : tuple of ScalarKernel
        One per column.
    constant : bool array
        Columns that never vary in the training sample: they carry no information and
        must get weight 0.
    """

    name: str
    scalars: tuple[ScalarKernel, ...]
    constant: BoolArray

    def columns(self, index: IntArray) -> Self:
        """Return the kernel of some columns only, as `Samples.columns` does for the data."""
        scalars = tuple(self.scalars[s] for s in index)
        return replace(self, scalars=scalars, constant=self.constant[index])

    def gram(self, u: FloatArray, v: FloatArray, z: FloatArray) -> FloatArray:
        """Return the matrix K_z(u_i, v_j); only columns with z_s ≠ 0 are touched."""
        active = np.flatnonzero(z)
        columns_u = np.ascontiguousarray(u[:, active].T)
        columns_v = np.ascontiguousarray(v[:, active].T)
        total = np.zeros((u.shape[0], v.shape[0]))
        # Row blocks small enough for one column's matrix to stay in cache until it is added.
        rows = max(1, _BLOCK_ENTRIES // max(1, v.shape[0]))
        for start in range(0, u.shape[0], rows):
            block = total[start : start + rows]
            for s, column_u, column_v in zip(active, columns_u, columns_v, strict=True):
                part = self.scalars[s].gram(column_u[start : start + rows], column_v)
                part *= z[s]
                block += part
        return total


class Kernel(Protocol):
    """Immutable settings of a kernel."""

    @property
    def name(self) -> str:
        """The name users pass as `kernel=`."""
        ...

    def fit(self, samples: Samples, *, n_jobs: int | None = 1) -> FittedKernel:
        """Freeze the bandwidths on the pooled training sample, in `n_jobs` threads."""
        ...
