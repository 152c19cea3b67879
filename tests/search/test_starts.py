"""Starts: of every kind, feasible, and none twice."""

import numpy as np
import pytest
from small_problems import KERNELS, SIGNS_MATTER, joint, objective, samples_of

from tellapart.kernels import Gaussian, Linear
from tellapart.search.starts import (
    Scores,
    cut,
    equal,
    feasible,
    grow,
    make_starts,
    score_columns,
    spread,
)
from tellapart.statistics.coefficients import linear_coefficients
from tellapart.statistics.objective import FittedObjective
from tellapart.strs.contract import Control


def scores_of(goal, n_variables, largest_group=3, control=None):
    return score_columns(
        goal.samples,
        n_variables,
        goal.regularization,
        control or Control(),
        largest_group=largest_group,
        n_jobs=1,
        nonnegative=goal.within_orthant,
    )


def starts_of(goal, n_variables, scores, n_random=2, seed=0):
    return make_starts(
        goal,
        n_variables,
        scores,
        n_random=n_random,
        rng=np.random.default_rng(seed),
        control=Control(),
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_variables", [1, 2, 3, 8])
def test_starts_are_feasible_and_distinct(kernel, n_variables):
    goal = objective("pair", kernel)
    starts = starts_of(goal, n_variables, scores_of(goal, n_variables))
    supports = [tuple(np.flatnonzero(start.z)) for start in starts]
    assert len(set(supports)) == len(supports)
    for start in starts:
        assert np.linalg.norm(start.z) == pytest.approx(1.0)
        assert 1 <= np.count_nonzero(start.z) <= n_variables
    assert starts[0].origin == "linear kernel"


@pytest.mark.parametrize("kernel", ["gaussian", "quadratic"])
@pytest.mark.parametrize("n_variables", [1, 2])
def test_scores_of_more_variables_than_wanted_are_cut(kernel, n_variables):
    goal = objective("shift", kernel)
    scores = scores_of(goal, 6)
    assert max(map(len, scores.groups)) == 3
    assert np.count_nonzero(scores.linear) == 6
    for start in starts_of(goal, n_variables, scores):
        assert np.count_nonzero(start.z) <= n_variables


def test_scores_tell_of_single_columns_and_of_groups():
    x, y = joint(8, (120, 120), (2, 6), seed=0)
    y[:, 4] += 2.0
    goal = FittedObjective(samples_of(x, y), Gaussian().fit(samples_of(x, y)), 0.1)
    scores = scores_of(goal, 2)
    assert scores.single.argmax() == 4
    assert scores.linear.argmax() == 4
    assert scores.groups[0] == (2, 6)
    assert len(scores.groups) == 3
    assert {len(group) for group in scores_of(goal, 3).groups} == {2, 3}
    assert scores_of(goal, 3, largest_group=1).groups == ()
    assert scores_of(goal, 1).groups == ()


def test_a_constant_column_has_no_score():
    goal = objective()
    x, y = goal.samples.x.copy(), goal.samples.y.copy()
    x[:, 3] = y[:, 3] = 1.0
    samples = samples_of(x, y)
    scores = scores_of(FittedObjective(samples, Gaussian().fit(samples), 0.1), 3)
    assert scores.single[3] == scores.linear[3] == 0
    assert all(3 not in group for group in scores.groups)


def test_a_short_time_limit_leaves_little_work_for_groups():
    goal = objective(rows=(200, 200))
    assert scores_of(goal, 3, control=Control(time_limit=1e-9)).groups == ()


def test_random_starts_come_from_the_seed():
    goal, n = objective(), 3
    scores = Scores(np.zeros(8), equal(np.array([0]), 8), ())
    one, two, other = (starts_of(goal, n, scores, 4, seed) for seed in (0, 0, 1))
    assert [s.z.tolist() for s in one] == [s.z.tolist() for s in two]
    assert [s.z.tolist() for s in one] != [s.z.tolist() for s in other]
    assert sum(s.origin == "random" for s in one) >= 3


@pytest.mark.parametrize("kernel", ["gaussian", "quadratic"])
def test_growing_never_lowers_the_objective_by_much_and_stops_at_d(kernel):
    goal = objective("shift", kernel, 0.0)
    seed = equal(np.array([0, 5]), 8)
    for n_variables in (2, 3, 5):
        z = grow(goal, seed, n_variables)
        assert np.count_nonzero(z) <= n_variables
        assert np.linalg.norm(z) == pytest.approx(1.0)
        assert goal.value(z) >= goal.value(seed)


@pytest.mark.parametrize("kernel", SIGNS_MATTER)
@pytest.mark.parametrize("n_variables", [1, 3, 8])
def test_starts_within_the_orthant(kernel, n_variables):
    goal = objective("pair", kernel, nonnegative=True)
    signed = Scores(np.arange(8.0), np.array([0.6, -0.8, *np.zeros(6)]), ((0, 1),))
    for scores in (scores_of(goal, n_variables), signed):
        for start in starts_of(goal, n_variables, scores):
            assert (start.z >= 0).all()
            assert np.linalg.norm(start.z) == pytest.approx(1.0)
            assert 1 <= np.count_nonzero(start.z) <= n_variables


def test_scores_within_the_orthant_rank_by_the_difference_not_its_size():
    goal = objective("null", "quadratic", nonnegative=True)
    scores = scores_of(goal, 3)
    a = linear_coefficients(goal.samples, Linear().fit(goal.samples)).a
    assert (a < 0).any()
    np.testing.assert_array_equal(np.argsort(scores.single), np.argsort(a))
    assert (scores.linear >= 0).all()


def test_a_point_is_made_feasible_where_signs_matter():
    upright, signed = (objective(kernel="quadratic", nonnegative=flag) for flag in (True, False))
    z = np.array([0.6, -0.8, *np.zeros(6)])
    np.testing.assert_array_equal(feasible(upright, z), np.eye(8)[0])
    np.testing.assert_array_equal(feasible(upright, -np.abs(z)), np.abs(z))
    assert feasible(signed, z) is z
    assert feasible(objective(nonnegative=True), z) is z


def test_equal_cut_and_spread():
    np.testing.assert_allclose(equal(np.array([0, 2]), 3), [0.5**0.5, 0, 0.5**0.5])
    z = np.array([0.1, -0.7, 0.0, 0.7])
    np.testing.assert_allclose(cut(z, 2), [0, -(0.5**0.5), 0, 0.5**0.5])
    assert cut(z, 3) is z
    gaussian, quadratic = objective(), objective(kernel="quadratic")
    z = np.array([0.36, -0.64, 0, 0, 0, 0, 0, 0])
    assert spread(quadratic, z) is z
    np.testing.assert_allclose(gaussian.weights(spread(gaussian, z))[:2], [0.36, 0.64])
