"""Effects: the size of a change by formula, and intervals that cover it."""

import numpy as np
import pytest

from tellapart.permutation.keyed_bins import draw_keyed_bins
from tellapart.scan import effects


def _rng():
    return np.random.default_rng(0)


def _drawn(n_x, n_y, rng=None):
    rng = rng or _rng()
    bins = draw_keyed_bins(n_x, n_y, 1, rng)
    return bins, effects.Resamples(bins, rng)


def _sums(bins, x, y):
    """Sums of features (rows × F) over the bins of each sample."""
    sides = []
    for sample, features in enumerate((x, y)):
        at, _ = bins.of_rows(sample, 0, len(features))
        own = np.zeros((bins.n_bins_of[sample] + 1, features.shape[1]))
        np.add.at(own, at, features)
        sides.append((own, None))
    return tuple(sides)


def _of(measure, x, y):
    bins, drawn = _drawn(len(x), len(y))
    powers = [np.column_stack([v, v**2]) for v in (x, y)]
    return measure(_sums(bins, *powers), drawn)


def test_mean_shift_counts_in_spreads_within_the_samples():
    found = _of(effects.mean_shift, np.array([1.0, 3.0] * 50), np.array([-1.0, 1.0] * 50))
    assert found.effect == 2.0
    assert found.values == (2.0, 0.0)
    assert found.interval[0] < 2.0 < found.interval[1]


def test_samples_without_spread_have_a_finite_shift():
    assert np.isfinite(_of(effects.mean_shift, np.ones(9), np.zeros(9)).effect)


def test_spread_ratio():
    found = _of(effects.spread_ratio, np.array([-3.0, 3.0] * 50), np.array([-1.0, 1.0] * 50))
    assert found.effect == 3.0
    assert found.values == (3.0, 1.0)


def test_measures_agree_with_their_definitions():
    rng = _rng()
    v = rng.exponential(size=4000)
    z = (v - v.mean()) / v.std()
    means = np.array([[np.mean(v**k) for k in (1, 2, 3, 4)]])
    np.testing.assert_allclose(effects.skewness(means)[0], np.mean(z**3))
    np.testing.assert_allclose(effects.kurtosis(means)[0], np.mean(z**4))
    a, b = rng.normal(size=(2, 500))
    b += a
    pair = np.array([[np.mean(f) for f in (a, a * a, b, b * b, a * b)]])
    np.testing.assert_allclose(effects.correlation(pair)[0], np.corrcoef(a, b)[0, 1])


@pytest.mark.long
def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = _rng()
    hits = 0
    for _ in range(60):
        x, y = rng.normal(size=2500) + 0.3, rng.normal(size=700)  # both in bins
        bins, drawn = _drawn(2500, 700, rng)
        powers = [np.column_stack([v, v**2]) for v in (x, y)]
        low, high = effects.mean_shift(_sums(bins, *powers), drawn).interval
        hits += low <= 0.3 <= high
    assert hits / 60 > 0.85
