"""Sparse principal components (a = 0) whose optimal values the literature knows."""

import numpy as np
import pytest

from pitprops import OPTIMA, pitprops
from tellapart.strs import SparseTrustRegion, solve

EXACT = ("brute-force", "branch-and-bound", "misdp", "outer-approximation")


@pytest.mark.parametrize("solver", EXACT)
def test_pitprops(solver: str) -> None:
    solutions = {d: solve(SparseTrustRegion(pitprops(), np.zeros(13), d), solver) for d in OPTIMA}
    assert {solution.status for solution in solutions.values()} == {"optimal"}
    values = {d: solution.value for d, solution in solutions.items()}
    assert values == pytest.approx(OPTIMA, abs=5e-5)
    assert all(s.upper_bound >= s.value for s in solutions.values())
