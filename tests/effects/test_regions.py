"""Regions where a joint distribution differs: proportions, intervals and boxes."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tellapart.effects.estimate import IndependentRows
from tellapart.effects.regions import JointSet, joint_regions


def regions_of(x, y, names=("a", "b"), labels=(None, None), bandwidth=np.nan):
    return joint_regions(JointSet(x, y, names, labels, IndependentRows(), bandwidth))


def test_the_strongest_region_is_where_rows_were_added():
    rng = np.random.default_rng(0)
    x, y = rng.random((400, 2)), rng.random((400, 2))
    x[:80] = rng.uniform((0.51, 0.76), (0.74, 0.99), size=(80, 2))
    estimate = regions_of(x, y, bandwidth=0.06)
    first = estimate.regions[0]
    inside = [
        np.all([t[:, q] >= low for q, (low, _) in enumerate(first.ranges.values())], axis=0)
        & np.all([t[:, q] <= high for q, (_, high) in enumerate(first.ranges.values())], axis=0)
        for t in (x, y)
    ]
    assert first.values == pytest.approx([side.mean() for side in inside])
    assert estimate.effect == pytest.approx(first.values[0] - first.values[1])
    assert estimate.effect > 0.1
    table = [[side.sum(), 400 - side.sum()] for side in inside]
    assert estimate.pvalue == pytest.approx(stats.fisher_exact(table)[1])
    assert "6 % of the rows" in estimate.detail


def test_regions_do_not_overlap_and_the_interval_is_wider_than_of_one_region():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(300, 1)), rng.normal(size=(300, 1)) * 1.5
    estimate = regions_of(x, y, ("a",), (None,))
    ranges = sorted(region.ranges["a"] for region in estimate.regions)
    assert all(one[1] < other[0] for one, other in itertools.pairwise(ranges))
    # Newcombe's interval of this region alone, at 95 %.
    low, high = estimate.interval
    p, q = estimate.values
    half = 1.96 * np.sqrt(p * (1 - p) / 300 + q * (1 - q) / 300)
    assert high - low > 1.5 * 2 * half


def test_the_interval_of_the_strongest_region_holds_without_a_difference():
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(60):
        x, y = rng.normal(size=(2, 150, 2))
        low, high = regions_of(x, y).interval
        covered += low <= 0 <= high
    assert covered >= 54


def test_levels_and_ties_are_regions():
    rng = np.random.default_rng(3)
    x = np.column_stack([rng.integers(0, 3, 200), rng.integers(0, 4, 200)]).astype(float)
    y = x[rng.permutation(200)].copy()
    x[:60] = (2, 1)
    estimate = regions_of(x, y, ("site", "count"), (("u", "v", "w"), None))
    first = estimate.regions[0]
    assert first.ranges["site"] == "w"
    low, high = first.ranges["count"]
    frame = pd.DataFrame(x, columns=["site", "count"])
    share = (frame["site"].eq(2) & frame["count"].between(low, high)).mean()
    assert first.values[0] == pytest.approx(share)
    assert "site = w" in first.text


def test_a_constant_column_has_no_regions():
    x, y = np.ones((20, 1)), np.ones((20, 1))
    assert regions_of(x, y, ("a",), (None,)) is None
    assert regions_of(np.full((5, 1), np.nan), y, ("a",), (None,)) is None
