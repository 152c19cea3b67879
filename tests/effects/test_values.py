"""Values and levels that occur in one sample only, and columns of many levels."""

import math

import numpy as np
import pytest

from tellapart.data.design import Design
from tellapart.effects.columns import Column
from tellapart.effects.estimate import IndependentRows, sampling_of
from tellapart.effects.values import (
    Candidate,
    candidate_values,
    fewest_rows,
    level_changes,
    level_share,
    may_stand_apart,
    new_levels,
    value_proportions,
)


def column(x, y, labels=None, sampling=None):
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return Column.of(x, y, sampling or IndependentRows(), labels)


def normal(n, seed=0, **values):
    """Return normal values, the first few of which are replaced: value=count."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=n)
    for value, count in values.items():
        own[:count] = float(value.removeprefix("v").replace("minus", "-"))
    return own


def test_proportions_of_values_in_both_samples():
    x, y = normal(500, 0, v99=10), normal(500, 1, v99=30)
    y[-1] = np.nan
    found = value_proportions(x, y, [(99.0, 99.0)])
    assert found.measure == "proportion of 99"
    assert found.values == (pytest.approx(0.02), pytest.approx(30 / 499))


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
    found = new_levels(column(x, y, labels))
    assert found.measure == "2 levels occur"
    assert found.values == (pytest.approx(100 / 600), 0.0)
    assert found.detail == "'level 0', 'level 1'; 3 levels of the other sample only"
    assert found.pvalue < 1e-6
    one = new_levels(column(np.append(x, [12.0] * 40), np.repeat(np.arange(12.0), 50), labels))
    assert one.measure == "'level 12' occurs"
    assert new_levels(column(x, x, labels)) is None


def test_rare_levels_are_new_by_chance():
    rng = np.random.default_rng(0)
    labels = [str(k) for k in range(2000)]
    pvalues = [
        new_levels(column(*rng.integers(2000, size=(2, 500)), labels)).pvalue for _ in range(40)
    ]
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
    estimate = level_changes(column(x, y, labels))
    assert estimate.measure == "total variation distance"
    assert estimate.interval[0] <= truth <= estimate.interval[1]
    # Observed proportions alone give 0.47.
    assert abs(estimate.effect - truth) < 0.1
    assert estimate.pvalue < 1e-6
    assert all(f"'{k}'" in estimate.detail.split("largest changes")[1] for k in range(3))
    assert "in the first sample only" in estimate.detail


def test_total_variation_where_nothing_differs():
    rng = np.random.default_rng(0)
    labels = [str(k) for k in range(3000)]
    low, pvalues = [], []
    for seed in range(40):
        x, y = (rng.integers(3000, size=400).astype(float) for _ in range(2))
        estimate = level_changes(column(x, y, labels), seed=seed)
        assert estimate.effect < 0.1
        low.append(estimate.interval[0])
        pvalues.append(estimate.pvalue)
    assert np.mean(np.array(low) > 0) <= 0.1
    assert np.mean(np.array(pvalues) < 0.05) <= 0.1


def design_of(x_units, y_units):
    zero = np.zeros(x_units.size, dtype=int), np.zeros(y_units.size, dtype=int)
    return sampling_of(Design(zero, (x_units, y_units)))


def test_total_variation_is_for_many_levels():
    codes = np.tile(np.arange(10.0), 5)
    assert level_changes(column(codes, codes, [str(k) for k in range(10)])) is None
    units = np.repeat(np.arange(11), 5)
    codes = np.tile(np.arange(11.0), 5)
    labels = [str(k) for k in range(11)]
    found = level_changes(column(codes, codes, labels, design_of(units, units)))
    assert found.effect == 0
    assert math.isnan(found.pvalue)
    assert math.isnan(found.interval[0])


def test_two_levels_have_one_proportion():
    flag = level_share(column([0, 1, 1, 1], [0, 0, 1, 0]))
    assert (flag.measure, flag.values, flag.pvalue) == ("prevalence", (0.75, 0.25), 0)
    answers = level_share(column([0, 1], [0, 0], ["yes", "no"]))
    assert (answers.measure, answers.values) == ("prevalence", (0.5, 1.0))
    ward = level_share(column([0, 1], [0, 0], ["medical", "surgical"]))
    assert ward.measure == "proportion of 'medical'"
