"""Far fewer rows than columns: the relaxation is loose, and the supports are enumerated."""

import numpy as np
import pytest

from tellapart.budget import Budget, using_budget
from tellapart.strs import SparseRatio, SparseTrustRegion, solve
from tellapart.strs.solvers import branch_and_bound


def few_rows(seed, size=30, rows=8):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(rows, size)) * rng.uniform(0.3, 1.5, size)
    return B.T @ B / rows, 0.4 * rng.normal(size=size)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_proved_by_a_enumeration(nonnegative, monkeypatch):
    enumerations = []

    class Counted(branch_and_bound.Enumeration):
        def __init__(self, *arguments):
            enumerations.append(self)
            super().__init__(*arguments)

    monkeypatch.setattr(branch_and_bound, "Enumeration", Counted)
    for seed in range(4):
        V, a = few_rows(seed)
        problem = SparseTrustRegion(-2 * V, a, 3, nonnegative=nonnegative)
        solution = solve(problem, "branch-and-bound")
        assert solution.status == "optimal"
        assert solution.value == pytest.approx(solve(problem, "brute-force").value, rel=1e-4)
    assert any(enumeration.finished for enumeration in enumerations)


@using_budget(Budget(enumeration_work=0))
def test_no_time_for_an_enumeration_leaves_the_bound_of_the_root():
    V, a = few_rows(0)
    problem = SparseTrustRegion(-2 * V, a, 3)
    solution = solve(problem, "branch-and-bound")
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(solve(problem, "brute-force").value, rel=1e-4)


def test_ratios_of_few_rows():
    for seed in range(3):
        V, a = few_rows(seed)
        for nonnegative in (False, True):
            problem = SparseRatio(V + 0.05 * np.eye(30), a, 3, nonnegative=nonnegative)
            solution = solve(problem, "branch-and-bound")
            assert solution.status == "optimal"
            assert solution.value == pytest.approx(solve(problem, "brute-force").value, rel=1e-4)
