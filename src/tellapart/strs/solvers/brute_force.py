"""Brute force over all supports: the oracle of the tests."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np

from tellapart.arrays import IntArray
from tellapart.errors import InputError
from tellapart.strs.contract import Control, Solution, until_interrupted
from tellapart.strs.incumbent import Incumbent
from tellapart.strs.problem import SparseQuadratic


@dataclass(frozen=True)
class BruteForce:
    """Solve the trust region problem on every support of size d. For small D only.

    Supports smaller than d need no visit: a larger support contains their points.
    """

    name: str = "brute-force"
    largest: int = 5_000_000
    batch: int = 1_000

    def solve(
        self, problem: SparseQuadratic, control: Control, start: IntArray | None = None
    ) -> Solution:
        """Visit every support, or stop at the time limit or Ctrl-C without a bound."""
        picks = problem.d - problem.required.shape[0]
        free = np.delete(np.arange(problem.n_columns), problem.required)
        count = comb(free.shape[0], picks)
        if count > self.largest:
            raise InputError(
                f"solver 'brute-force' visits at most {self.largest:,} supports; "
                f"D = {problem.n_columns}, d = {problem.d} has {count:,}; use 'branch-and-bound'"
            )
        supports = combinations(free.tolist(), picks)
        best = Incumbent(problem, control)
        best.offer(self._whole(problem, free[:picks]) if start is None else start)
        bound, visited = -np.inf, 0
        with until_interrupted(nullcontext()) as ctrl_c:
            while visited < count and not control.out_of_time:
                for indices in islice(supports, self.batch):
                    support = self._whole(problem, np.array(indices, dtype=np.intp))
                    # Another support's value may be off by more than the best one's.
                    bound = max(bound, best.offer_whole(support))
                    visited += 1
                control.report_progress(visited, best.value, None)
        proved = bound if visited == count else None
        return best.solution(self.name, visited, proved, interrupted=ctrl_c.caught)

    @staticmethod
    def _whole(problem: SparseQuadratic, picked: IntArray) -> IntArray:
        """Return the support of the required variables and those picked."""
        return np.sort(np.append(problem.required, picked))
