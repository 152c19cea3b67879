"""Quadratics over few variables, and the sparse trust region problem: data only, no method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from tellapart.arguments import check_flag, check_integer, check_number
from tellapart.arrays import FloatArray, IntArray
from tellapart.errors import InputError
from tellapart.strs.domains import SPHERE, Domain, SphereOrthant
from tellapart.strs.rounding import factored_value, form_value

# What the arrays of a problem must be: checked once, at its door.


def real_numbers(name: str, values: ArrayLike, shape: str) -> FloatArray:
    """Return an array of floats, or say what came instead."""
    try:
        if np.iscomplexobj(values):
            raise TypeError
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} must be a {shape} of real numbers; got {type(values).__name__}"
        ) from None


def checked_vector(name: str, values: ArrayLike) -> FloatArray:
    """Return a copy of a vector of finite numbers."""
    vector = real_numbers(name, values, "vector")
    if vector.ndim != 1 or vector.shape[0] < 1:
        raise InputError(
            f"{name} must be a vector with at least one entry; got shape {vector.shape}"
        )
    if not np.isfinite(vector).all():
        raise InputError(f"{name} must hold finite numbers only; got NaN or infinite entries")
    return vector.copy()


def checked_indices(required: ArrayLike | None, n_columns: int, d: int) -> IntArray:
    """Return the required variables, sorted; at most d of them."""
    if required is None:
        return np.empty(0, dtype=np.intp)
    expected = f"required must be at most d = {d} different indices in 0..{n_columns - 1}"
    try:
        given = np.asarray(required)
    except ValueError:
        raise InputError(f"{expected}; got {required!r}") from None
    if given.ndim != 1 or (given.shape[0] > 0 and given.dtype.kind not in "iu"):
        raise InputError(f"{expected}; got {required!r}")
    indices = np.unique(given).astype(np.intp)
    inside = indices.shape[0] == 0 or (indices[0] >= 0 and indices[-1] < n_columns)
    if indices.shape[0] != given.shape[0] or indices.shape[0] > d or not inside:
        raise InputError(f"{expected}; got {given.tolist()}")
    return indices


def checked_symmetric(name: str, values: ArrayLike) -> FloatArray:
    """Return a symmetric matrix of finite numbers, slight asymmetry averaged away."""
    matrix = real_numbers(name, values, "matrix")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 1:
        raise InputError(f"{name} must be a square matrix; got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InputError(f"{name} must hold finite numbers only; got NaN or infinite entries")
    asymmetry = float(np.abs(matrix - matrix.T).max(initial=0.0))
    if asymmetry > 1e-8 * float(np.abs(matrix).max(initial=0.0)):
        raise InputError(f"{name} must be symmetric; got max |{name} - {name}^T| = {asymmetry:.3g}")
    return np.ascontiguousarray(matrix / 2 + matrix.T / 2)


SMALLEST = 1e-100
"""Problems whose largest entry is smaller, or larger than 1/this, are refused."""

SAME_SCALE = 1e3
"""Variables whose entries differ by more than this factor are on different scales."""


@dataclass(frozen=True)
class ShiftedFactor:
    """The matrix A = shift·I − BᵀB, held as its factor B (r × D).

    For D far above r the D × D matrix is never formed.
    """

    shift: float
    B: FloatArray

    def __post_init__(self) -> None:
        factor = real_numbers("B", self.B, "matrix")
        if factor.ndim != 2 or factor.shape[1] < 1:
            raise InputError(f"B must be a matrix with at least one column; got {factor.shape}")
        if not np.isfinite(factor).all():
            raise InputError("B must hold finite numbers only; got NaN or infinite entries")
        object.__setattr__(self, "shift", check_number("shift", self.shift))
        object.__setattr__(self, "B", factor)


class SparseQuadratic:
    """max zᵀAz + aᵀz over ‖z‖₀ ≤ d and z in a domain: what every search works on.

    Parameters
    ----------
    A : array of shape (D, D), or ShiftedFactor
        A symmetric matrix, or `ShiftedFactor(shift, B)` for A = shift·I − BᵀB.
    a : array of shape (D,)
        The linear term.
    d : int
        The largest number of non-zeros, 1 ≤ d ≤ D.
    domain : Domain
        Where z may lie otherwise.
    required : indices, optional
        Variables that count among the d in any case.
    """

    def __init__(
        self,
        A: ArrayLike | ShiftedFactor,
        a: ArrayLike,
        d: int,
        domain: Domain,
        required: ArrayLike | None = None,
    ) -> None:
        self.a = checked_vector("a", a)
        self.factor: ShiftedFactor | None = A if isinstance(A, ShiftedFactor) else None
        if isinstance(A, ShiftedFactor):
            columns = A.B.shape[1]
        else:
            self._dense = self._read(A)
            columns = self._dense.shape[0]
        if self.a.shape[0] != columns:
            raise InputError(
                f"a must have as many entries as A has columns, {columns}; got {self.a.shape[0]}"
            )
        self.d = check_integer("d", d, 1, self.n_columns)
        self.domain = domain
        self.required = checked_indices(required, self.n_columns, self.d)
        largest = max(self._largest_entry(), float(np.abs(self.a).max()))
        if largest > 0 and not SMALLEST <= largest <= 1 / SMALLEST:
            raise InputError(
                f"A and a must have a largest entry between {SMALLEST:g} and {1 / SMALLEST:g}, "
                f"whose square is a floating-point number; got {largest:.3g}; rescale both"
            )

    def _read(self, A: ArrayLike) -> FloatArray:
        return checked_symmetric("A", A)

    @property
    def n_columns(self) -> int:
        """Number of variables, D."""
        return int(self.a.shape[0])

    @cached_property
    def A(self) -> FloatArray:  # noqa: N802 - the name of the mathematics
        """The whole matrix, D × D. Avoid it where `factor` is set and D is large."""
        if self.factor is None:
            return self._dense
        return self.submatrix(np.arange(self.n_columns))

    def product(self, z: FloatArray) -> FloatArray:
        """Return A z."""
        if self.factor is None:
            return self._dense @ z
        return self.factor.shift * z - self.factor.B.T @ (self.factor.B @ z)

    def submatrix(self, support: IntArray) -> FloatArray:
        """Return A restricted to the rows and columns in `support`."""
        if self.factor is None:
            return self._dense[np.ix_(support, support)]
        columns = self.factor.B[:, support]
        block = -(columns.T @ columns)
        block[np.diag_indices_from(block)] += self.factor.shift
        return block

    @cached_property
    def diagonal(self) -> FloatArray:
        """The diagonal of A."""
        if self.factor is None:
            return np.ascontiguousarray(np.diag(self._dense))
        lengths: FloatArray = np.einsum("ij,ij->j", self.factor.B, self.factor.B)
        return self.factor.shift - lengths

    def _largest_entry(self) -> float:
        if self.factor is None:
            return float(np.abs(self._dense).max())
        longest = float(np.abs(self.factor.B).max(initial=0.0))
        return max(abs(self.factor.shift), longest * longest)

    @cached_property
    def forming_error(self) -> float:
        """How far zᵀAz is off, at most, when A is multiplied out from its factor; else 0.

        Entries of BᵀB are off by at most r·ε·|b_i||b_j|, so that the form is off by at most
        r·ε(Σ|z_i||b_i|)², no more than r·ε times the sum of the d largest |b_i|². The rest of
        the constant covers bounds, which use such a matrix at points of the hull too.
        """
        if self.factor is None:
            return 0.0
        lengths = np.sort(np.einsum("ij,ij->j", self.factor.B, self.factor.B))
        scale = float(lengths[-self.d :].sum()) + abs(self.factor.shift)
        eps = float(np.finfo(np.float64).eps)
        return eps * scale * 8 * (int(self.factor.B.shape[0]) + 4)

    @cached_property
    def resolution(self) -> float:
        """Differences in value below this are rounding error: 1e-12 of an entry that matters.

        The point ±e_i has the value A_ii + |a_i|. Of the d variables where that is highest, the
        one with the smallest numbers says what scale matters, and the median of all variables
        on that scale is the unit: those on a huge one, however many, must not blur them. Proofs
        over many variables add up more rounding errors.
        """
        entries = np.abs(self.diagonal)
        if self.factor is not None:
            entries = abs(self.factor.shift) + np.abs(self.diagonal - self.factor.shift)
        sizes = entries + np.abs(self.a)
        alone = self.diagonal + np.abs(self.a)
        best = sizes[np.argsort(-alone, kind="stable")[: self.d]]
        if best.any():
            alike = sizes <= SAME_SCALE * float(best[best > 0].min())
            unit = _typical(entries[alike]) + _typical(np.abs(self.a[alike]))
        else:
            unit = _typical(np.abs(self._dense)) if self.factor is None else 0.0
        smallest = float(np.finfo(np.float64).tiny)
        return max(1e-12 * max(1.0, self.n_columns / 30) * unit, 2 * self.forming_error, smallest)

    def value(self, z: FloatArray) -> float:
        """Return zᵀAz + aᵀz of the numbers as they are, rounded once: large terms may cancel."""
        support = np.flatnonzero(z)
        part, linear = z[support], self.a[support]
        if self.factor is not None:
            return factored_value(self.factor.shift, self.factor.B[:, support], linear, part)
        return form_value(self.submatrix(support), linear, part)

    def best_places(self, slopes: FloatArray) -> IntArray:
        """Return d sorted indices: those required, then where a step along z_i gains most.

        `slopes` are the derivatives; ties go to the lower index.
        """
        order = np.argsort(-self.domain.promise(slopes), kind="stable")
        if self.required.shape[0] > 0:
            free = order[~np.isin(order, self.required)]
            order = np.concatenate([self.required, free])
        return np.sort(order[: self.d])


class SparseTrustRegion(SparseQuadratic):
    """max zᵀAz + aᵀz over ‖z‖₂ = 1, ‖z‖₀ ≤ d, for any symmetric A and any a.

    Parameters
    ----------
    A : array of shape (D, D), or ShiftedFactor
        A symmetric matrix, or `ShiftedFactor(shift, B)` for A = shift·I − BᵀB.
    a : array of shape (D,)
        The linear term.
    d : int
        The largest number of non-zeros, 1 ≤ d ≤ D.
    nonnegative : bool
        Whether z ≥ 0 too.
    required : indices, optional
        Variables that count among the d in any case: of the others, at most d − len(required)
        are non-zero.

    Examples
    --------
    >>> import numpy as np
    >>> problem = SparseTrustRegion(np.diag([1.0, 3.0, 2.0]), np.zeros(3), d=1)
    >>> problem.value(np.array([0.0, 1.0, 0.0]))
    3.0
    """

    def __init__(
        self,
        A: ArrayLike | ShiftedFactor,
        a: ArrayLike,
        d: int,
        nonnegative: bool = False,
        required: ArrayLike | None = None,
    ) -> None:
        domain = SphereOrthant() if check_flag("nonnegative", nonnegative) else SPHERE
        super().__init__(A, a, d, domain, required)


def _typical(sizes: FloatArray) -> float:
    """Return the median of the sizes that are not 0, or 0."""
    present = sizes[sizes > 0]
    return float(np.median(present)) if present.shape[0] > 0 else 0.0
