"""The sparse ratio problem: the largest aᵀz/√(zᵀMz) over few variables."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from math import fsum, inf, ldexp, log10, nextafter, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cholesky

from tellapart.arguments import check_flag, check_integer
from tellapart.arrays import FloatArray, IntArray
from tellapart.errors import InputError
from tellapart.strs.base import PLAIN_ONLY, Solver, check_plain
from tellapart.strs.control import Control
from tellapart.strs.domains import Space, SpaceOrthant
from tellapart.strs.problem import (
    SMALLEST,
    SparseQuadratic,
    checked_indices,
    checked_symmetric,
    checked_vector,
)
from tellapart.strs.rounding import EPS, linear_terms, power_of, quadratic_terms
from tellapart.strs.solution import Solution

TWICE = 2 * (1 - 1e-6)
"""Not quite 2: the root of a bound must be within the gap after rounding too."""

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
        is checked, at the price of a factorisation.

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
        part = z[support] / self.units[support]
        part = np.ldexp(part, -power_of(part))
        linear, power = self._in_units(support)
        square = -fsum(quadratic_terms(self.squared.submatrix(support), part))
        return ldexp(fsum(linear_terms(linear, part)) / sqrt(square), power)

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


def solve_ratio(
    problem: SparseRatio, solver: Solver, control: Control, start: IntArray | None
) -> Solution:
    """Solve the squared problem, and return what that says of the ratio."""
    if solver.name in PLAIN_ONLY:
        check_plain(problem.squared, f"{solver.name!r}")
    single = problem.single_best()
    if single is not None:
        return _single_solution(problem, single, solver.name, control)
    squared = solver.solve(problem.squared, _squared_control(problem, control), start)
    z = squared.z * problem.units
    z = z / np.linalg.norm(z)
    value, bound = problem.value(z), squared.upper_bound
    if bound is not None:
        bound = max(_root(bound) / problem.scale, value)
    return replace(
        squared, z=z, value=value, upper_bound=bound, status=control.status(value, bound)
    )


def _squared_control(problem: SparseRatio, control: Control) -> Control:
    """Return the control of the squared problem: a gap of g in the ratio is 2g in its square."""
    progress = control.progress

    def in_ratios(iterations: int, value: float, bound: float | None) -> None:
        assert progress is not None
        root = None if bound is None else _root(bound) / problem.scale
        progress(iterations, _root(value) / problem.scale, root)

    # Rounded down, so that no root of a bound that is given up exceeds the floor.
    floor = (problem.scale * max(control.floor, 0.0)) ** 2 * (1 - 16 * EPS)
    return replace(
        control,
        gap=TWICE * control.gap,
        floor=floor if control.floor > 0 else -np.inf,
        progress=None if progress is None else in_ratios,
    )


def _single_solution(
    problem: SparseRatio, best: IntArray, solver: str, control: Control
) -> Solution:
    """Return the solution where one variable alone is best; proved (`single_best`)."""
    z = np.zeros(problem.n_columns)
    z[best] = 1.0
    value = problem.value(z)
    # Of the smallest numbers 8ε is nothing.
    bound = max(value + 8 * EPS * abs(value), nextafter(value, inf)) if value != 0.0 else 0.0
    return Solution(
        support=best,
        z=z,
        value=value,
        upper_bound=bound,
        status=control.status(value, bound),
        solver=solver,
        iterations=1,
        seconds=control.elapsed,
    )


def _root(square: float) -> float:
    """Return the square root, rounded up; 0 for the −∞ before the first point."""
    return float(np.sqrt(max(square, 0.0))) * (1 + 2 * EPS)
