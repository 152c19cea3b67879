"""Values and levels that occur in one sample only, and columns of many levels."""

import math

import numpy as np
import pytest
from scipy import stats

from tellapart.data.design import Design
from tellapart.effects.sampling import sampling_of
from tellapart.effects.values import (
    Candidate,
    candidate_values,
    fewest_rows,
    level_changes,
    may_stand_apart,
    new_levels,
    new_values,
    value_proportions,
)


def normal(n, seed=0, **values):
    """Return normal values, the first few of which are replaced: value=count."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=n)
    for value, count in values.items():
        own[:count] = float(value.removeprefix("v").replace("minus", "-"))
    return own


def test_a_sentinel_is_a_value_never_seen_before():
    x, y = normal(1000), normal(1000, 1, vminus9999=20)
    found = new_values(x, y)
    assert found.estimate.measure == "−9999 occurs"
    assert found.estimate.values == (0.0, pytest.approx(0.02))
    assert found.estimate.effect == pytest.approx(-0.02)
    low, high = found.estimate.interval
    assert -0.035 < low < -0.02 < high < -0.008
    assert found.estimate.pvalue < 1e-4


def test_the_pvalue_of_one_value_is_hypergeometric():
    x, y = normal(60), normal(40, 1, v333=6)
    all_in_y = stats.hypergeom.pmf(6, 100, 40, 6)
    # Six rows in X are likelier: what is added are the four ends of the range.
    assert new_values(x, y).estimate.pvalue == pytest.approx(5 * all_in_y, rel=1e-6)


def test_values_that_occur_in_both_samples_are_not_new():
    assert new_values(normal(500, 0, v99=10), normal(500, 1, v99=30)) is None
    assert new_values(normal(500), normal(500, 1)) is None


def test_proportions_of_values_in_both_samples():
    x, y = normal(500, 0, v99=10), normal(500, 1, v99=30)
    y[-1] = np.nan
    found = value_proportions(x, y, [(99.0, 99.0)])
    assert found.estimate.measure == "proportion of 99"
    assert found.estimate.values == (pytest.approx(0.02), pytest.approx(30 / 499))


def test_several_sentinels_are_listed():
    y = normal(600, 1, vminus9999=20)
    y[20:40] = -8888
    found = new_values(normal(600), y)
    assert found.estimate.measure == "2 values occur"
    assert found.detail == "−9999, −8888"
    assert found.estimate.values == (0.0, pytest.approx(40 / 600))


def test_rows_far_beyond_the_range_of_the_other_sample():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(950, 1050, 400), rng.uniform(950, 1050, 400)
    y[:12] *= 100
    found = new_values(x, y)
    assert found.estimate.values == (0.0, pytest.approx(0.03))
    assert found.estimate.measure.endswith(" occur")
    assert found.estimate.pvalue < 0.01
    # A few that are too few to stand apart in the pooled rows, next to a larger group.
    z = rng.normal(size=400)
    z[:2] = 40.0, 55.0
    few = new_values(rng.normal(size=400), z)
    assert few.estimate.measure.startswith("values above")
    assert few.estimate.pvalue > 0.5


def test_a_shift_makes_no_new_values():
    rng = np.random.default_rng(0)
    assert new_values(rng.normal(size=500), rng.normal(1, 1, 500)) is None
    assert new_values(rng.normal(size=500), rng.normal(1000, 1, 500)) is None


def test_missing_values_are_left_out():
    x, y = normal(300), normal(300, 1, vminus9999=30)
    y[100:200] = np.nan
    assert new_values(x, y).estimate.values == (0.0, pytest.approx(0.15))
    assert new_values(np.full(5, np.nan), y) is None


def test_pvalues_are_valid():
    """Given the pooled rows with several candidates, under permutations of the labels."""
    rng = np.random.default_rng(0)
    pooled = np.concatenate([rng.normal(size=70), [-9999.0] * 6, [777.0] * 5, 40 + rng.random(4)])
    pvalues = []
    for _ in range(300):
        rng.shuffle(pooled)
        found = new_values(pooled[:30], pooled[30:])
        pvalues.append(1.0 if found is None else found.estimate.pvalue)
    for level in (0.01, 0.05, 0.2):
        assert np.mean(np.array(pvalues) <= level) <= level + 2 * math.sqrt(level / 300)


def test_units_of_a_design_are_counted_once():
    rng = np.random.default_rng(0)
    n, units = 200, np.repeat(np.arange(20), 10)
    x, y = rng.normal(size=n), rng.normal(size=n)
    y[units < 4] = -9999
    every = new_values(x, y).estimate.pvalue
    sampling = design_of(units, units)
    by_unit = new_values(x, y, sampling).estimate
    assert every < 1e-6
    # Four of forty units, all in Y: both directions, and four ends.
    assert by_unit.pvalue == pytest.approx(6 * stats.hypergeom.pmf(4, 40, 20, 4))


def test_pairs_are_permuted_within_pairs():
    rng = np.random.default_rng(0)
    pairs = np.arange(100)
    design = Design((pairs, pairs), (pairs, pairs), paired="pair")
    x, y = rng.normal(size=100), rng.normal(size=100)
    y[:8] = -9999
    found = new_values(x, y, sampling_of(design)).estimate
    # Each of eight pairs has it in Y with probability 1/2; both directions, and four ends.
    assert found.pvalue == pytest.approx(6 * 0.5**8, rel=1e-6)


def design_of(x_units, y_units):
    zero = np.zeros(x_units.size, dtype=int), np.zeros(y_units.size, dtype=int)
    return sampling_of(Design(zero, (x_units, y_units)))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 1, 2, 3] * 30 + [9] * 8, [9.0]),  # a code beyond a gap
        (list(range(60)) + [30] * 10, [30.0]),  # frequent among its neighbours
        ([-1] * 8 + [0] * 30 + [1] * 30 + [2] * 20 + [5, 9, 9], [-1.0]),  # the only negative
        ([0] * 50 + [1] * 50 + [2] * 8, [2.0]),  # a third value of a flag
        ([0] * 90 + [1] * 14 + [2] * 8, []),  # rare counts fall off
        ([0, 1] * 50, []),
        (list(range(100)), []),
    ],
)
def test_candidates_stand_apart(values, expected):
    ordered = np.sort(np.array(values, dtype=float))
    found = candidate_values(ordered, 5, ordered.size // 4)
    assert [own.low for own in found] == expected
    assert may_stand_apart(ordered[np.newaxis], 5, ordered.size // 4)[0] or not expected


def test_candidates_beyond_a_gap():
    ordered = np.concatenate([np.arange(100.0), 1000 + np.arange(8.0)])
    assert candidate_values(ordered, 5, 20) == [Candidate(1000.0, 1007.0, 8)]
    mirrored = -ordered[::-1]
    assert candidate_values(mirrored, 5, 20) == [Candidate(-1007.0, -1000.0, 8)]
    assert may_stand_apart(np.stack([ordered, mirrored]), 5, 20).all()


def test_heavy_tails_have_no_candidates():
    rng = np.random.default_rng(0)
    ordered = np.sort(rng.standard_cauchy((200, 400)), axis=1)
    assert may_stand_apart(ordered, fewest_rows(200, 200), 40).sum() <= 4


def test_new_levels():
    labels = [f"level {k}" for k in range(15)]
    x = np.repeat(np.arange(12.0), 50)
    y = np.concatenate([np.repeat(np.arange(2, 15.0), 40), [np.nan] * 10])
    found = new_levels(x, y, labels)
    assert found.estimate.measure == "2 levels occur"
    assert found.estimate.values == (pytest.approx(100 / 600), 0.0)
    assert found.detail == "'level 0', 'level 1'; 3 levels of the other sample only"
    assert found.estimate.pvalue < 1e-6
    one = new_levels(np.append(x, [12.0] * 40), np.repeat(np.arange(12.0), 50), labels)
    assert one.estimate.measure == "'level 12' occurs"
    assert new_levels(x, x, labels) is None


def test_rare_levels_are_new_by_chance():
    rng = np.random.default_rng(0)
    labels = [str(k) for k in range(2000)]
    pvalues = [
        new_levels(rng.integers(2000, size=500), rng.integers(2000, size=500), labels)
        .estimate.pvalue
        for _ in range(40)
    ]  # fmt: skip
    assert np.mean(np.array(pvalues) <= 0.05) <= 0.1


def test_total_variation_of_many_levels():
    rng = np.random.default_rng(0)
    labels = [str(k) for k in range(1000)]
    equal = np.full(1000, 0.001)
    other = equal.copy()
    other[:3] += 0.1
    other /= other.sum()
    truth = np.abs(equal - other).sum() / 2
    x, y = rng.choice(1000, 2000, p=equal), rng.choice(1000, 2000, p=other)
    found = level_changes(x.astype(float), y.astype(float), labels)
    estimate = found.estimate
    assert estimate.measure == "total variation distance"
    assert estimate.interval[0] <= truth <= estimate.interval[1]
    # Observed proportions alone give 0.47.
    assert abs(estimate.effect - truth) < 0.1
    assert estimate.pvalue < 1e-6
    assert all(f"'{k}'" in found.detail.split("largest changes")[1] for k in range(3))
    assert "in the first sample only" in found.detail


def test_total_variation_where_nothing_differs():
    rng = np.random.default_rng(0)
    labels = [str(k) for k in range(3000)]
    low, pvalues = [], []
    for seed in range(40):
        x, y = (rng.integers(3000, size=400).astype(float) for _ in range(2))
        estimate = level_changes(x, y, labels, seed=seed).estimate
        assert estimate.effect < 0.1
        low.append(estimate.interval[0])
        pvalues.append(estimate.pvalue)
    assert np.mean(np.array(low) > 0) <= 0.1
    assert np.mean(np.array(pvalues) < 0.05) <= 0.1


def test_total_variation_is_for_many_levels():
    codes = np.tile(np.arange(10.0), 5)
    assert level_changes(codes, codes, [str(k) for k in range(10)]) is None
    units = np.repeat(np.arange(11), 5)
    codes = np.tile(np.arange(11.0), 5)
    found = level_changes(codes, codes, [str(k) for k in range(11)], design_of(units, units))
    assert found.estimate.effect == 0
    assert math.isnan(found.estimate.pvalue)
    assert math.isnan(found.estimate.interval[0])
