"""Local search: swaps from several starts until none helps."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

from tellapart.arrays import IntArray
from tellapart.strs.contract import Control, Solution
from tellapart.strs.incumbent import CANDIDATES, Incumbent
from tellapart.strs.problem import SparseQuadratic
from tellapart.strs.solvers.truncation import candidate_supports
from tellapart.threads import one_blas_thread

CHEAP_STARTS = 300
"""Above this many variables the truncations of A take longer than the swaps they save."""
SMALL_BLOCKS = 500
"""Supports up to this size are handled faster by one thread than by several."""


@dataclass(frozen=True)
class LocalSearch:
    """Swaps from the truncations' supports until none helps. A strong start; no upper bound.

    A swap is judged by the exact maximum over the new support. The outsiders tried are the
    `candidates` with the largest |∇_j| = |a + 2Az|_j; with D − d ≤ candidates the result is
    swap-optimal among all variables.
    """

    name: str = "local-search"
    candidates: int = CANDIDATES

    def solve(
        self, problem: SparseQuadratic, control: Control, start: IntArray | None = None
    ) -> Solution:
        """Return the best support that swaps reach from several starts."""
        best = Incumbent(problem, control, candidates=self.candidates)
        with one_blas_thread() if problem.d <= SMALL_BLOCKS else nullcontext():
            sweeps = self._search(best, start)
        return best.solution(self.name, sweeps)

    def _search(self, best: Incumbent, start: IntArray | None) -> int:
        """Offer what swaps reach from each start; return the sweeps it took."""
        starts = candidate_supports(best.problem, CHEAP_STARTS)
        if start is not None:
            starts.insert(0, start)
        sweeps = 0
        for support in {each.tobytes(): each for each in starts}.values():
            sweeps += best.improve(support)
            if best.control.out_of_time:
                break
        return sweeps
