"""How far floating-point arithmetic can be off: allowances that keep bounds valid."""

from __future__ import annotations

from math import fsum, ldexp
from typing import TYPE_CHECKING

import numpy as np

from tellapart.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from tellapart.strs.problem import SparseQuadratic

EPS = float(np.finfo(np.float64).eps)
GOLDEN = (5**0.5 - 1) / 2
GOLDEN_STEPS = 80
"""0.618⁸⁰ is below ε: no closer look is possible."""

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
    parts = [*exact_product(once, column), *exact_product(error, column)]
    terms: list[float] = np.concatenate([part.ravel() for part in parts]).tolist()
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
    squares = [linear_terms(np.ldexp(shift, -e), part) for part in exact_product(z, z)]
    terms = squares[0] + squares[1] + linear_terms(np.ldexp(a, -e), z)
    terms += factor_terms(np.ldexp(B, -e // 2), z)
    return ldexp(fsum(terms), e)


def value_slack(problem: SparseQuadratic, support: IntArray) -> float:
    """Return an allowance for the rounding error of an exact maximum over one support.

    That of the block of A (`block_slack`), and a factor is multiplied out first.
    """
    return block_slack(problem.submatrix(support), problem.a[support]) + problem.forming_error


def block_slack(A: FloatArray, a: FloatArray) -> float:
    """Return an allowance for the rounding error of the maximum of zᵀAz + aᵀz on the sphere.

    Eigenvalues of A are off by at most a small multiple of n·ε·‖A‖_F, and the value is off by no
    more than that and the same multiple of ε·‖a‖.
    """
    return 16 * (int(a.shape[0]) + 4) * EPS * (length_of(A) + length_of(a))


def support_bound(
    problem: SparseQuadratic, support: IntArray, value: float, cutoff: float
) -> float:
    """Return a proved bound on the maximum over one support, whose computed maximum is `value`."""
    block, linear = problem.submatrix(support), problem.a[support]
    return problem.domain.bound(block, linear, value, cutoff, problem.forming_error)


def sphere_bound(
    A: FloatArray, a: FloatArray, value: float, cutoff: float, error: float = 0.0
) -> float:
    """Return a proved bound on the maximum of zᵀAz + aᵀz on the sphere, computed as `value`.

    That is `value` and its slack. Where a variable on a huge scale lifts it above `cutoff`, the
    least dual bound is looked for too: rescaled by variable, none of them blurs the others.
    `error` is how far zᵀAz may be off.
    """
    highest = value + (block_slack(A, a) + error)
    if highest <= cutoff:
        return highest
    return min(highest, _least_dual_bound(A, a, highest) + error)


def dual_bound_on_sphere(A: FloatArray, a: FloatArray, mu: float) -> float:
    """Return μ + ¼aᵀ(μI − A)⁻¹a, rounded up, if μ is proved to exceed λ_max(A); else infinity.

    It bounds zᵀAz + aᵀz over the sphere. With the diagonal Δ of M = μI − A, the entries of
    Δ^{-½}MΔ^{-½} are off by a few ε of their own sizes, and those are at most 1 for M ⪰ 0,
    whatever the scales of the variables. Its eigenvalues are lowered by all that this may hide.
    """
    room = mu - np.diag(A)
    if not room.min() > 0.0:
        return float("inf")
    units = np.sqrt(room)
    scaled = -(A / units[:, None]) / units
    np.fill_diagonal(scaled, 1.0)
    eigenvalues, vectors = np.linalg.eigh(scaled)
    size = int(room.shape[0])
    off = 16 * (size + 4) * EPS
    eigenvalues -= off * max(1.0, float(np.linalg.norm(scaled)))
    if eigenvalues[0] <= 0.0:
        return float("inf")
    linear = a / units
    along = np.abs(vectors.T @ linear) + off * float(np.linalg.norm(linear))
    lift = (1 + off) * float(along @ (along / eigenvalues)) / 4
    return mu + lift + 4 * EPS * (abs(mu) + lift)


def length_of(values: FloatArray) -> float:
    """Return the Euclidean norm, also of numbers whose squares vanish."""
    largest = float(np.abs(values).max())
    return largest * float(np.linalg.norm(values / largest)) if largest > 0.0 else 0.0


def _least_dual_bound(A: FloatArray, a: FloatArray, highest: float) -> float:
    """Return the least dual bound met by a golden section search over μ, which is convex."""
    low, high = float(np.diag(A).max()), highest
    least = dual_bound_on_sphere(A, a, high)
    for _ in range(GOLDEN_STEPS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        at_left, at_right = (dual_bound_on_sphere(A, a, mu) for mu in (left, right))
        least = min(least, at_left, at_right)
        # Both infinite: too low to be proved, so that the least one lies to the right.
        if at_left < at_right:
            high = right
        else:
            low = left
    return least
