"""Exchanges: none is left that would improve the choice."""

import numpy as np
import pytest
from small_problems import SIGNS_MATTER, objective, point

from tellapart.search.solver import improve_by_exchanges, promising_exchanges
from tellapart.search.sphere import Peak, climb
from tellapart.strs.contract import Control


def improved(goal, n_variables, seed=0, **settings):
    rng = np.random.default_rng(seed)
    start = climb(goal, point(np.sort(rng.choice(8, n_variables, replace=False)), 8, rng))
    return start, *improve_by_exchanges(goal, start, n_variables, Control(), **settings)


@pytest.mark.parametrize("kernel", ["gaussian", "quadratic", "cube"])
@pytest.mark.parametrize("kind", ["shift", "pair"])
@pytest.mark.parametrize("n_variables", [1, 2, 3])
def test_no_exchange_at_best_weights_is_better(kernel, kind, n_variables):
    goal = objective(kind, kernel, 0.5)
    start, peak, made = improved(goal, n_variables)
    assert peak.value >= start.value
    assert (made == 0) == (peak is start)
    assert np.count_nonzero(peak.z) <= n_variables
    chosen = peak.support
    signs = [1.0] if goal.squares_weights else [1.0, -1.0]
    for leaving in chosen:
        for coming in np.setdiff1d(np.arange(8), chosen):
            for sign in signs:
                z = peak.z.copy()
                z[coming], z[leaving] = sign * z[leaving], 0.0
                assert climb(goal, z).value <= peak.value + 1e-8 * abs(peak.value)


def test_all_exchanges_are_offered_once_the_best_first():
    goal = objective("shift", "gaussian", 0.5)
    z = point([1, 4], 8, np.random.default_rng(0))
    offers = promising_exchanges(goal, z, 2, 100)
    supports = {tuple(np.flatnonzero(offer)) for offer in offers}
    assert len(offers) == len(supports) == 12
    assert all(len({1, 4} & set(support)) == 1 for support in supports)
    assert all(np.linalg.norm(offer) == pytest.approx(1.0) for offer in offers)
    few = promising_exchanges(goal, z, 2, 3)
    assert len(few) == 3
    np.testing.assert_array_equal(few, offers[:3])


def test_the_order_is_that_of_the_second_order_model_in_the_weights():
    goal = objective("shift", "gaussian", 0.5)
    z = point([1, 4], 8, np.random.default_rng(0))
    second, weights = goal.in_weights(z), goal.weights(z)
    gains = []
    for offer in promising_exchanges(goal, z, 2, 100):
        step = goal.weights(offer) - weights
        gains.append(second.gradient @ step + 0.5 * step @ second.hessian @ step)
    assert gains == sorted(gains, reverse=True)


def test_both_signs_are_tried_where_they_matter():
    goal = objective("shift", "quadratic", 0.5)
    z = point([1, 4], 8, np.random.default_rng(0))
    offers = promising_exchanges(goal, z, 2, 100)
    assert len(offers) == 24
    assert len({tuple(offer) for offer in offers}) == 24


def test_only_positive_weights_are_tried_within_the_orthant():
    goal = objective("shift", "quadratic", 0.5, nonnegative=True)
    single = np.eye(8)[1]
    for z, count in ((np.sqrt(0.5) * (single + np.eye(8)[4]), 12), (single, 14)):
        offers = promising_exchanges(goal, z, 2, 100)
        assert len(offers) == count
        assert (np.array(offers) >= 0).all()


@pytest.mark.parametrize("kernel", SIGNS_MATTER)
def test_exchanges_stay_within_the_orthant(kernel):
    goal = objective("pair", kernel, 0.5, nonnegative=True)
    start = climb(goal, np.eye(8)[7])
    peak, _ = improve_by_exchanges(goal, start, 3, Control())
    assert (peak.z >= 0).all()
    assert peak.value >= start.value
    assert peak.value == pytest.approx(goal.value(peak.z), abs=1e-12)


def test_an_unused_place_is_filled_where_that_helps():
    goal = objective("shift", "quadratic", 0.0)
    single = climb(goal, np.eye(8)[0])
    offers = promising_exchanges(goal, single.z, 2, 100)
    assert {np.count_nonzero(offer) for offer in offers} == {1, 2}
    peak, made = improve_by_exchanges(goal, single, 2, Control())
    assert made > 0
    assert peak.support.size == 2
    assert peak.value > single.value


def test_with_every_variable_chosen_there_is_nothing_to_exchange():
    goal = objective()
    z = point(np.arange(8), 8, np.random.default_rng(0))
    assert promising_exchanges(goal, z, 8, 10) == []
    peak = Peak(z, goal.value(z))
    assert improve_by_exchanges(goal, peak, 8, Control()) == (peak, 0)


def test_no_time_no_exchange():
    goal = objective()
    peak = climb(goal, np.eye(8)[7])
    assert improve_by_exchanges(goal, peak, 1, Control(time_limit=1e-9)) == (peak, 0)
