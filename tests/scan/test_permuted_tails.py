"""Tails of permuted sums: they fit what permutations show, and treat every permutation alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tellapart.scan.tails import NOTHING, BinMoments, PermutedTails

SPARSE = (np.random.default_rng(0).random(400) < 0.05).astype(np.float32)
LOPSIDED = np.random.default_rng(1).exponential(size=400).astype(np.float32)
BOTH_SIDES = SPARSE * np.random.default_rng(2).choice([-1.0, 1.0], 400).astype(np.float32)
FEATURES = np.column_stack([SPARSE, LOPSIDED, BOTH_SIDES])


def _permuted(features, n_x, count, seed=0):
    """Return the sums over x of features (rows × P) under permutations of the rows."""
    rng = np.random.default_rng(seed)
    labels = np.zeros((count, len(features)), dtype=np.float32)
    labels[:, :n_x] = 1
    return rng.permuted(labels, axis=1) @ features


@pytest.mark.parametrize("n_x", [40, 120, 200])
def test_skewness_and_excess_are_those_of_permuted_sums(n_x):
    tails = BinMoments.of([FEATURES], n_x / len(FEATURES)).of_sum()
    sums = _permuted(FEATURES, n_x, 60_000)
    np.testing.assert_allclose(tails.skewness, stats.skew(sums, axis=0), atol=0.05)
    np.testing.assert_allclose(tails.excess, stats.kurtosis(sums, axis=0), atol=0.12)


@pytest.mark.parametrize("n_x", [30, 100])
def test_a_root_has_the_tails_of_deviations(n_x):
    values = np.random.default_rng(3).normal(size=(400, 1))
    squares = ((values - values.mean()) / values.std()).astype(np.float32) ** 2
    of_x = _permuted(squares, n_x, 60_000)
    roots = np.sqrt(of_x / n_x) - np.sqrt((squares.sum(axis=0) - of_x) / (400 - n_x))
    tails = BinMoments.of([squares], n_x / len(squares)).of_root(1.0)
    np.testing.assert_allclose(tails.skewness, stats.skew(roots, axis=0), atol=0.08)
    np.testing.assert_allclose(tails.excess, stats.kurtosis(roots, axis=0), atol=0.12)


def test_scores_are_of_the_order_of_the_tail_for_rare_values_too():
    n_x = 40
    tails = BinMoments.of([FEATURES], n_x / len(FEATURES)).of_sum()
    sums = _permuted(FEATURES, n_x, 200_000)
    scores = tails.scores(sums)
    for p in range(3):
        beyond = sums[:, p] > sums[:, p].mean()
        for share in (1e-2, 1e-3, 1e-4):
            seen = np.quantile(np.where(beyond, scores[:, p], 0), 1 - share)
            assert abs(seen - stats.norm.isf(share) ** 2 / 2) < 0.35 * seen + 0.3


def test_many_permuted_sums_of_rare_values_do_not_tower_over_normal_ones():
    rng = np.random.default_rng(4)
    rare = (rng.random((700, 150)) < 0.03) * rng.exponential(size=(700, 150))
    plain = rng.normal(size=(700, 150))
    tops = []
    for values in (rare, plain):
        features = values.astype(np.float32)
        tails = BinMoments.of([features], 70 / len(features)).of_sum()
        tops.append(tails.scores(_permuted(features, 70, 999)).max(axis=1))
    assert np.quantile(tops[0], 0.95) < np.quantile(tops[1], 0.95) + 0.7


@given(st.integers(2, 60), st.integers(0, 1000))
def test_every_permutation_is_treated_alike(count, seed):
    rng = np.random.default_rng(seed)
    statistics = rng.standard_t(2, size=(count, 3))
    tails = PermutedTails(np.array([0.0, 0.8, -0.3]), np.array([0.0, 0.2, 2.0]))
    order = rng.permutation(count)
    np.testing.assert_allclose(
        tails.scores(statistics)[order], tails.scores(statistics[order]), rtol=1e-7, atol=1e-9
    )


@given(st.floats(-2, 2), st.floats(-0.5, 6))
def test_scores_grow_away_from_the_mean(skewness, excess):
    statistics = np.linspace(-6, 6, 801)[:, np.newaxis]
    scores = PermutedTails(np.array([skewness]), np.array([excess])).scores(statistics)[:, 0]
    assert (np.diff(scores[401:]) > -1e-9).all()
    assert (np.diff(scores[:400]) < 1e-9).all()
    assert scores.min() >= -1e-9


def test_the_side_away_from_the_skewness_counts_no_more_than_normally():
    statistics = np.random.default_rng(5).normal(size=(2000, 1))
    z = (statistics - statistics.mean()) / statistics.std()
    scores = PermutedTails(np.array([0.8]), np.array([1.2])).scores(statistics)
    low = z[:, 0] < -1
    assert (scores[low, 0] < 1.05 * z[low, 0] ** 2 / 2 + 0.01).all()


def test_what_cannot_change_has_no_score():
    tails = PermutedTails(np.zeros(1), np.zeros(1))
    assert (tails.scores(np.full((50, 1), 3.0)) == NOTHING).all()


def test_a_large_change_does_not_hide_behind_its_own_deviation():
    statistics = np.random.default_rng(6).normal(size=(100, 1))
    statistics[0] = 12.0
    assert PermutedTails(np.zeros(1), np.zeros(1)).scores(statistics)[0, 0] > 50
