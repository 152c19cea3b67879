"""One annealed run: honest about where it went, and the best point is kept."""

import numpy as np
import pytest
from small_problems import KERNELS, SIGNS_MATTER, objective, point

from tellapart.kernels import Gaussian
from tellapart.search.annealing import COLDEST, HOTTEST, anneal, best_of_model, exchange
from tellapart.search.sphere import model
from tellapart.statistics.objective import Objective
from tellapart.strs.contract import Control
from tellapart.strs.problem import SparseTrustRegion
from tellapart.strs.solvers.brute_force import BruteForce

every_kernel = pytest.mark.parametrize("kernel", KERNELS)


def run(goal, n_variables=3, iterations=15, seed=0, control=None):
    rng = np.random.default_rng(seed)
    z = point(np.sort(rng.choice(8, n_variables, replace=False)), 8, rng)
    peak, trace = anneal(
        goal,
        "test",
        z,
        n_variables,
        iterations=iterations,
        rng=rng,
        control=control or Control(),
    )
    return z, peak, trace


@every_kernel
@pytest.mark.parametrize("regularization", [0.0, 0.5])
def test_the_trace_says_what_happened_and_the_best_is_kept(kernel, regularization):
    goal = objective("pair", kernel, regularization)
    for seed in range(3):
        z, peak, trace = run(goal, seed=seed)
        assert trace.start == "test"
        assert len(trace.values) == 16
        assert len(trace.accepted) == len(trace.temperatures) == 15
        assert trace.values[0] == pytest.approx(goal.value(z), abs=1e-14)
        # A step that was not taken leaves the value as it was, and one uphill is always taken.
        for before, after, taken in zip(
            trace.values, trace.values[1:], trace.accepted, strict=False
        ):
            assert taken or before == after
        assert trace.best == peak.value == max(trace.values)
        assert peak.value == pytest.approx(goal.value(peak.z), abs=1e-13)
        assert np.linalg.norm(peak.z) == pytest.approx(1.0)
        assert np.count_nonzero(peak.z) <= 3


def test_some_runs_go_downhill_and_none_returns_the_last_point_if_worse():
    goal = objective("null", "gaussian", 0.5)
    traces = [run(goal, iterations=30, seed=seed)[2] for seed in range(8)]
    assert any(b < a for t in traces for a, b in zip(t.values, t.values[1:], strict=False))
    assert any(trace.best > trace.values[-1] for trace in traces)


def test_it_cools_in_units_of_the_first_value():
    _, _, trace = run(objective())
    first = abs(trace.values[0])
    assert trace.temperatures[0] == pytest.approx(HOTTEST * first)
    assert trace.temperatures[-1] == pytest.approx(COLDEST * first)
    assert list(trace.temperatures) == sorted(trace.temperatures, reverse=True)


def test_the_same_seed_gives_the_same_run():
    goal = objective("pair")
    (_, one, first), (_, other, second) = run(goal, seed=4), run(goal, seed=4)
    np.testing.assert_array_equal(one.z, other.z)
    assert first == second


@pytest.mark.parametrize("control", [Control(), Control(time_limit=1e-9)])
def test_without_steps_or_time_the_start_is_returned(control):
    goal = objective()
    iterations = 0 if control.time_limit is None else 15
    z, peak, trace = run(goal, iterations=iterations, control=control)
    np.testing.assert_array_equal(peak.z, z)
    assert trace.values == (peak.value,)
    assert trace.accepted == trace.temperatures == ()


@every_kernel
def test_the_proposal_is_the_best_of_the_model_among_few_columns(kernel):
    """With 8 columns and 2 chosen, all the others may come in: brute force must agree."""
    goal = objective("shift", kernel)
    for seed in range(5):
        z = point([1, 5], 8, np.random.default_rng(seed))
        here = goal.derivatives(z)
        A, a = model(here, z, 0.5 * np.abs(here.hessian).sum(axis=0).max())
        found = best_of_model(A, a, z, 2, Control(), squares=goal.squares_weights)
        problem = SparseTrustRegion(A, a, 2)
        best = BruteForce().solve(problem, Control()).value
        assert np.count_nonzero(found) <= 2
        assert np.linalg.norm(found) == pytest.approx(1.0)
        assert problem.value(found) >= problem.value(z) - 1e-14
        # Swaps find a local maximum; from a random point most often the best of all.
        assert problem.value(found) >= best - 0.2 * abs(best - problem.value(z))


@pytest.mark.parametrize("kernel", SIGNS_MATTER)
def test_a_run_within_the_orthant_never_leaves_it(kernel):
    goal = objective("pair", kernel, 0.5, nonnegative=True)
    asked, plain = [], goal.derivatives
    goal.derivatives = lambda z: asked.append(z) or plain(z)
    z = np.array([0.6, 0.0, 0.8, *np.zeros(5)])
    rng = np.random.default_rng(0)
    settings = {"iterations": 15, "rng": rng, "control": Control()}
    peak, trace = anneal(goal, "test", z, 3, **settings)
    assert len(asked) == 16
    assert (np.array(asked) >= 0).all()
    assert peak.value == max(trace.values) == pytest.approx(goal.value(peak.z), abs=1e-12)
    assert np.count_nonzero(peak.z) <= 3


@pytest.mark.parametrize("kernel", SIGNS_MATTER)
def test_the_proposal_within_the_orthant_is_the_best_of_the_model(kernel):
    goal = objective("shift", kernel)
    for seed in range(5):
        z = np.abs(point([1, 5], 8, np.random.default_rng(seed)))
        here = goal.derivatives(z)
        A, a = model(here, z, 0.5 * np.abs(here.hessian).sum(axis=0).max())
        found = best_of_model(A, a, z, 2, Control(), squares=False, nonnegative=True)
        problem = SparseTrustRegion(A, a, 2, nonnegative=True)
        best = BruteForce().solve(problem, Control()).value
        assert (found >= 0).all()
        assert problem.value(z) - 1e-14 <= problem.value(found) <= best + 1e-12 * abs(best)
        assert problem.value(found) >= best - 0.2 * abs(best - problem.value(z))


@pytest.mark.parametrize("unit", [1e-140, 1.0, 1e140])
def test_the_proposal_does_not_depend_on_the_unit_of_the_objective(unit):
    goal = objective()
    z = point([1, 5], 8, np.random.default_rng(0))
    A, a = model(goal.derivatives(z), z, 0.1)
    plain = best_of_model(A, a, z, 2, Control(), squares=True)
    scaled = best_of_model(unit * A, unit * a, z, 2, Control(), squares=True)
    np.testing.assert_allclose(np.abs(scaled), np.abs(plain), atol=1e-9)


def test_a_model_of_nothing_has_a_point_too():
    z = point([0, 2], 4, np.random.default_rng(0))
    found = best_of_model(np.zeros((4, 4)), np.zeros(4), z, 2, Control(), squares=True)
    assert np.linalg.norm(found) == pytest.approx(1.0)


def test_an_exchange_changes_one_variable():
    rng = np.random.default_rng(0)
    z = point([0, 3, 6], 8, rng)
    for _ in range(10):
        moved = exchange(z, 3, rng)
        assert len(set(np.flatnonzero(moved)) & {0, 3, 6}) == 2
        assert sorted(np.abs(moved)) == pytest.approx(sorted(np.abs(z)))
        more = exchange(z, 4, rng)
        assert np.count_nonzero(more) == 4
        assert np.linalg.norm(more) == pytest.approx(1.0)
    np.testing.assert_array_equal(exchange(np.array([0.6, 0.8]), 2, rng), [0.6, 0.8])


def test_rows_far_out_do_not_stop_a_run():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 8)), rng.normal(size=(25, 8))
    x[0, 0], y[1, 1] = 1e150, -1e150
    _, peak, trace = run(Objective(x, y, Gaussian(), 0.5), n_variables=2)
    assert np.isfinite(peak.value)
    assert len(trace.accepted) == 15
