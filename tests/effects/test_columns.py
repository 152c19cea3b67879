"""Effects of one column: equal to SciPy and pandas, intervals that cover, tests that hold."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tellapart.effects.columns import (
    Column,
    column_effects,
    distribution,
    location,
    proportions,
    shapes,
    spread,
)
from tellapart.effects.estimate import IndependentRows, holm

PLAIN = IndependentRows()


def column(x, y):
    return Column.of(np.asarray(x, dtype=float), np.asarray(y, dtype=float), PLAIN)


def skewed(n_x=60, n_y=90, seed=0):
    rng = np.random.default_rng(seed)
    return rng.lognormal(size=n_x) + 1, 2 * rng.exponential(size=n_y)


def test_means_and_deviations_are_those_of_pandas():
    x, y = skewed()
    shift, ratio = location(column(x, y)), spread(column(x, y))
    assert shift.values == pytest.approx((pd.Series(x).mean(), pd.Series(y).mean()), rel=1e-12)
    assert ratio.values == pytest.approx((pd.Series(x).std(), pd.Series(y).std()), rel=1e-12)
    assert ratio.effect == pytest.approx(pd.Series(x).std() / pd.Series(y).std(), rel=1e-12)


def test_the_standardised_difference_is_hedges_g():
    x, y = skewed()
    pooled = math.sqrt((59 * x.var(ddof=1) + 89 * y.var(ddof=1)) / 148)
    g = (x.mean() - y.mean()) / pooled * (1 - 3 / (4 * 148 - 1))
    assert location(column(x, y)).effect == pytest.approx(g, rel=1e-12)


def test_missing_values_take_no_part():
    x, y = skewed()
    gaps = np.append(x, [np.nan] * 7)
    assert location(column(gaps, y)).effect == location(column(x, y)).effect
    assert spread(column(gaps, y)).interval == spread(column(x, y)).interval


def test_the_tests_are_welch_and_brown_forsythe_where_tails_are_light():
    rng = np.random.default_rng(1)
    x, y = rng.uniform(size=200), rng.uniform(size=150) * 1.2
    welch = stats.ttest_ind(x, y, equal_var=False).pvalue
    levene = stats.levene(x, y, center="median").pvalue
    assert location(column(x, y)).pvalue == pytest.approx(welch, rel=0.05)
    assert location(column(x, y)).pvalue >= welch * (1 - 1e-9)
    assert spread(column(x, y)).pvalue >= levene * (1 - 1e-9)


def test_l_moments_and_superiority_are_those_of_scipy():
    x, y = skewed()
    found = {estimate.measure: estimate for estimate in shapes(column(x, y))}
    if hasattr(stats, "lmoment"):  # SciPy 1.15 and later
        for place, name in enumerate(("L-skewness", "L-kurtosis")):
            known = [stats.lmoment(side, order=3 + place, standardize=True) for side in (x, y)]
            assert found[name].values == pytest.approx(known, rel=1e-9)
    superiority = distribution(column(x, y))[0]
    known = stats.brunnermunzel(x, y)
    assert superiority.pvalue == pytest.approx(known.pvalue, rel=1e-9)
    wins = stats.mannwhitneyu(x, y).statistic / (x.size * y.size)
    assert superiority.values == pytest.approx((wins, 1 - wins))
    gap = distribution(column(x, y))[1]
    assert abs(gap.effect) == pytest.approx(stats.ks_2samp(x, y).statistic)


def test_proportions_have_newcombes_interval_and_fishers_test():
    """The example of Newcombe (1998), 56/70 against 48/80: 0.0524 to 0.3339."""
    x, y = np.repeat([1.0, 0.0], [56, 14]), np.repeat([1.0, 0.0], [48, 32])
    found = proportions(x, y, PLAIN, "prevalence")
    assert found.effect == pytest.approx(0.2)
    assert found.interval == pytest.approx((0.0524, 0.3339), abs=1e-4)
    assert found.pvalue == stats.fisher_exact([[56, 14], [48, 32]]).pvalue


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.9995])
def test_intervals_agree_with_their_p_values(confidence):
    rng = np.random.default_rng(2)
    for _ in range(40):
        x, y = rng.exponential(size=30) + rng.uniform(0, 0.8), rng.lognormal(size=40)
        found = location(column(x, y))
        low, high = found.limits(confidence)
        assert (low <= 0 <= high) == (found.pvalue > 1 - confidence)
        assert low <= found.effect <= high or found.pvalue > 0.9
        ratio = spread(column(x, y))
        if ratio.pvalue <= 1 - confidence:
            low, high = ratio.limits(confidence)
            assert high < 1 or low > 1


def test_what_does_not_vary_has_no_impossible_effects():
    varied, still = np.arange(10.0), np.full(8, 3.0)
    ratio = spread(column(varied, still))
    assert (ratio.effect, ratio.values[1]) == (math.inf, 0.0)
    assert spread(column(still, varied)).effect == 0.0
    assert location(column(still, still + 1)).effect == -math.inf
    assert location(column(still, still)) is None
    # The last bits of equal numbers are rounding, not a spread.
    noise = 0.1 + np.array([0.0, 1e-17, 2e-17, 0.0])
    assert spread(column(noise, noise)) is None
    assert column_effects(np.full(4, np.nan), varied) == {}


def test_two_values_are_proportions():
    x, y = np.array([0, 1, 1, 1.0]), np.array([0, 0, 1, 0, 0.0])
    found = column_effects(x, y)
    assert list(found) == ["share"]
    assert found["share"].values == (0.75, 0.2)


@pytest.mark.parametrize("factor", [1e-200, 1e100, 1e200])
def test_effects_of_extreme_numbers_are_those_in_other_units(factor):
    x, y = skewed()
    one, other = column_effects(x, y), column_effects(x * factor, y * factor)
    assert list(one) == list(other) == ["location", "spread", "shape"]
    for kind, found in other.items():
        assert found.effect == pytest.approx(one[kind].effect, abs=1e-9)
        assert found.interval == pytest.approx(one[kind].interval, abs=1e-9)
        assert found.pvalue == pytest.approx(one[kind].pvalue)
    assert other["spread"].values == pytest.approx((x.std(ddof=1) * factor, y.std(ddof=1) * factor))


def test_holm_is_that_of_the_textbook():
    raw = [0.01, 0.04, 0.03, 0.005]
    assert holm(raw, 4).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(raw[:1], 4).tolist() == pytest.approx([0.04])


COVERED = {
    "normal 8 + 8": (8, 8, 1.0, lambda rng, n: rng.normal(size=n)),
    "normal 20 + 200, SD ratio 3": (20, 200, 3.0, lambda rng, n: rng.normal(size=n)),
    "exponential 20 + 20": (20, 20, 1.0, lambda rng, n: rng.exponential(size=n) - 1),
}


@pytest.mark.parametrize("case", COVERED)
def test_intervals_cover_from_eight_rows_on(case):
    n_x, n_y, ratio, draw = COVERED[case]
    rng, runs, covered = np.random.default_rng(3), 400, np.zeros(2)
    pooled = math.sqrt(((n_x - 1) * ratio**2 + n_y - 1) / (n_x + n_y - 2))
    for _ in range(runs):
        own = column(draw(rng, n_x) * ratio + 0.8 * pooled, draw(rng, n_y))
        for place, (found, truth) in enumerate(((location(own), 0.8), (spread(own), ratio))):
            low, high = found.interval
            covered[place] += low <= truth <= high
    # Three standard errors below .93.
    assert (covered / runs > 0.93 - 3 * math.sqrt(0.93 * 0.07 / runs)).all(), covered / runs
