"""Candidates among many columns, and the others that come in when they promise more."""

import numpy as np
import pytest
from small_problems import samples_of

from tellapart.kernels import Gaussian, Quadratic
from tellapart.search.sphere import climb
from tellapart.search.starts import MOST_ROUNDS, Scores, Screen, equal, widened
from tellapart.statistics.objective import FittedObjective

KERNELS = [Gaussian(), Quadratic()]


def problem(kernel, n_columns=40, seed=0, nonnegative=False):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(30, n_columns)), rng.normal(size=(35, n_columns))
    y[:, [3, 17, 31]] += 1.5
    samples = samples_of(x, y)
    return FittedObjective(samples, kernel.fit(samples), 0.1, nonnegative=nonnegative)


def scores_with(n_columns=40, linear=(5,), groups=()):
    return Scores(np.zeros(n_columns), equal(np.array(linear), n_columns), groups)


@pytest.mark.parametrize("kernel", KERNELS)
def test_few_columns_are_all_candidates(kernel):
    goal = problem(kernel)
    for most, n_variables in ((40, 2), (2, 10)):
        screen = Screen.of(goal, scores_with(), n_variables, most)
        assert screen.columns.tolist() == list(range(40))
        assert screen.objective is goal


@pytest.mark.parametrize("kernel", KERNELS)
def test_candidates_are_those_of_the_starts_and_the_steepest(kernel):
    goal = problem(kernel)
    scores = scores_with(linear=(5, 6), groups=((8, 9), (20, 21, 22)))
    screen = Screen.of(goal, scores, 2, 16, must=[39])
    assert {5, 6, 8, 9, 20, 21, 22, 39} <= set(screen.columns.tolist())
    assert {3, 17, 31} <= set(screen.columns.tolist())  # by slope: their scores say nothing
    assert screen.columns.shape == (16,)
    assert (np.diff(screen.columns) > 0).all()
    z = np.zeros(16)
    z[[0, 4]] = 0.6, 0.8
    full = screen.embedded(z)
    assert full.shape == (40,)
    assert screen.objective.value(z) == pytest.approx(goal.value(full), abs=1e-13)
    inside = screen.restricted(scores)
    assert [tuple(screen.columns[list(g)]) for g in inside.groups] == [(8, 9), (20, 21, 22)]
    assert set(screen.columns[np.flatnonzero(inside.linear)]) == {5, 6}


def test_the_starts_stay_even_where_few_candidates_are_wanted():
    groups = ((0, 1), (2, 4), (6, 7), (8, 9, 10), (11, 12, 13), (14, 15, 16))
    screen = Screen.of(problem(Gaussian()), scores_with(groups=groups), 3, 2, must=[37, 38, 39])
    assert {s for group in groups for s in group} | {5, 37, 38, 39} <= set(screen.columns.tolist())
    assert len(screen.restricted(scores_with(groups=groups)).groups) == 6


@pytest.mark.parametrize("kernel", KERNELS)
def test_columns_that_promise_more_come_in(kernel):
    goal = problem(kernel)
    columns = np.array([0, 1, 2, 4])
    screen = Screen(columns, goal.columns(columns), 40)
    z = screen.embedded(climb(screen.objective, np.full(4, 0.5)).z)
    wider = widened(screen, goal, z, 2)
    assert {3, 17, 31} <= set(wider.columns.tolist())
    assert set(columns.tolist()) <= set(wider.columns.tolist())
    assert wider.rounds == 2
    assert wider.objective.samples.n_columns == wider.columns.shape[0]


def test_a_negative_slope_promises_nothing_within_the_orthant():
    goal = problem(Quadratic(), nonnegative=True)
    columns = np.array([3, 17, 31])
    screen = Screen(columns, goal.columns(columns), 40)
    assert screen.objective.nonnegative
    z = screen.embedded(climb(screen.objective, np.full(3, 3**-0.5)).z)
    slopes = goal.weight_slopes(z)
    wider = widened(screen, goal, z, 40)
    newcomers = np.setdiff1d(wider.columns, columns)
    assert (slopes[newcomers] > 0).all()
    assert (np.delete(slopes, wider.columns) <= slopes[newcomers].min()).all()
    chosen = Screen.of(goal, scores_with(), 2, 8).columns
    assert {3, 17, 31} <= set(chosen.tolist())


def test_screening_ends():
    goal = problem(Gaussian())
    columns = np.array([0, 1, 2, 4])
    z = np.zeros(40)
    z[0] = 1.0
    last = Screen(columns, goal.columns(columns), 40, rounds=MOST_ROUNDS)
    assert widened(last, goal, z, 1) is None
    everything = Screen(np.arange(40), goal, 40)
    assert widened(everything, goal, z, 1) is None


def test_the_best_columns_leave_nothing_to_promise():
    goal = problem(Quadratic())
    columns = np.array([3, 17, 31])
    screen = Screen(columns, goal.columns(columns), 40)
    z = screen.embedded(climb(screen.objective, np.full(3, 3**-0.5)).z)
    assert widened(screen, goal, z, 3) is None
