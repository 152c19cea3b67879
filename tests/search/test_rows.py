"""A search on some rows: which rows, and an answer that is of all rows."""

import numpy as np
import pytest
from small_problems import samples_of

from tellapart.errors import InputError
from tellapart.kernels import Gaussian, Quadratic
from tellapart.search import Annealing
from tellapart.search.many_rows import finished_on_all_rows, on_some_rows
from tellapart.statistics.objective import FittedObjective, Objective
from tellapart.strs.contract import Control

QUICK = {"iterations": 0, "n_random": 0, "n_exchanged": 1, "largest_group": 2}


def goal_of(kernel, m=400, n=90, D=6, regularization=0.1):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(m, D)), rng.normal(size=(n, D))
    y[:, 2] += 1.0
    y[:, 4] *= 2.0
    return Objective(x, y, kernel, regularization)


def test_few_rows_are_left_alone_and_draw_nothing():
    goal, rng = goal_of(Gaussian(), 40, 30), np.random.default_rng(0)
    assert on_some_rows(goal, 40, rng) is goal
    assert rng.integers(2**62) == np.random.default_rng(0).integers(2**62)


def test_only_the_longer_sample_is_cut_and_the_kernel_stays():
    goal = goal_of(Gaussian())
    part = on_some_rows(goal, 100, np.random.default_rng(0))
    assert (part.samples.n_x, part.samples.n_y) == (100, 90)
    assert (part.kernel, part.regularization) == (goal.kernel, 0.1)
    whole = {row.tobytes() for row in np.asarray(goal.samples.x)}
    drawn = {row.tobytes() for row in np.asarray(part.samples.x)}
    assert len(drawn) == 100
    assert drawn <= whole
    assert np.array_equal(part.samples.y, goal.samples.y)


@pytest.mark.parametrize("kernel", [Gaussian(), Quadratic()])
def test_finished_weights_are_best_on_all_rows(kernel):
    goal = goal_of(kernel)
    z = np.array([0.0, 0.0, 0.6, 0.0, 0.8, 0.0])
    peak = finished_on_all_rows(goal, [z], 2, Control())
    assert peak.value == pytest.approx(goal.value(peak.z), rel=1e-10)
    assert set(peak.support.tolist()) <= {2, 4}
    for angle in np.linspace(0, np.pi, 60):
        other = np.zeros(6)
        other[2], other[4] = np.cos(angle), np.sin(angle)
        assert goal.value(other) <= peak.value + 1e-9


@pytest.mark.parametrize("kernel", [Gaussian(), Quadratic()])
def test_variables_that_all_rows_speak_for_are_added(kernel):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 6)), rng.normal(size=(200, 6)) + np.eye(6)[[2, 4]].sum(axis=0)
    goal, start = Objective(x, y, kernel, 1.0), np.eye(6)[2]
    peak = finished_on_all_rows(goal, [start], 3, Control())
    assert {2, 4} <= set(peak.support.tolist())
    assert peak.value > 1.05 * goal.value(start)
    assert finished_on_all_rows(goal, [start], 1, Control()).support.tolist() == [2]


def test_all_rows_speak_for_positive_weights_only_where_asked():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 6)), rng.normal(size=(200, 6))
    y[:, 2] += 1.0
    samples = samples_of(x, y)
    goal = FittedObjective(samples, Quadratic().fit(samples), 1.0)
    start = np.eye(6)[2]
    assert (finished_on_all_rows(goal, [start], 3, Control()).z < 0).any()
    goal.nonnegative = True
    assert on_some_rows(goal, 100, rng).nonnegative
    peak = finished_on_all_rows(goal, [start], 3, Control())
    assert (peak.z >= 0).all()
    assert peak.value >= goal.value(start) - 1e-12
    assert peak.value == pytest.approx(goal.value(peak.z), rel=1e-10)


@pytest.mark.parametrize("kernel", [Gaussian(), Quadratic()])
def test_a_search_on_some_rows_answers_for_all(kernel):
    goal = goal_of(kernel)
    some, every = (
        Annealing(most_rows=rows, **QUICK).search(goal, 2, Control(rng=np.random.default_rng(1)))
        for rows in (200, 1_000)
    )
    assert some.value == pytest.approx(goal.value(some.z), rel=1e-10)
    assert np.linalg.norm(some.z) == pytest.approx(1.0)
    assert some.value == pytest.approx(every.value, rel=1e-6)
    if goal.squares_weights:
        assert (some.z >= 0).all()


def test_too_few_rows_to_search_on_are_refused():
    with pytest.raises(InputError, match="most_rows must be an integer of at least 8; got 3"):
        Annealing(most_rows=3)
