"""P-values of looks at growing sets of permutations: valid, whatever was decided on the way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy import stats

from tellapart.arrays import FloatArray
from tellapart.permutation.looks import (
    UNLIKELY,
    VARIANCE_FACTOR,
    Look,
    Looks,
    bounds_of,
    placed,
    rank_pvalues_of,
)

# Two labellings a batch, two batches a group, two groups; every p-value of 1/2 is open at first.
TREE = Looks((Look(2, 0.0, 0.6), Look(4, 0.25, 0.75), Look(8, 0.0, 0.0)))


def in_branch(batches: Sequence[FloatArray]) -> FloatArray:
    """Return a statistic that depends on the branch it is computed in, and on the batches."""
    values = np.concatenate([batch - batch.mean() / 2 for batch in batches])
    return np.asarray(np.round(np.sin(values * (1 + values.sum() % 3)), 9))


def reported(looks: Looks, labels: FloatArray, tolerance: float = 0.0) -> float:
    """Return the p-value of the first of the labels."""
    batches = np.split(labels, labels.size // looks.batch)
    rest = batches[:0:-1]
    values = looks.follow(
        batches[0], in_branch, lambda number: [rest.pop() for _ in range(number)], tolerance
    )
    return float(rank_pvalues_of(values, tolerance)[0])


@pytest.mark.parametrize(
    "labels", [(0, 0, 2, 3, 5, 8, 13, 21), (0, 0, 1, 1, 1, 2, 7, 7), (0, 0, 0, 0, 1, 1, 1, 1)]
)
def test_all_orders_of_labels_give_valid_pvalues(labels: tuple[int, ...]) -> None:
    every = np.array(sorted(set(permutations(labels))), dtype=np.float64)
    pvalues = np.array([reported(TREE, one, 1e-9) for one in every])
    assert np.unique(pvalues).size > 2
    for p in np.unique(pvalues):
        assert np.count_nonzero(pvalues <= p) <= p * pvalues.size * (1 + 1e-12)


def test_stopping_where_the_count_looks_good_would_not_be_valid() -> None:
    """The same looks with p-values of the last look alone, and no places: too many are small."""
    rng = np.random.default_rng(0)
    small = 0
    for _ in range(2_000):
        labels = rng.permutation(8).astype(np.float64)
        for size in (2, 4, 8):
            pvalue = np.count_nonzero(labels[:size] >= labels[0]) / size
            if pvalue <= 0.5:
                break
        small += pvalue <= 0.5
    assert small > 1_200
    assert (
        np.mean([reported(TREE, rng.permutation(np.arange(8.0))) <= 0.5 for _ in range(2_000)])
        < 0.55
    )


@pytest.mark.parametrize("ties", [False, True])
def test_random_statistics_at_the_usual_looks(ties: bool) -> None:
    looks = Looks((Look(40, 0.025, 0.1), Look(200, 0.035, 0.075), Look(800, 0.0, 0.0)))
    rng = np.random.default_rng(1)
    pvalues = np.empty(4_000)
    for i in range(pvalues.size):
        labels = rng.gamma(0.5, size=800)
        pvalues[i] = reported(looks, np.floor(3 * labels) if ties else labels)
    for x in (0.025, 0.035, 0.05, 0.06, 0.075, 0.1, 0.3):
        share = np.mean(pvalues <= x)
        assert share <= x + 3 * np.sqrt(x / pvalues.size)
        assert ties or share >= x - 3 * np.sqrt(x / pvalues.size) - 1 / 40


def test_a_verdict_is_settled_by_pvalues_that_are_unlikely_at_alpha() -> None:
    for count, alpha in ((1_000, 0.05), (5_000, 0.05), (20_000, 0.01)):
        low, high = bounds_of(count, alpha)
        effective = count // VARIANCE_FACTOR
        others = stats.binom(effective - 1, alpha)
        assert others.cdf(round(low * effective) - 1) <= UNLIKELY < others.cdf(low * effective)
        at_least = others.sf(round(high * effective) - 1)
        assert at_least <= UNLIKELY < others.sf(round(high * effective) - 2)
    assert bounds_of(1_000, 0.005)[0] == 1 / 1_000
    assert bounds_of(1_000, 0.001)[0] == 0.0


def test_bounds_of_looks_only_become_narrower() -> None:
    for alpha in (0.001, 0.005, 0.01, 0.05, 0.1, 0.5):
        looks = Looks.of(999, 19_999, alpha).looks
        assert all(a.low <= b.low <= alpha <= b.high <= a.high for a, b in pairwise(looks))


@pytest.mark.parametrize(
    ("n_permutations", "most", "sizes"),
    [
        (999, 19_999, [1_000, 5_000, 20_000]),
        (999, 4_999, [1_000, 5_000]),
        (999, 1_998, [1_000]),
        (4_999, 19_999, [5_000, 20_000]),
        (1_499, 19_999, [1_500, 7_500, 15_000]),
        (19_999, 19_999, [20_000]),
        (99_999, 19_999, [100_000]),
        (998, 19_999, [999]),
    ],
)
def test_sizes_of_looks(n_permutations: int, most: int, sizes: list[int]) -> None:
    assert [look.size for look in Looks.of(n_permutations, most, 0.05).looks] == sizes


def test_settled_labellings_keep_their_side() -> None:
    sides = np.array([1, 1, 0, 0, -1, -1], dtype=np.int8)
    values = placed(np.array([9.0, 0.0, 2.0, 5.0, 7.0, -1.0]), sides)
    np.testing.assert_array_equal(values, [9.0, 5.0, 2.0, 5.0, 2.0, -1.0])
    settled = np.array([1, -1], dtype=np.int8)
    np.testing.assert_array_equal(placed(np.array([1.0, 2.0]), settled), [1.0, 2.0])


def test_without_further_labels_the_last_look_stands() -> None:
    labels = np.array([1.0, 2.0])
    values = TREE.follow(labels, in_branch, lambda number: None)
    np.testing.assert_array_equal(values, in_branch([labels]))
