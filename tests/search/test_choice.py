"""What is proved about a choice, and that it is true."""

from itertools import combinations

import numpy as np
import pytest
from small_problems import objective

from bench_search_small import best_of_all_supports
from each import each
from tellapart.kernels import Quadratic
from tellapart.search import QUICK, Annealing
from tellapart.search.choice import choose_weights, resolve_solver
from tellapart.selection.select_variables import select_variables
from tellapart.selection.selection import Selection
from tellapart.statistics.objective import Objective
from tellapart.strs import SOLVERS, solve
from tellapart.strs.control import Control
from tellapart.strs.problem import SparseTrustRegion
from tellapart.strs.trust_region import polish


def choose(goal, d, solver="auto", **control):
    settings = Control(rng=np.random.default_rng(0), **control)
    solvers = resolve_solver(solver, goal.kernel.abilities)
    given = (goal.samples, goal.kernel, d, goal.regularization)
    return choose_weights(*given, solvers=solvers, control=settings)


def best_without_variance(goal, d):
    """Return the optimum at λ = 0: every support, solved exactly."""
    problem = SparseTrustRegion(*goal.quadratic_form(), d)
    size = problem.n_columns
    return max(polish(problem, np.array(s))[1] for s in combinations(range(size), d))


@each("d", [1, 2, 3, 8])
@each("kind", ["pair", "null"])
def test_the_quadratic_kernel_without_variance_is_solved_with_a_proof(kind, d):
    goal = objective(kind, "quadratic", 0.0)
    choice, best = choose(goal, d), best_without_variance(goal, d)
    assert choice.status == "optimal"
    assert choice.value == pytest.approx(best, rel=1e-9)
    assert choice.upper_bound == pytest.approx(best, rel=1e-4)
    assert choice.upper_bound >= best - 1e-12
    assert choice.value == pytest.approx(goal.value(choice.z), rel=1e-12)
    assert choice.history == ()
    assert choice.solver in SOLVERS


@each("kind, d", [("shift", 2), ("signs", 3)])
def test_with_variance_the_bound_is_that_of_the_problem_without(kind, d):
    goal = objective(kind, "quadratic", 0.5)
    choice = choose(goal, d)
    free = best_without_variance(goal, d)
    best = best_of_all_supports(goal, d, n_points=40, n_polished=2, seed=0)
    assert choice.upper_bound >= best
    assert choice.upper_bound == pytest.approx(free, rel=1e-3)
    assert choice.value <= best + 1e-9
    assert choice.status == "feasible"
    assert choice.solver == "annealing"
    assert len(choice.history) > 0


@each(
    "kernel, regularization, solver",
    [
        ("gaussian", 0.5, "auto"),
        ("gaussian", 0.0, Annealing(iterations=2)),
        ("rational", 0.0, Annealing(iterations=2)),
        ("cube", 0.5, Annealing(iterations=2)),
    ],
)
def test_nothing_is_proved_for_other_kernels(kernel, regularization, solver):
    choice = choose(objective("shift", kernel, regularization), 2, solver)
    assert choice.upper_bound is None
    assert choice.status == "feasible"
    assert choice.solver == "annealing"


def test_the_search_may_be_asked_for_and_still_has_a_bound():
    goal = objective("pair", "quadratic", 0.0)
    best = best_without_variance(goal, 2)
    for solver in ("annealing", Annealing(iterations=2)):
        choice = choose(goal, 2, solver)
        assert choice.solver == "annealing"
        assert choice.value == pytest.approx(best, rel=1e-9)
        assert choice.status == "optimal"


def test_a_heuristic_for_the_problem_without_variance_proves_nothing():
    goal = objective("pair", "quadratic", 0.5)
    assert choose(goal, 2, "truncation").upper_bound is None
    free = goal.at(0.0)
    choice = choose(free, 2, "truncation")
    assert (choice.upper_bound, choice.solver) == (None, "truncation")


def test_a_quick_search_takes_no_time_for_a_bound():
    choice = choose(objective("pair", "quadratic", 0.5), 2, QUICK)
    assert choice.upper_bound is None
    assert choice.history
    assert all(trace.accepted == () for trace in choice.history)


def test_equal_samples_are_proved_to_be_as_good_as_it_gets():
    goal = objective("null", "quadratic", 0.5)
    x = goal.samples.x
    choice = choose(Objective(x, x, Quadratic(), 0.5), 2)
    assert choice.status == "optimal"  # σ² = 0: the bound is attained
    assert choice.value == pytest.approx(choice.upper_bound, rel=1e-4)


def test_running_out_of_time_is_said():
    choice = choose(objective("shift", "gaussian", 0.5), 3, time_limit=1e-9)
    assert choice.status == "time_limit"
    assert np.linalg.norm(choice.z) == pytest.approx(1.0)


def test_a_proof_has_ten_seconds_unless_a_limit_is_given(monkeypatch):
    limits = []

    def watched(problem, **given):
        limits.append(given["time_limit"])
        return solve(problem, **given)

    monkeypatch.setattr("tellapart.search.choice.solve", watched)
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 5)), rng.normal(size=(25, 5))
    for given in ({}, {"time_limit": 60}, {"kernel": "quadratic", "regularization": 0}):
        select_variables(X, Y, 2, random_state=0, **given)
    assert limits == [10, 60, 10]


def test_the_certificate_says_how_to_ask_for_more():
    problem = {"support": np.arange(1), "z": np.ones(1), "solver": "branch-and-bound"}
    found = Selection(
        **problem,
        value=1.0,
        upper_bound=1.36,
        status="time_limit",
        seconds=10.0,
        kernel="linear",
        names=("x",),
        regularization=0.1,
    )
    assert found.certificate == (
        "proved only that no other choice of at most 1 variable can do better by more than 36 % "
        "(branch-and-bound, 10.00 s; a longer time_limit may prove more)"
    )
