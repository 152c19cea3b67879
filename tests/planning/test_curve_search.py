import numpy as np
import pytest
from scipy.stats import norm

from tellapart.planning.planner import FEWEST_TESTS, search_curve


class Populations:
    """Reject like a test of a shift, and count what was asked for."""

    def __init__(self, slope):
        self.slope, self.rng, self.asked = slope, np.random.default_rng(0), []

    def power(self, x):
        return norm.cdf(-1.645 + self.slope * np.sqrt(x))

    def __call__(self, sizes):
        self.asked += sizes
        return [bool(self.rng.random() < self.power(x)) for x in sizes]


def search(populations, most=1e6, budget=1e12):
    return search_curve(
        populations,
        0.05,
        first=4.0,
        most=most,
        n_simulations=300,
        cells=lambda x: 10 * x,
        budget=budget,
    )


@pytest.mark.parametrize("slope", [1.0, 0.2, 0.03])
def test_it_goes_where_power_rises(slope):
    populations = Populations(slope)
    size = search(populations).solve(0.8)
    assert populations.power(size) == pytest.approx(0.8, abs=0.07)


def test_nothing_beyond_the_largest_size_is_simulated():
    populations = Populations(0.001)
    search(populations, most=500.0)
    assert max(populations.asked) <= 500


def test_large_tables_are_fewer_but_not_too_few():
    populations = Populations(0.03)
    search(populations, budget=1.0)
    assert 0.5 * FEWEST_TESTS <= len(populations.asked) < 250
