"""All columns at once give the numbers of one column after the other, and of pandas and SciPy."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tellapart.data.design import Design
from tellapart.effects.columns import Column, location, proportions, spread
from tellapart.effects.estimate import IndependentRows, sampling_of
from tellapart.effects.every_column import (
    Moments,
    block_moments,
    category_effect,
    number_effects,
    quartiles,
    sorted_columns,
    two_value_effect,
)


def columns(n, rng):
    """Return columns of many shapes, some extreme, some with missing values."""
    values = np.column_stack(
        [
            rng.normal(3, 2, n),
            rng.exponential(size=n),
            rng.standard_t(3, n),
            1e4 + rng.normal(size=n),
            1e80 * rng.normal(size=n),
            1e-90 * rng.lognormal(size=n),
            np.full(n, 7.0),
            rng.integers(0, 4, n),
        ]
    )
    values[rng.random(n) < 0.1, 1] = np.nan
    return values


@pytest.mark.parametrize("sizes", [(60, 80), (5, 9), (2, 2), (300, 4)])
def test_effects_are_those_of_one_column_after_the_other(sizes):
    rng = np.random.default_rng(sum(sizes))
    x, y = (columns(n, rng) for n in sizes)
    y[:, 0] += 1
    _, compared, precision = block_moments((x, y), IndependentRows())
    found = number_effects(*compared, precision)
    for k in range(x.shape[1]):
        column = Column.of(x[:, k], y[:, k], IndependentRows())
        for estimate, row in (
            (location(column), found.difference[:, k]),
            (spread(column), found.ratio[:, k]),
        ):
            if estimate is None:
                assert np.isnan(row).all()
            else:
                np.testing.assert_allclose(row, [estimate.effect, *estimate.interval], rtol=1e-7)


def design(name, n, rng):
    blocks = units = (np.arange(n), np.arange(n))
    if name == "paired":
        return Design(blocks, units, paired="pair")
    strata = tuple(rng.integers(0, 3, n) for _ in range(2))
    if name == "strata":
        return Design(strata, units, strata="site")
    one = np.zeros(n, dtype=int)
    return Design((one, one), (np.arange(n) // 3, np.arange(n) // 3), clusters="subject")


@pytest.mark.parametrize("name", ["paired", "strata", "clusters"])
def test_effects_under_a_design_are_those_of_one_column_after_the_other(name):
    rng = np.random.default_rng(0)
    x, y = rng.exponential(size=(60, 4)), rng.normal(size=(60, 4))
    y[:, 0] += x[:, 0]
    sampling = sampling_of(design(name, 60, rng))
    raw, compared, precision = block_moments((x, y), sampling)
    found = number_effects(*compared, precision)
    np.testing.assert_allclose(raw[0].mean, x.mean(axis=0))
    for k in range(4):
        column = Column.of(x[:, k], y[:, k], sampling)
        for estimate, row in (
            (location(column), found.difference[:, k]),
            (spread(column), found.ratio[:, k]),
        ):
            np.testing.assert_allclose(row, [estimate.effect, *estimate.interval], rtol=1e-9)


def test_moments_of_parts_merge_to_those_of_the_whole():
    rng = np.random.default_rng(1)
    values = columns(200, rng)
    unit = np.where(np.arange(8) == 4, 2.0**266, np.where(np.arange(8) == 5, 2.0**-298, 1.0))
    whole = Moments.of(values, unit)
    parts = Moments.of(values[:0], unit)
    for start in (0, 3, 90):
        stop = {0: 3, 3: 90, 90: 200}[start]
        parts = parts.merged(Moments.of(values[start:stop], unit))
    np.testing.assert_array_equal(parts.n, whole.n)
    for name in ("mean", "second", "third", "fourth", "largest"):
        left, right = getattr(parts, name), getattr(whole, name)
        scale = 1e-12 * whole.largest ** {"third": 3, "fourth": 4}.get(name, 2)
        assert np.all(np.abs(left - right) <= 1e-9 * np.abs(right) + scale), name


def test_moments_and_quartiles_are_those_of_pandas():
    rng = np.random.default_rng(2)
    values = columns(101, rng)[:, :3]
    frame = pd.DataFrame(values)
    moments = Moments.of(values, np.ones(3))
    np.testing.assert_allclose(moments.mean, frame.mean())
    np.testing.assert_allclose(moments.deviation, frame.std())
    np.testing.assert_allclose(
        moments.third / moments.second**1.5, stats.skew(values, nan_policy="omit")
    )
    x, y, both = (quartiles(side) for side in sorted_columns([values[:40], values[40:]]))
    for found, rows in ((x, frame[:40]), (y, frame[40:]), (both, frame)):
        np.testing.assert_allclose(found, rows.quantile([0.25, 0.5, 0.75]))
    assert np.isnan(quartiles(np.full((1, 3), np.nan))).all()


def test_two_values_have_newcombes_interval_over_the_sd():
    x, y = np.r_[np.ones(12), np.zeros(28)], np.r_[np.ones(30), np.zeros(30)]
    found = two_value_effect(np.array([0.3]), np.array([0.5]), (np.array([40]), np.array([60])))[
        :, 0
    ]
    estimate = proportions(x, y, IndependentRows(), "proportion")
    deviation = math.sqrt((0.3 * 0.7 + 0.25) / 2)
    np.testing.assert_allclose(found * deviation, [estimate.effect, *estimate.interval])


def yang_and_dalton(p, q):
    """The formula as printed: the first level left out, the mean of two covariance matrices."""
    p, q = p[1:], q[1:]
    covariance = [np.where(np.eye(len(s)), s * (1 - s), -np.outer(s, s)) for s in (p, q)]
    apart = p - q
    return math.sqrt(apart @ np.linalg.inv(sum(covariance) / 2) @ apart)


def test_categories_have_yang_and_daltons_difference():
    rng = np.random.default_rng(3)
    p, q = rng.dirichlet(np.ones(5), 2)
    effect, low, high = category_effect(p, q, (100, 150))
    assert effect == pytest.approx(yang_and_dalton(p, q))
    assert 0 <= low < effect < high
    # The order of the levels does not matter, nor a level that never occurs.
    again = category_effect(np.append(p[::-1], 0), np.append(q[::-1], 0), (100, 150))
    np.testing.assert_allclose(again, (effect, low, high))
    # The limits are where the noncentral chi-square distribution has its tails.
    size = 100 * 150 / 250
    for end, tail in ((low, 0.975), (high, 0.025)):
        assert stats.ncx2.cdf(size * effect**2, 4, size * end**2) == pytest.approx(tail)


def test_levels_that_tell_the_samples_apart_differ_infinitely():
    assert category_effect(np.array([1.0, 0]), np.array([0, 1.0]), (9, 9))[0] == math.inf
    assert math.isnan(category_effect(np.array([1.0, 0]), np.array([1.0, 0]), (9, 9))[0])


@pytest.mark.long
@pytest.mark.parametrize("apart", [0.0, 0.1])
def test_the_interval_of_categories_covers(apart):
    rng = np.random.default_rng(4)
    p = np.array([0.4, 0.3, 0.2, 0.1])
    q = p + apart * np.array([-1, 0.5, 0.3, 0.2])
    true, covered = yang_and_dalton(p, q), 0
    for _ in range(2000):
        x, y = rng.multinomial(150, p) / 150, rng.multinomial(200, q) / 200
        _, low, high = category_effect(x, y, (150, 200))
        covered += low <= true <= high
    assert covered / 2000 > 0.93
