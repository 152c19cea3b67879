"""Outer approximation: exact, with a proved bound whenever it stops."""

import sys

import numpy as np
import pytest
from cut_sources import hull_cuts
from held_clock import stopped_after, stopped_by_progress
from instances import KINDS, best_value, gram, problem_of, scale_of

from tellapart.errors import InputError, MissingDependencyError
from tellapart.strs import ShiftedFactor, SparseTrustRegion, solve
from tellapart.strs.bounds.cut_loop import Master
from tellapart.strs.contract import Control
from tellapart.strs.problem import polish
from tellapart.strs.solvers.outer_approximation import OuterApproximation


def check(problem, solution):
    best = best_value(problem)
    assert solution.status == "optimal"
    assert solution.value >= best - 1e-4 * abs(best) - problem.resolution
    assert solution.upper_bound >= best - 1e-12 * scale_of(problem)
    assert solution.value == problem.value(solution.z)
    assert solution.support.shape[0] <= problem.d


@pytest.mark.parametrize(("size", "d"), [(1, 1), (6, 1), (8, 3), (5, 5)])
def test_equals_brute_force(size, d):
    for kind in KINDS:
        problem = problem_of(kind, max(size, 2) if kind == "hard case" else size, d)
        check(problem, solve(problem, OuterApproximation()))


@pytest.mark.parametrize("cuts", ["closed-form", "sdp"])
def test_either_kind_of_cut_is_exact(cuts):
    for kind in ("PSD", "NSD", "indefinite", "no linear term", "ties", "low rank"):
        problem = problem_of(kind, 7, 3, seed=1)
        check(problem, solve(problem, OuterApproximation(cuts=cuts)))


@pytest.mark.parametrize("kind", ["PSD", "NSD", "indefinite", "no linear term"])
def test_twelve_variables(kind):
    problem = problem_of(kind, 12, 4)
    check(problem, solve(problem, OuterApproximation()))


def test_scale_changes_nothing():
    for scale in (1e-8, 1e6):
        problem = problem_of("indefinite", 7, 3, scale=scale)
        check(problem, solve(problem, OuterApproximation()))


def test_tight_gap():
    problem = problem_of("NSD", 8, 3)
    solution = solve(problem, OuterApproximation(), gap=1e-8)
    assert solution.upper_bound - solution.value <= 1e-6 * abs(solution.value)


def test_factor():
    rng = np.random.default_rng(1)
    problem = SparseTrustRegion(ShiftedFactor(0.3, rng.normal(size=(4, 9))), rng.normal(size=9), 3)
    check(problem, solve(problem, OuterApproximation()))


def test_the_printed_stopping_rule_stops_at_once():
    # f(q) − f̄(q) < ε holds at every q since f ≤ f̄: the printed test ends at the first master
    # solution, optimal or not.
    found = False
    for seed in range(10):
        problem = problem_of("indefinite", 8, 3, seed=seed)
        source = hull_cuts(problem)
        best = best_value(problem)
        master = Master(
            source.forced, 3, best - 1.0, source.bound + 1.0, source.seed(), solver="test"
        )
        q = master.solve(Control(), tolerance=0.0).points[0]
        value = polish(problem, np.flatnonzero(q))[1]
        over = min(cut.at(q) for cut in source.seed())
        assert value - over < 1e-9
        if value < best - 0.01 * abs(best):
            found = True
            assert over - value > 0.01 * abs(best)
            check(problem, solve(problem, OuterApproximation()))
            break
    assert found


def test_linear_kernel_like_problem_of_forty():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(60, 40)) / 8
    a = np.where(np.arange(40) < 8, 1.0, 0.2) * np.abs(rng.normal(size=40))
    problem = SparseTrustRegion(-0.5 * B.T @ B, a, 6)
    solution = solve(problem, OuterApproximation())
    reference = solve(problem, "branch-and-bound")
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(reference.value, rel=1e-4)


def test_start_is_used():
    problem = problem_of("indefinite", 8, 3)
    best = solve(problem, "brute-force")
    solution = OuterApproximation().solve(problem, stopped_after(0), best.support)
    assert solution.value >= best.value - 1e-9


@pytest.mark.parametrize(("cuts", "size"), [("closed-form", 30), ("sdp", 12)])
def test_time_limit(cuts, size):
    rng = np.random.default_rng(0)
    problem = SparseTrustRegion(gram(rng, size), np.zeros(size), 4)
    top = np.linalg.eigvalsh(problem.A)[-1]
    for control in (stopped_after(0), stopped_after(40), stopped_by_progress(gap=1e-9)):
        solution = OuterApproximation(cuts=cuts).solve(problem, control)
        assert solution.status == "time_limit"
        assert solution.value <= solution.upper_bound <= top * (1 + 1e-6)


def test_no_time_at_all_still_bounds():
    problem = problem_of("indefinite", 9, 3)
    solution = OuterApproximation().solve(problem, stopped_after(0))
    assert solution.upper_bound >= best_value(problem)
    limit = np.linalg.eigvalsh(problem.A)[-1] + np.linalg.norm(problem.a)
    assert solution.upper_bound <= limit * (1 + 1e-9)


def test_interrupt_returns_what_is_proved():
    problem = problem_of("no linear term", 20, 5)

    def press(iterations, value, bound):
        raise KeyboardInterrupt

    solution = solve(problem, OuterApproximation(cuts="closed-form"), gap=1e-9, progress=press)
    assert solution.iterations == 1
    assert solution.upper_bound >= solution.value
    assert solution.status == "feasible"


def test_reports_progress():
    seen = []
    problem = problem_of("indefinite", 9, 3)
    solve(problem, OuterApproximation(), progress=lambda *state: seen.append(state))
    assert all(bound is None or bound >= value for _, value, bound in seen)


def test_bad_settings():
    problem = problem_of("PSD", 6, 2)
    with pytest.raises(InputError, match="cuts must be one of"):
        OuterApproximation(cuts="gomory")
    with pytest.raises(InputError, match="at most 5 variables; got D = 6"):
        solve(problem, OuterApproximation(largest=5))
    with pytest.raises(InputError, match="at most 60 variables; got D = 61"):
        solve(SparseTrustRegion(np.eye(61), np.ones(61), 3), OuterApproximation(cuts="sdp"))


@pytest.mark.parametrize("module", ["clarabel", "highspy"])
def test_missing_dependency(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=r"tellapart\[solvers\]"):
        solve(problem_of("PSD", 6, 2), OuterApproximation())


def test_closed_form_needs_highs_only(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    problem = problem_of("indefinite", 7, 3)
    check(problem, solve(problem, OuterApproximation(cuts="closed-form")))
