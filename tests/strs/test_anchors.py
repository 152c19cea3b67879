"""Sparse principal components (a = 0) whose optimal values the literature knows."""

import numpy as np
import pytest

from pitprops import OPTIMA, pitprops
from tellapart.strs import SparseTrustRegion, solve

EXACT = ("brute-force", "branch-and-bound", "misdp", "outer-approximation")


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("d", OPTIMA)
def test_pitprops(solver: str, d: int) -> None:
    solution = solve(SparseTrustRegion(pitprops(), np.zeros(13), d), solver)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(OPTIMA[d], abs=5e-5)
    assert solution.upper_bound is not None
    assert solution.upper_bound >= solution.value
