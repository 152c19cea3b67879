"""Swap local search: exchange one chosen variable for another while that helps."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from tellapart.strs.base import finish
from tellapart.strs.control import Control
from tellapart.strs.problem import FloatArray, IntArray, SparseTrustRegion
from tellapart.strs.secular import secular_root
from tellapart.strs.solution import Solution
from tellapart.strs.truncation import candidate_supports
from tellapart.strs.trust_region import polish


@dataclass(frozen=True)
class LocalSearch:
    """Swaps from the truncations' supports until none helps. A strong start; no upper bound.

    A swap is judged by the exact maximum over the new support. The outsiders tried are the
    `candidates` with the largest |∇_j| = |a + 2Az|_j; with D − d ≤ candidates the result is
    swap-optimal among all variables.
    """

    name: str = "local-search"
    candidates: int = 200

    def solve(
        self, problem: SparseTrustRegion, control: Control, start: IntArray | None = None
    ) -> Solution:
        """Return the best support that swaps reach from several starts."""
        starts = candidate_supports(problem)
        if start is not None:
            starts.insert(0, start)
        best, best_value, sweeps = starts[0], -np.inf, 0
        seen: set[bytes] = set()
        for support in starts:
            if support.tobytes() in seen:
                continue
            seen.add(support.tobytes())
            improved, value, used = improve_by_swaps(problem, support, control, self.candidates)
            sweeps += used
            if value > best_value:
                best, best_value = improved, value
            if control.out_of_time:
                break
        return finish(
            problem,
            best,
            upper_bound=None,
            solver=self.name,
            iterations=sweeps,
            control=control,
        )


def improve_by_swaps(
    problem: SparseTrustRegion, support: IntArray, control: Control, candidates: int = 200
) -> tuple[IntArray, float, int]:
    """Return a support no tried swap improves, its value, and the sweeps it took."""
    support = fill_up(problem, support)
    z, value = polish(problem, support)
    sweeps = 0
    while not control.out_of_time and support.shape[0] < problem.size:
        sweeps += 1
        gradient = np.abs(problem.a + 2 * problem.product(z))
        gradient[support] = -1.0
        tried = min(candidates, problem.size - support.shape[0])
        outsiders = np.argsort(-gradient, kind="stable")[:tried]
        together = np.concatenate([support, outsiders])
        position = _first_better_swap(
            problem.submatrix(together),
            problem.a[together],
            support.shape[0],
            # Less than this is rounding error, which could make the search cycle.
            value + problem.resolution,
        )
        if position[0] < 0:
            break
        kept = np.delete(support, position[0])
        support = np.sort(np.append(kept, together[position[1]]))
        z, value = polish(problem, support)
    return support, value, sweeps


def fill_up(problem: SparseTrustRegion, support: IntArray) -> IntArray:
    """Return `support` with the largest |a_j| added until it has d variables."""
    if support.shape[0] >= problem.d:
        return support
    order = np.argsort(-np.abs(problem.a), kind="stable")
    added = order[~np.isin(order, support)][: problem.d - support.shape[0]]
    return np.sort(np.concatenate([support, added]))


@numba.njit(cache=True, nogil=True)
def _sphere_value(A: FloatArray, a: FloatArray) -> float:
    """Return max zᵀAz + aᵀz over the sphere, as μ + Σ c_i²/(μ − λ_i) with c = Uᵀa/2."""
    eigenvalues, vectors = np.linalg.eigh(A)
    top = eigenvalues[-1]
    gaps = top - eigenvalues
    c = (vectors.T @ a) / 2
    s = secular_root(gaps, c, 0.0)
    value = top + s
    for i in range(c.shape[0]):
        if s + gaps[i] > 0.0:
            value += c[i] * c[i] / (s + gaps[i])
    return float(value)


@numba.njit(cache=True, nogil=True)
def _first_better_swap(A: FloatArray, a: FloatArray, d: int, threshold: float) -> tuple[int, int]:
    """Return (i, j), the best swap of i < d for the first j ≥ d that beats `threshold`.

    (−1, −1) if no swap does. Outsiders come in order of promise, so the first that helps is
    nearly the best and the sweep need not be finished.
    """
    index = np.empty(d, dtype=np.intp)
    block = np.empty((d, d))
    linear = np.empty(d)
    for j in range(d, A.shape[0]):
        best = threshold
        chosen = -1
        for i in range(d):
            for s in range(d):
                index[s] = s
            index[i] = j
            for s in range(d):
                linear[s] = a[index[s]]
                for r in range(d):
                    block[s, r] = A[index[s], index[r]]
            value = _sphere_value(block, linear)
            if value > best:
                best = value
                chosen = i
        if chosen >= 0:
            return chosen, j
    return -1, -1
