import numpy as np
import pytest
from scipy.stats import norm

from tellapart.planning.power_curve import Point, fit_curve


def z_test(x):
    return norm.cdf(-1.645 + 0.25 * np.sqrt(x))


def points(runs=400, seed=None):
    sizes = (10, 30, 60, 100, 150)
    if seed is None:
        return [Point(x, runs, round(runs * float(z_test(x)))) for x in sizes]
    rng = np.random.default_rng(seed)
    return [Point(x, runs, int(rng.binomial(runs, z_test(x)))) for x in sizes]


def test_a_curve_of_its_own_form_is_found_again():
    curve = fit_curve(points(100_000), start=0.05)
    for x in (0, 20, 80, 200):
        assert float(curve(x)) == pytest.approx(z_test(x), abs=0.01)


def test_solve_turns_the_curve_round():
    curve = fit_curve(points(), start=0.05)
    for probability in (0.1, 0.5, 0.95):
        assert float(curve(curve.solve(probability))) == pytest.approx(probability)
    assert curve.solve(0.01) == 0.0


def test_without_rows_power_is_the_level():
    assert float(fit_curve(points(), start=0.05)(0)) == pytest.approx(0.05)


def test_an_open_start_is_fitted():
    given = [Point(x, 1000, round(1000 * float(norm.cdf(-1 + 1.2 * x)))) for x in (0, 0.5, 1, 2)]
    curve = fit_curve(given, exponent=1.0)
    assert curve.start == pytest.approx(-1, abs=0.15)


def test_limits_hold_the_truth_nine_times_in_ten():
    held = 0
    for seed in range(60):
        low, high = fit_curve(points(30, seed), start=0.05).solve_interval(0.8, 0.9)
        held += low <= ((norm.ppf(0.8) + 1.645) / 0.25) ** 2 <= high
    assert 46 <= held <= 60


def test_limits_narrow_as_simulations_grow():
    few, many = (fit_curve(points(runs, 1), start=0.05).interval(60, 0.9) for runs in (10, 1000))
    assert many[1] - many[0] < 0.3 * (few[1] - few[0])
