import numpy as np
import pytest

from tellapart.data.reader import read_samples
from tellapart.planning.power_curve import MOST, estimate_strength
from tellapart.planning.settings import PlanSettings
from tellapart.planning.simulation import Outcome, RowSource, SimulatedTests


class TestOfMeans(SimulatedTests):
    """A plain test in the place of the scan: the difference of means of the first column."""

    __test__ = False

    def test(self, samples, rng):
        m, n = samples.n_x, samples.n_y
        x, y = samples.x[:, 0], samples.y[:, 0]
        z = abs(x.mean() - y.mean()) / np.sqrt(x.var() / m + y.var() / n)
        return Outcome(float(z), 1.0)


def strength(shift, seed=0, rows=60):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(rows, 1)), rng.normal(size=(rows, 1))
    # A pilot whose means differ by exactly so many standard errors.
    y += x.mean() - y.mean() + shift * np.sqrt((x.var() + y.var()) / rows)
    samples = read_samples(x, y)
    tests = TestOfMeans(samples, PlanSettings(n_permutations=99), rng, 1)
    return estimate_strength(RowSource.of(samples), tests, 0.9, 600)


def test_a_clear_pilot_is_taken_as_it_is():
    """|z| of tables with strength w is |N(4w, 1)|: half of them exceed 4 at w = 1."""
    found = strength(4.0)
    assert found.estimate == pytest.approx(1.0, abs=0.1)
    assert found.low == pytest.approx(1 - 1.645 / 4, abs=0.12)
    assert found.high == pytest.approx(1 + 1.645 / 4, abs=0.12)
    assert found.shows_difference


def test_a_pilot_like_chance_shows_no_difference():
    found = strength(0.5)
    assert found.low == 0.0
    assert not found.shows_difference
    assert found.estimate < 1.0


def test_a_pilot_more_alike_than_chance_has_no_strength():
    found = strength(0.01)
    assert found.estimate == 0.0
    assert found.high <= MOST
