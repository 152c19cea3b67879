"""The solver "misdp": exact, with valid bounds whenever it stops."""

import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from held_clock import stopped_after
from hypothesis import given
from hypothesis import strategies as st
from instances import any_matrix, examples

from tellapart.errors import InputError, MissingDependencyError
from tellapart.strs import SparseTrustRegion, solve
from tellapart.strs.contract import Control
from tellapart.strs.domains import maximise_on_sphere
from tellapart.strs.solvers import misdp
from tellapart.strs.solvers.misdp import Misdp, spectral_bound


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


def test_nodes_without_memory_for_iterates_prove_the_same(monkeypatch):
    full = solve(hard(), Misdp())
    monkeypatch.setattr(misdp, "HELD_BYTES", 0)
    again = solve(hard(), Misdp())
    assert again.status == full.status == "optimal"
    assert again.support.tolist() == full.support.tolist()


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


@examples(60)
@given(st.integers(0, 10**6))
def test_holds_at_every_support(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 8))
    forced_count = int(rng.integers(0, size))
    picks = int(rng.integers(0 if forced_count else 1, size - forced_count + 1))
    A = rng.standard_normal((size, size)) * 10.0 ** rng.integers(-6, 7)
    A = A + A.T if seed % 2 else A @ A.T
    a = rng.standard_normal(size) * rng.choice([0.0, 1.0, 100.0])
    forced = np.zeros(size, dtype=bool)
    forced[rng.permutation(size)[:forced_count]] = True
    bound = spectral_bound(A, a, forced, picks)
    inside, free = np.flatnonzero(forced), np.flatnonzero(~forced)
    for chosen in combinations(free, picks):
        support = np.sort(np.concatenate([inside, np.array(chosen, dtype=np.intp)]))
        _, value = maximise_on_sphere(A[np.ix_(support, support)], a[support])
        assert value <= bound


def test_is_exact_for_a_diagonal_matrix() -> None:
    A = np.diag([1.0, 5.0, 3.0])
    bound = spectral_bound(A, np.zeros(3), np.zeros(3, dtype=bool), 2)
    assert bound == pytest.approx(5.0, rel=1e-12)


def test_a_forced_small_variable_lowers_the_bound() -> None:
    A = np.ones((6, 6))
    A[0, 1:] = A[1:, 0] = 0.0
    forced = np.zeros(6, dtype=bool)
    free_bound = spectral_bound(A, np.zeros(6), forced, 3)
    forced[0] = True
    assert spectral_bound(A, np.zeros(6), forced, 2) < free_bound


def test_a_node_whose_variables_are_all_given_up_is_closed():
    A = np.array([[1.246, -0.401, 1.273], [-0.401, 1.456, -2.145], [1.273, -2.145, -0.131]])
    problem = SparseTrustRegion(A, np.array([-1.0615, -0.4745, -0.3794]), 1)
    solution = solve(problem, "misdp", gap=0.05)
    assert solution.status == "optimal"
    assert solution.upper_bound >= solve(problem, "brute-force").value
