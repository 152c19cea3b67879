"""Effects: the size of a change by formula, and intervals that cover it."""

import numpy as np

from tellapart.scan import effects


def _rng():
    return np.random.default_rng(0)


def _drawn(x, y):
    return effects.Resamples(len(x), len(y), _rng())


def test_mean_shift_counts_in_spreads_within_the_samples():
    x, y = np.array([1.0, 3.0] * 50), np.array([-1.0, 1.0] * 50)
    found = effects.mean_shift(x, y, _drawn(x, y))
    assert found.effect == 2.0 and found.values == (2.0, 0.0)
    assert found.interval[0] < 2.0 < found.interval[1]


def test_samples_without_spread_have_a_finite_shift():
    assert np.isfinite(
        effects.mean_shift(np.ones(9), np.zeros(9), _drawn(np.ones(9), np.zeros(9))).effect
    )


def test_spread_ratio():
    x, y = np.array([-3.0, 3.0] * 50), np.array([-1.0, 1.0] * 50)
    assert effects.spread_ratio(x, y, _drawn(x, y)).effect == 3.0


def test_measures_agree_with_their_definitions():
    rng = _rng()
    v = rng.exponential(size=4000)
    z = (v - v.mean()) / v.std()
    means = effects.powers(v).mean(axis=0)[np.newaxis]
    np.testing.assert_allclose(effects.skewness(means)[0], np.mean(z**3))
    np.testing.assert_allclose(effects.kurtosis(means)[0], np.mean(z**4))
    a, b = rng.normal(size=(2, 500))
    b += a
    pair = effects.pair_features(a, b).mean(axis=0)[np.newaxis]
    np.testing.assert_allclose(effects.correlation(pair)[0], np.corrcoef(a, b)[0, 1])


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = _rng()
    hits = 0
    for _ in range(150):
        x, y = rng.normal(size=2500) + 0.3, rng.normal(size=300)  # the larger one in bins
        low, high = effects.mean_shift(x, y, effects.Resamples(2500, 300, rng)).interval
        hits += low <= 0.3 <= high
    assert hits / 150 > 0.88
