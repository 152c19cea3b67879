"""What is proved about a choice, and that it is true."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from slow_oracle import nonnegative_optimum, ratio_optimum
from small_problems import objective

from bench_search_small import best_of_all_supports
from tellapart.budget import Budget, using_budget
from tellapart.errors import InputError
from tellapart.kernels import Linear, Quadratic
from tellapart.search import QUICK, Annealing
from tellapart.search.choice import HEURISTICS, Solvers, choose_weights, resolve_solver
from tellapart.search.starts import ratio_problem
from tellapart.selection.select_variables import select_variables
from tellapart.selection.selection import Selection
from tellapart.statistics.coefficients import linear_coefficients
from tellapart.statistics.objective import Objective
from tellapart.strs import SOLVERS, solve
from tellapart.strs.contract import Control
from tellapart.strs.problem import SparseTrustRegion, polish

UNCERTIFIED = Budget(certified_columns=0)


def choose(goal, d, solver="auto", wanted=None, **control):
    settings = Control(rng=np.random.default_rng(0), **control)
    solvers = solver
    if not isinstance(solver, Solvers):
        solvers = resolve_solver(solver, goal.kernel.abilities)
    given = (goal.samples, goal.kernel, d, goal.regularization)
    return choose_weights(*given, solvers=solvers, control=settings, **(wanted or {}))


def best_without_variance(goal, d):
    """Return the optimum at λ = 0: every support, solved exactly."""
    problem = SparseTrustRegion(*goal.quadratic_form(), d)
    size = problem.n_columns
    return max(polish(problem, np.array(s))[1] for s in combinations(range(size), d))


@pytest.mark.parametrize("d", [1, 2, 3, 8])
@pytest.mark.parametrize("kind", ["pair", "null"])
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


@pytest.mark.parametrize(("kind", "d"), [("shift", 2), ("signs", 3)])
def test_with_variance_the_bound_is_that_of_the_problem_without(kind, d):
    goal = objective(kind, "quadratic", 0.5)
    with using_budget(UNCERTIFIED):
        choice = choose(goal, d)
    free = best_without_variance(goal, d)
    best = best_of_all_supports(goal, d, n_points=40, n_polished=2, seed=0)
    assert choice.upper_bound >= best
    assert choice.upper_bound == pytest.approx(free, rel=1e-3)
    assert choice.value <= best + 1e-9
    assert choice.status == "feasible"
    assert choice.solver == "annealing"
    assert len(choice.history) > 0


@pytest.mark.parametrize(
    ("kernel", "regularization", "solver"),
    [
        ("rational", 0.5, "auto"),
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
    with using_budget(UNCERTIFIED):
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


UPRIGHT = {"nonnegative": True}


def linear_goal(regularization=0.1, kind="null"):
    samples = objective(kind).samples
    return Objective(samples.x, samples.y, Linear(), regularization)


@pytest.mark.parametrize("kind", ["pair", "null"])
def test_nonnegative_weights_of_the_quadratic_kernel_are_proved_best_without_variance(kind):
    goal = objective(kind, "quadratic", 0.0)
    best = nonnegative_optimum(*goal.quadratic_form(), 3, np.random.default_rng(0))
    for solver in ("auto", "branch-and-bound", "annealing"):
        choice = choose(goal, 3, solver, UPRIGHT)
        assert (choice.z >= 0).all()
        assert choice.value == pytest.approx(best, rel=1e-6)
        assert choice.value == pytest.approx(goal.value(choice.z), rel=1e-12)
        assert choice.status == "optimal"


@pytest.mark.parametrize("kernel", ["quadratic", "cube"])
def test_nonnegative_weights_with_variance(kernel):
    goal = objective("null", kernel, 0.5)
    for solver in (Annealing(iterations=3), HEURISTICS):
        choice = choose(goal, 3, solver, UPRIGHT)
        assert (choice.z >= 0).all()
        assert choice.value == pytest.approx(goal.value(choice.z), rel=1e-9)
    bounded = choose(goal, 3, Annealing(iterations=3), UPRIGHT)
    free = choose(goal, 3, Annealing(iterations=3))
    if kernel == "quadratic":
        assert bounded.value <= bounded.upper_bound <= free.upper_bound * (1 + 1e-3)


@pytest.mark.parametrize("regularization", [0.0, 0.1])
def test_nonnegative_weights_of_the_linear_kernel(regularization):
    goal = linear_goal(regularization)
    found = linear_coefficients(goal.samples, goal.kernel)
    best = nonnegative_optimum(-regularization * found.V, found.a, 3, np.random.default_rng(0))
    choice = choose(goal, 3, "branch-and-bound", UPRIGHT)
    assert choice.status == "optimal"
    assert choice.value == pytest.approx(best, rel=1e-4)
    for solver in ("auto", HEURISTICS):
        choice = choose(goal, 3, solver, UPRIGHT)
        assert (choice.z >= 0).all()
        assert choice.value == pytest.approx(goal.value(choice.z), rel=1e-9)
    assert (choose(goal, 3).z < 0).any()


@pytest.mark.parametrize("nonnegative", [False, True])
def test_the_best_ratio(nonnegative):
    goal = linear_goal()
    problem = ratio_problem(linear_coefficients(goal.samples, goal.kernel), 3, 0.1)
    best = ratio_optimum(problem.M, problem.a, 3, nonnegative)
    wanted = {"objective": "ratio", "nonnegative": nonnegative}
    for solver in ("auto", "branch-and-bound", HEURISTICS):
        choice = choose(goal, 3, solver, wanted)
        assert not nonnegative or (choice.z >= 0).all()
        assert choice.value == pytest.approx(problem.value(choice.z))
        if solver is HEURISTICS:
            assert (choice.upper_bound, choice.solver) == (None, "thresholding")
            assert 0 < choice.value <= best * (1 + 1e-9)
        else:
            assert choice.value == pytest.approx(best, rel=1e-4)
            assert choice.status == "optimal"


def test_what_cannot_be_chosen_is_refused():
    quadratic, linear = objective("null", "quadratic", 0.0), linear_goal()
    with pytest.raises(InputError, match="objective 'ratio' is for the linear kernel"):
        choose(quadratic, 2, wanted={"objective": "ratio"})
    with pytest.raises(InputError, match="objective must be one of 'regularized', 'ratio'"):
        choose(linear, 2, wanted={"objective": "power"})
    for goal in (quadratic, linear):
        with pytest.raises(InputError, match="for nonnegative weights"):
            choose(goal, 2, "sdp", UPRIGHT)


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
    # A clock that stands still: what tuning takes is taken off the limit of the choice.
    still = partial(Control, clock=lambda: 0.0)
    monkeypatch.setattr("tellapart.selection.pipeline.Control", still)
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 5)), rng.normal(size=(25, 5))
    for given in ({}, {"time_limit": 60}, {"kernel": "quadratic", "regularization": 0}):
        select_variables(X, Y, 2, **{"kernel": "linear", "random_state": 0, **given})
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
        "not proved to be optimal among all subsets of at most 1 variable (relative gap 36 %; "
        "branch-and-bound, 10.00 s; a longer time_limit may prove more)"
    )
