"""Variables that no good support holds."""

from itertools import combinations

import numpy as np
import pytest

from tellapart.budget import Budget, using_budget
from tellapart.strs import SparseTrustRegion, solve
from tellapart.strs.bounds.hull import Curvature, HullNode, relax
from tellapart.strs.bounds.screening import _most_outside, screen
from tellapart.strs.problem import ShiftedFactor, polish


def wide(seed, rows=60, columns=60, d=4, nonnegative=False, shift=0.0, dense=False):
    rng = np.random.default_rng(seed)
    B = 1.5 * rng.normal(size=(rows, columns)) * rng.uniform(0.3, 1.0, columns) / rows**0.5
    a = 0.4 + 0.8 * rng.exponential(size=columns) * (np.arange(columns) < 25)
    factor = ShiftedFactor(shift, B)
    if dense:
        return SparseTrustRegion(shift * np.eye(columns) - B.T @ B, a, d, nonnegative)
    return SparseTrustRegion(factor, a, d, nonnegative)


def screened(problem, cutoff, core=8):
    with using_budget(Budget(shifted_columns=core, dense_columns=20)):
        curvature = Curvature.of(problem)
        root = HullNode.root(problem, curvature.lowest_shift())
        relaxed = relax(
            root,
            curvature,
            problem.a,
            problem.d,
            problem.domain,
            tolerance=1e-6,
            cutoff=-np.inf,
            stop=lambda: False,
        )
        return screen(relaxed, problem.d, value=cutoff, cutoff=cutoff, stop=lambda: False), relaxed


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("shift", [0.0, 0.3])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_what_is_removed_is_in_no_support_above_the_bound_given_up(
    nonnegative, shift, dense, monkeypatch
):
    outside = []

    def watched(*arguments):
        outside.append(_most_outside(*arguments)[0])
        return _most_outside(*arguments)

    monkeypatch.setattr("tellapart.strs.bounds.screening._most_outside", watched)
    removed = 0
    for seed in range(4):
        problem = wide(seed, nonnegative=nonnegative, shift=shift, dense=dense)
        cutoff = 0.97 * solve(problem, "local-search").value
        (node, given_up), relaxed = screened(problem, cutoff)
        if node is relaxed.node:
            continue
        removed += problem.n_columns - node.variables.shape[0]
        assert given_up <= cutoff
        kept, forced = set(node.variables), set(node.variables[node.forced])
        for support in combinations(np.argsort(-problem.a)[:16], problem.d):
            if not set(support) <= kept or not forced <= set(support):
                value = polish(problem, np.sort(np.array(support)))[1]
                assert value <= given_up + 1e-12
    assert removed > 20
    assert max(outside) > 0


def test_wide_problem_is_solved_through_it():
    for seed in range(3):
        problem = wide(seed, rows=40, columns=300, d=4)
        with using_budget(Budget(shifted_columns=20)):
            solution = solve(problem, "branch-and-bound", gap=1e-6)
        plain = solve(problem, "branch-and-bound", gap=1e-6)
        assert solution.status == plain.status == "optimal"
        assert solution.value == pytest.approx(plain.value, rel=2e-6)
