"""The solver "misdp": exact, with valid bounds whenever it stops."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from held_clock import stopped_after
from instances import any_matrix

from tellapart.errors import InputError, MissingDependencyError
from tellapart.strs import SparseTrustRegion, solve
from tellapart.strs.contract import Control
from tellapart.strs.solvers.misdp import Misdp


def random_problem(rng, trial, largest):
    size = int(rng.integers(1, largest + 1))
    A = any_matrix(rng, size, trial % 5)
    a = rng.normal(size=size) * rng.choice([0.0, 1.0, 5.0])
    return SparseTrustRegion(A, a, int(rng.integers(1, size + 1)))


@pytest.mark.parametrize(("relaxation", "trials"), [("admm", 60), ("conic", 25)])
def test_equals_brute_force(relaxation, trials):
    rng = np.random.default_rng(trials)
    for trial in range(trials):
        problem = random_problem(rng, trial, 9)
        solution = solve(problem, Misdp(relaxation=relaxation), gap=1e-6)
        best = solve(problem, "brute-force").value
        assert solution.status == "optimal"
        assert best - 1e-6 * abs(best) - 1e-9 <= solution.value <= best + 1e-9 * (1 + abs(best))
        assert solution.upper_bound >= best - 1e-14 * abs(best)


def test_equals_brute_force_at_twelve_variables():
    rng = np.random.default_rng(6)
    B = rng.normal(size=(12, 12))
    for A in (B @ B.T, B + B.T):
        problem = SparseTrustRegion(A, 0.3 * B[0], 4)
        solution = solve(problem, Misdp())
        assert solution.status == "optimal"
        assert solution.value == pytest.approx(solve(problem, "brute-force").value, rel=1e-4)


def hard():
    B = np.random.default_rng(7).normal(size=(20, 20))
    return SparseTrustRegion(B + B.T, np.zeros(20), 6)


def test_node_limit_leaves_a_valid_bound():
    full = solve(hard(), Misdp())
    for nodes in (0, 1, 3):
        limited = solve(hard(), Misdp(max_nodes=nodes))
        assert limited.iterations <= nodes
        assert limited.status == "feasible"
        assert full.value <= limited.upper_bound


@pytest.mark.parametrize("relaxation", ["admm", "conic"])
def test_time_limit_leaves_a_valid_bound(relaxation):
    best = solve(hard(), Misdp()).value
    for readings in (0, 5, 20):
        solution = Misdp(relaxation=relaxation).solve(hard(), stopped_after(readings, gap=1e-9))
        assert solution.status == "time_limit"
        assert max(best, solution.value) <= solution.upper_bound


def test_interrupt_returns_the_best_so_far():
    def interrupt(iterations, value, bound):
        if iterations >= 2:
            raise KeyboardInterrupt

    solution = Misdp().solve(hard(), replace(Control(), progress=interrupt))
    assert solution.iterations == 2
    assert solve(hard(), Misdp()).value <= solution.upper_bound


def test_bad_settings_are_refused(monkeypatch):
    problem = SparseTrustRegion(np.eye(5), np.arange(5.0), 2)
    with pytest.raises(InputError, match="at most 4 variables; got D = 5"):
        solve(problem, Misdp(largest=4))
    with pytest.raises(InputError, match="relaxation"):
        Misdp(relaxation="lp")
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(MissingDependencyError, match=r"'misdp'.*tellapart\[solvers\]"):
        solve(problem, Misdp(relaxation="conic"))
    assert solve(problem, Misdp()).status == "optimal"
