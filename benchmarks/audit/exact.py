"""Optima in many digits, by definition: every support, every face, every stationary point.

Slow and simple on purpose, and without a line of the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import mpmath as mp
import numpy as np

from audit.problem import Problem

Spectrum = list[tuple[mp.mpf, mp.mpf]]
HIDDEN = 1e-9
"""How far double precision may be off where it sets supports aside, in sizes of their entries."""


def optimum(problem: Problem) -> mp.mpf:
    """Return the largest value of the objective over all points that the problem allows."""
    mp.mp.dps = problem.digits
    if problem.ratio:
        return max(_ratio(problem, chosen) for chosen in problem.supports())
    if problem.nonnegative:
        return max(_on_face(problem, face) for face in _promising(problem, smallest=1))
    # A larger support allows all that a smaller one does.
    return max(_on_sphere(problem, chosen) for chosen in _promising(problem, problem.d))


def support_optimum(problem: Problem, support: tuple[int, ...]) -> mp.mpf:
    """Return the largest value over the points that are 0 outside the support."""
    whole = tuple(sorted({*support, *problem.required}))
    inside = Problem(
        problem.family,
        problem.A[np.ix_(whole, whole)],
        problem.a[list(whole)],
        len(whole),
        problem.nonnegative,
        problem.ratio,
        factor=None if problem.factor is None else (problem.factor[0], problem.factor[1][:, whole]),
    )
    return optimum(inside)


def _promising(problem: Problem, smallest: int) -> list[tuple[int, ...]]:
    """Return the supports that double precision cannot rule out.

    A support's maximum over the whole sphere bounds the one with z ≥ 0; single variables and the
    signed maxima themselves are values that are reached.
    """
    reached, bounds = -np.inf, []
    for chosen in problem.supports(smallest):
        index = list(chosen)
        block, linear = problem.A[np.ix_(index, index)], problem.a[index]
        hidden = HIDDEN * (np.abs(block).sum() + np.abs(linear).sum())
        highest = _sphere_in_doubles(block, linear)
        bounds.append((chosen, highest + hidden))
        if not problem.nonnegative:
            reached = max(reached, highest - hidden)
        elif len(chosen) == 1:
            reached = max(reached, float(block[0, 0] + linear[0]) - hidden)
    return [chosen for chosen, bound in bounds if bound >= reached]


def _sphere_in_doubles(A: np.ndarray, a: np.ndarray) -> float:
    """Return max zᵀAz + aᵀz on the sphere: the least of μ + ¼Σ c_i²/(μ − λ_i) over μ > λ₁."""
    eigenvalues, vectors = np.linalg.eigh(A)
    along = vectors.T @ a
    length = float(np.linalg.norm(a))
    if length == 0.0:
        return float(eigenvalues[-1])
    low, high = 0.0, length
    with np.errstate(divide="ignore", over="ignore"):
        for _ in range(100):
            middle = (low + high) / 2
            steep = np.sum((along / (eigenvalues[-1] - eigenvalues + middle)) ** 2) / 4
            low, high = (middle, high) if steep > 1 else (low, middle)
    room = eigenvalues[-1] - eigenvalues + high
    return float(eigenvalues[-1] + high + np.sum(along**2 / room) / 4)


def _on_sphere(problem: Problem, chosen: tuple[int, ...]) -> mp.mpf:
    """Return the maximum over one support: the dual has no gap (one quadratic on one sphere)."""
    block, linear = problem.block(chosen)
    spectrum, _ = _spectrum(block, linear)
    top, length = spectrum[-1][0], mp.norm(linear)
    if length == 0:
        return top
    low, high = mp.mpf(0), length
    for _ in range(_steps()):
        middle = (low + high) / 2
        steep = mp.fsum((c / (top - e + middle)) ** 2 for e, c in spectrum) / 4
        low, high = (middle, high) if steep > 1 else (low, middle)
    return top + high + mp.fsum(c**2 / (top - e + high) for e, c in spectrum) / 4


def _on_face(problem: Problem, face: tuple[int, ...]) -> mp.mpf:
    """Return the best value of a stationary point of the sphere inside the face z > 0."""
    block, linear = problem.block(face)
    if len(face) == 1:
        return block[0, 0] + linear[0]
    spectrum, vectors = _spectrum(block, linear)
    best = -mp.inf
    for coordinates in _stationary(spectrum, _tiny() * mp.norm(linear)):
        z = vectors * mp.matrix(coordinates)
        if min(z) >= -_tiny():
            best = max(best, (z.T * block * z)[0] + (linear.T * z)[0])
    return best


def _stationary(spectrum: Spectrum, nothing: mp.mpf) -> Iterator[list[mp.mpf]]:
    """Return the points with (μ − λ_i)y_i = ½c_i, ‖y‖ = 1, that may be maxima of a face.

    On each side of a pole of Σ c_i²/4(μ − λ_i)² there are at most two roots; a maximum inside a
    face has at most one λ_i above μ. Where c_i = 0, μ = λ_i leaves y_i free.
    """
    terms = [(e, c) for e, c in spectrum if abs(c) > nothing]
    for mu in _roots(terms, least=spectrum[-2][0]):
        yield [0 if abs(c) <= nothing else c / (2 * (mu - e)) for e, c in spectrum]
    for free, (own, _) in enumerate(spectrum):
        if any(e == own for e, _ in terms):
            continue
        rest = [0 if e == own else c / (2 * (own - e)) for e, c in spectrum]
        left = 1 - mp.fsum(y**2 for y in rest)
        if left >= 0:
            for sign in (1, -1):
                yield [sign * mp.sqrt(left) if i == free else y for i, y in enumerate(rest)]


def _roots(terms: Spectrum, least: mp.mpf) -> Iterator[mp.mpf]:
    """Return the roots of Σ c²/4(μ − λ)² = 1 that lie above the pole before `least`."""
    if not terms:
        return

    def excess(mu: mp.mpf) -> mp.mpf:
        return mp.fsum((c / (mu - e)) ** 2 for e, c in terms) / 4 - 1

    def slope(mu: mp.mpf) -> mp.mpf:
        return -mp.fsum(c**2 / (mu - e) ** 3 for e, c in terms)

    poles = sorted({e for e, _ in terms})
    reach = mp.sqrt(mp.fsum(c**2 for _, c in terms))
    yield _bisect(excess, poles[-1], poles[-1] + reach)
    for low, high in pairwise(poles):
        if high <= least:
            continue
        lowest = _bisect(lambda mu: -slope(mu), low, high)
        if excess(lowest) <= 0:
            yield _bisect(excess, low, lowest)
            yield _bisect(lambda mu: -excess(mu), lowest, high)


def _bisect(function: Callable[[mp.mpf], mp.mpf], low: mp.mpf, high: mp.mpf) -> mp.mpf:
    """Return where a function that falls from above 0 at `low` to below 0 at `high` is 0."""
    for _ in range(_steps()):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2


def _tiny() -> mp.mpf:
    """Return what is rounding error beside 1."""
    return mp.mpf(10) ** (15 - mp.mp.dps)


def _steps() -> int:
    return int(3.4 * mp.mp.dps)


def _ratio(problem: Problem, chosen: tuple[int, ...]) -> mp.mpf:
    """Return the best ratio with these variables: M⁻¹a, if it has no negative entry for z ≥ 0."""
    block, linear = problem.block(chosen)
    if len(chosen) == 1:
        size = linear[0] / mp.sqrt(block[0, 0])
        return size if problem.nonnegative else abs(size)
    z = mp.lu_solve(block, linear)
    if problem.nonnegative and min(z) < 0:
        return -mp.inf
    return mp.sqrt(max((linear.T * z)[0], mp.mpf(0)))


def _spectrum(block: mp.matrix, linear: mp.matrix) -> tuple[Spectrum, mp.matrix]:
    """Return (λ_i, v_iᵀa), λ rising and equal where only rounding parts them, and the v_i."""
    found, vectors = mp.eigsy(block)
    eigenvalues, along = list(found), vectors.T * linear
    same = _tiny() * mp.mnorm(block, "f")
    for i in range(1, len(eigenvalues)):
        if eigenvalues[i] - eigenvalues[i - 1] <= same:
            eigenvalues[i] = eigenvalues[i - 1]
    return [(e, along[i]) for i, e in enumerate(eigenvalues)], vectors
