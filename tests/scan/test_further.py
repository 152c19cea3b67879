"""Further permutations while the verdict of a scan is open."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import tellapart as ta
from scan.test_in_blocks import SMALL_BLOCKS
from tellapart.budget import Budget, using_budget
from tellapart.data.design_labels import DesignArguments
from tellapart.data.reader import read_samples
from tellapart.permutation.design_units import draw_labels
from tellapart.permutation.labels import draw_bins
from tellapart.scan.scan import Scan, scan
from tellapart.scan.tails import COMBINATION_TIE

SOME = Budget(most_permutations=4_999)
NONE = Budget(most_permutations=999)


def shifted(seed: int, shift: float, rows: int = 60, columns: int = 4):
    """Return two samples of which one column differs by a shift."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, rows, columns))
    y[:, 0] += shift
    return x, y


@cache
def scanned(
    seed: int, shift: float, budget: Budget = SOME, alpha: float = 0.05, random_state: int = 0
) -> Scan:
    rng = np.random.default_rng(random_state)
    samples = read_samples(*shifted(seed, shift))
    with using_budget(budget):
        return scan(samples, n_permutations=999, alpha=alpha, rng=rng, settle=True)


@cache
def open_scan(budget: Budget, random_state: int = 0) -> tuple[Scan, float]:
    """Return a scan of samples whose verdict is open, and its level."""
    alpha = scanned(3, 0.3, NONE).null.pvalue
    return scanned(3, 0.3, budget, alpha, random_state), alpha


def test_clear_answers_stay_as_they_are() -> None:
    for seed, shift in ((0, 1.5), (1, 0.0)):
        few, more = scanned(seed, shift, NONE).null, scanned(seed, shift).null
        assert few.pvalue == more.pvalue
        np.testing.assert_array_equal(few.null_distribution, more.null_distribution)


def test_an_open_verdict_takes_more_permutations() -> None:
    (few, alpha), (more, _) = open_scan(NONE), open_scan(SOME)
    null = more.null
    assert (few.null.n_permutations, null.n_permutations) == (999, 4_999)
    assert abs(few.null.pvalue - null.pvalue) < 0.1
    at_least = np.count_nonzero(null.null_distribution + COMBINATION_TIE >= null.statistic)
    assert null.pvalue == (1 + at_least) / 5_000
    assert (null.pvalue <= alpha) == (null.statistic > null.threshold)


def test_other_seeds_come_closer() -> None:
    few, more = (
        np.array([open_scan(budget, seed)[0].null.pvalue for seed in range(5)])
        for budget in (NONE, SOME)
    )
    assert more.std() < few.std()


def test_what_is_not_the_pvalue_is_that_of_the_first_permutations() -> None:
    (few, alpha), (more, _) = open_scan(NONE), open_scan(SOME)
    assert few.families == more.families
    for name, p in few.variable_pvalues.items():
        assert more.variable_pvalues[name] >= more.null.pvalue
        assert max(p, more.null.pvalue) == max(more.variable_pvalues[name], few.null.pvalue)
    assert bool(more.findings) <= (more.null.pvalue <= alpha)


@pytest.mark.parametrize("design", ["paired", "strata", "clusters"])
def test_designs_go_on(design: str) -> None:
    x, y = shifted(5, 0.0, rows=40)
    sites = np.repeat(np.arange(10), 4)
    arguments = {
        "paired": {"paired": True},
        "strata": {"strata": (sites, sites)},
        "clusters": {"clusters": (np.arange(40) // 2, 20 + np.arange(40) // 2)},
    }[design]
    with using_budget(SOME):
        # Levels at which the first p-value is open whatever it is.
        first = ta.two_sample_test(x, y, **arguments, random_state=0, alpha=0.001)
        alpha = min(max(first.pvalue, 0.01), 0.9)
        result = ta.two_sample_test(x, y, **arguments, random_state=0, alpha=alpha)
    assert result.null_distribution.size == 4_999
    assert abs(result.pvalue - first.pvalue) < 0.1


def test_blocks_of_columns_go_on() -> None:
    x, y = shifted(7, 0.4, rows=40, columns=40)
    results = []
    for blocks in (Budget(), SMALL_BLOCKS):
        with using_budget(replace(blocks, most_permutations=1_999)):
            results.append(ta.two_sample_test(x, y, random_state=0, alpha=0.3))
    whole, blocked = results
    assert whole.null_distribution.size == blocked.null_distribution.size == 1_999
    np.testing.assert_allclose(blocked.null_distribution, whole.null_distribution, rtol=0.02)


def test_all_permutations_of_few_rows_are_enough() -> None:
    x, y = shifted(0, 0.8, rows=6)
    result = ta.two_sample_test(x, y, random_state=0)
    assert result.exact
    assert result.null_distribution.size == 924


def test_schemes_of_users_are_asked_once() -> None:
    class Shifts:
        name = "shifts"

        def draw(self, units, n_permutations, rng):
            by = rng.integers(units.of_x.size, size=n_permutations)
            return np.array([np.roll(units.of_x, k) for k in by])

    x, y = shifted(0, 0.3)
    result = ta.two_sample_test(x, y, design=Shifts(), random_state=0, alpha=0.5)
    assert result.null_distribution.size == 999


def test_fewer_permutations_are_drawn_as_asked() -> None:
    result = ta.two_sample_test(*shifted(3, 0.3), n_permutations=199, random_state=0, alpha=0.3)
    assert result.null_distribution.size == 199


def test_further_labels_are_permutations_of_the_same_bins() -> None:
    rng = np.random.default_rng(0)
    bins = draw_bins(30, 50, 99, rng)
    more = bins.further(200, rng)
    assert more is not None
    assert more.labels.shape == (200, 80)
    assert set(more.labels.sum(axis=1)) == {30.0}
    assert np.unique(more.labels, axis=0).shape[0] == 200
    x, y = shifted(0, 0.0, rows=30)
    paired = read_samples(x, y, design=DesignArguments(paired=True))
    units = draw_labels(paired, 99, rng)
    swapped = units.further(200, rng)
    assert swapped is not None
    assert set(swapped.labels.sum(axis=1)) == {30.0}
    in_order = swapped.labels[:, np.argsort(units.order)]
    np.testing.assert_array_equal(in_order[:, :30] + in_order[:, 30:], 1.0)
