"""Sparse quadratics, trust region and ratio problems: data and exact values, no method."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from math import fsum, ldexp, log10, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cholesky

from tellapart.arguments import check_flag, check_integer, check_number
from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.errors import InputError
from tellapart.strs.domains import EPS, SPHERE, Domain, Space, SpaceOrthant
from tellapart.strs.faces import SphereOrthant

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


# Sums of products, rounded once: however much cancels, no more is lost.


SPLITTER = 2.0**27 + 1
"""Times this, a number falls into two halves of 26 bits (Dekker, Veltkamp)."""


def exact_product(left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return left·right rounded, and its rounding error: their sum is the product exactly.

    For numbers of about 1, entry by entry; below 1e-290 the error is lost.
    """
    product = left * right
    high, low = _halves(left)
    other_high, other_low = _halves(right)
    error = low * other_low - (
        ((product - high * other_high) - low * other_high) - high * other_low
    )
    return product, error


def _halves(numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
    large = SPLITTER * numbers
    high = large - (large - numbers)
    return high, numbers - high


def power_of(values: FloatArray) -> int:
    """Return the e with the largest entry of 2⁻ᵉ·values in [½, 1); 0 for zeros."""
    return int(np.frexp(float(np.abs(values).max(initial=0.0)))[1])


def linear_terms(a: FloatArray, z: FloatArray) -> list[float]:
    """Return numbers whose exact sum is aᵀz."""
    terms: list[float] = np.concatenate(exact_product(a, z)).tolist()
    return terms


def quadratic_terms(A: FloatArray, z: FloatArray) -> list[float]:
    """Return numbers whose exact sum is zᵀAz."""
    once, error = exact_product(A, z[None, :])
    column = z[:, None]
    products = (*exact_product(once, column), *exact_product(error, column))
    terms: list[float] = np.concatenate([product.ravel() for product in products]).tolist()
    return terms


def factor_terms(B: FloatArray, z: FloatArray) -> list[float]:
    """Return numbers whose sum is −‖Bz‖², as accurate as in twice the digits."""
    total, rest = np.zeros(B.shape[0]), np.zeros(B.shape[0])
    for column, weight in zip(B.T, z, strict=True):
        product, error = exact_product(column, np.asarray(weight))
        grown = total + product
        moved = grown - total
        rest += error + ((total - (grown - moved)) + (product - moved))
        total = grown
    square, error = exact_product(total, total)
    parts = [square, error, 2 * total * rest, rest * rest]
    terms: list[float] = (-np.concatenate(parts)).tolist()
    return terms


def form_value(A: FloatArray, a: FloatArray, z: FloatArray) -> float:
    """Return zᵀAz + aᵀz, rounded once: however much cancels, no more is lost."""
    e = max(power_of(A), power_of(a))
    # Exact but for what is below 2⁻¹⁰⁰⁰ of the largest entry.
    block, linear = np.ldexp(A, -e), np.ldexp(a, -e)
    return ldexp(fsum(quadratic_terms(block, z) + linear_terms(linear, z)), e)


def factored_value(shift: float, B: FloatArray, a: FloatArray, z: FloatArray) -> float:
    """Return shift·‖z‖² − ‖Bz‖² + aᵀz, with hardly more than one rounding."""
    # A power of 4 for the sum, so that B is divided by a power of 2.
    e = max(power_of(np.array([shift])), 2 * power_of(B), power_of(a))
    e += e % 2
    squares = [linear_terms(np.ldexp(shift, -e), square) for square in exact_product(z, z)]
    terms = squares[0] + squares[1] + linear_terms(np.ldexp(a, -e), z)
    terms += factor_terms(np.ldexp(B, -e // 2), z)
    return ldexp(fsum(terms), e)


# The problems.


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
    def is_required(self) -> BoolArray:
        """Which of the variables are required."""
        marked = np.zeros(self.n_columns, dtype=bool)
        marked[self.required] = True
        return marked

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
            return self._dense[support[:, None], support]
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
        entries, linear = z[support], self.a[support]
        if self.factor is not None:
            return factored_value(self.factor.shift, self.factor.B[:, support], linear, entries)
        return form_value(self.submatrix(support), linear, entries)

    def best_support(self, slopes: FloatArray) -> IntArray:
        """Return d sorted indices: those required, then where a step along z_i gains most.

        `slopes` are the derivatives; ties go to the lower index.
        """
        order = np.argsort(-self.domain.promise(slopes), kind="stable")
        if self.required.shape[0] > 0:
            order = np.concatenate([self.required, order[~self.is_required[order]]])
        return np.sort(order[: self.d])

    def best_places(self, slopes: FloatArray) -> IntArray:
        """Return `best_support`, under a deprecated name."""
        message = "best_places is deprecated: use best_support"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.best_support(slopes)


def _typical(sizes: FloatArray) -> float:
    """Return the median of the sizes that are not 0, or 0."""
    present = sizes[sizes > 0]
    return float(np.median(present)) if present.shape[0] > 0 else 0.0


def truncate(vector: FloatArray, d: int) -> IntArray:
    """Return the sorted indices of the d largest entries by size; ties go to the lower index."""
    order = np.argsort(-np.abs(vector), kind="stable")
    return np.sort(order[:d])


def polish(
    problem: SparseQuadratic, support: IntArray, above: float = -np.inf
) -> tuple[FloatArray, float]:
    """Return the best z (length D) with non-zeros in `support` only, and its value.

    Where that is at most `above`, perhaps another (`Domain.maximise`).
    """
    block, linear = problem.submatrix(support), problem.a[support]
    maximiser, value = problem.domain.maximise(block, linear, above)
    z = np.zeros(problem.n_columns)
    z[support] = maximiser
    return z, value


def support_bound(
    problem: SparseQuadratic, support: IntArray, value: float, cutoff: float
) -> float:
    """Return a proved bound on the maximum over one support, whose computed maximum is `value`."""
    block, linear = problem.submatrix(support), problem.a[support]
    return problem.domain.bound(block, linear, value, cutoff, problem.forming_error)


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


LARGEST_POWER = 960
"""Ratios of single variables beyond 2 to this power, or below its inverse, are refused."""


class SparseRatio:
    """max aᵀz/√(zᵀMz) over z ≠ 0, ‖z‖₀ ≤ d, for a positive definite M.

    Parameters
    ----------
    M : array of shape (D, D)
        A symmetric positive definite matrix.
    a : array of shape (D,)
        The numerator.
    d : int
        The largest number of non-zeros, 1 ≤ d ≤ D.
    nonnegative : bool
        Whether z ≥ 0 too.
    required : indices, optional
        Variables that count among the d in any case: of the others, at most d − len(required)
        are non-zero.
    known : bool
        Whether M is known to be symmetric and positive definite beyond rounding error: else that
        is checked, at the cost of a factorisation.

    Notes
    -----
    The best ratio over a support, squared, is max 2aᵀz − zᵀMz over it (aᵀM⁻¹a where z may have
    any sign): best-subset selection, which the searches solve as a `SparseQuadratic`.

    Examples
    --------
    >>> import numpy as np
    >>> problem = SparseRatio(np.diag([1.0, 4.0, 1.0]), np.array([1.0, 4.0, 0.5]), d=2)
    >>> round(problem.value(np.array([1.0, 1.0, 0.0])), 6)
    2.236068
    """

    def __init__(
        self,
        M: ArrayLike,
        a: ArrayLike,
        d: int,
        nonnegative: bool = False,
        required: ArrayLike | None = None,
        *,
        known: bool = False,
    ) -> None:
        self.M = np.asarray(M, dtype=np.float64) if known else checked_symmetric("M", M)
        self.a = checked_vector("a", a)
        if self.a.shape[0] != self.M.shape[0]:
            raise InputError(
                f"a must have as many entries as M has columns, {self.M.shape[0]}; "
                f"got {self.a.shape[0]}"
            )
        self.d = check_integer("d", d, 1, self.n_columns)
        self.nonnegative = check_flag("nonnegative", nonnegative)
        self.required = checked_indices(required, self.n_columns, self.d)
        if not known:
            self._check_definite()
        self._check_range()

    @property
    def n_columns(self) -> int:
        """Number of variables, D."""
        return int(self.a.shape[0])

    @cached_property
    def exponents(self) -> IntArray:
        """Powers of two that bring the diagonal of M between ½ and 2: no digit is lost."""
        exponents: IntArray = -(np.frexp(np.diag(self.M))[1] // 2).astype(np.intp)
        return exponents

    @cached_property
    def units(self) -> FloatArray:
        """The units of z that go with these powers."""
        units: FloatArray = np.ldexp(1.0, self.exponents)
        return units

    @cached_property
    def scale(self) -> float:
        """A power of two that brings the largest entry of a, in these units, to about 1."""
        return float(np.ldexp(1.0, -self._in_units(np.arange(self.n_columns))[1]))

    @cached_property
    def squared(self) -> SparseQuadratic:
        """Max 2aᵀz − zᵀMz with z and a rescaled: its value is (scale·ratio)²."""
        M = self.M * self.units[:, None] * self.units
        linear, _ = self._in_units(np.arange(self.n_columns))
        domain = SpaceOrthant() if self.nonnegative else Space()
        return SquaredRatio(-M, 2 * linear, self.d, domain, self.required)

    def value(self, z: FloatArray) -> float:
        """Return aᵀz/√(zᵀMz), both of the numbers as they are and rounded once."""
        support = np.flatnonzero(z)
        entries = z[support] / self.units[support]
        entries = np.ldexp(entries, -power_of(entries))
        linear, power = self._in_units(support)
        square = -fsum(quadratic_terms(self.squared.submatrix(support), entries))
        return ldexp(fsum(linear_terms(linear, entries)) / sqrt(square), power)

    def _in_units(self, support: IntArray) -> tuple[FloatArray, int]:
        """Return part of a in units of z, times 2⁻ᵉ so that its largest entry is about 1, and e.

        By exponents: neither a itself nor its products need be of a size that doubles hold well.
        """
        mantissas, exponents = np.frexp(self.a[support])
        exponents = exponents + self.exponents[support]
        present = exponents[mantissas != 0.0]
        power = int(present.max()) if present.shape[0] > 0 else 0
        # Further down than this all are 0 beside the largest.
        return np.ldexp(mantissas, np.maximum(exponents - power, -2_000)), power

    def single_best(self) -> IntArray | None:
        """Return the best single variable where no ratio is above 0, with nothing left to search.

        That is for z ≥ 0 and a ≤ 0, where √(zᵀMz) ≤ Σ z_i√M_ii says that no mixture beats the
        best of its parts, and for a = 0.
        """
        full = self.required.shape[0] == self.d
        allowed = self.required if full else np.arange(self.n_columns)
        gains = self.a[allowed] if self.nonnegative else np.abs(self.a[allowed])
        if (gains > 0).any():
            return None
        ratios = self.a[allowed] / np.sqrt(np.diag(self.M)[allowed])
        return allowed[[int(np.argmax(ratios))]]

    def _check_range(self) -> None:
        """Refuse ratios that are not floating-point numbers with all their digits."""
        _, power = self._in_units(np.arange(self.n_columns))
        if abs(power) > LARGEST_POWER:
            raise InputError(
                "a must have a largest |a_i|/√M_ii between 1e-289 and 1e289, or be 0; got about "
                f"1e{power * log10(2):.0f}; rescale a"
            )

    def _check_definite(self) -> None:
        diagonal = np.diag(self.M)
        for entry in (float(diagonal.min()), float(diagonal.max())):
            if not SMALLEST <= entry <= 1 / SMALLEST:
                raise InputError(
                    f"M must be positive definite, with a diagonal between {SMALLEST:g} and "
                    f"{1 / SMALLEST:g}; got {entry:.3g} on it"
                )
        scaled = -self.squared.A
        # What rounding error may hide, twice: then every shift below is proved to be positive.
        margin = 16 * self.n_columns * EPS * float(np.linalg.norm(scaled))
        try:
            cholesky(scaled - margin * np.eye(self.n_columns), lower=True, check_finite=False)
        except LinAlgError:
            raise InputError(
                "M must be positive definite beyond rounding error; add a multiple of its diagonal"
            ) from None


class SquaredRatio(SparseQuadratic):
    """The squared problem of a `SparseRatio`: values are squares of ratios."""

    def _read(self, A: ArrayLike) -> FloatArray:
        # As symmetric as M, which was checked: multiplied by powers of two, no digit is lost.
        return np.ascontiguousarray(A)

    @cached_property
    def resolution(self) -> float:
        """Differences below this are rounding error: 1e-12 of the best variable's own value."""
        alone = self.a**2 / (-4 * self.diagonal)
        smallest = float(np.finfo(np.float64).tiny)
        return max(1e-12 * max(1.0, self.n_columns / 30) * float(alone.max()), smallest)
