"""The odds that a thing differs: Bayes factors, and shares learned from all things."""

import numpy as np
import pytest
from scipy import stats

from tellapart.evidence.columns import EFFECTS, fit_mixture, log_bayes_factor, strength


def test_bayes_factors_are_ratios_of_densities():
    z = np.array([0.0, 0.7, 2.0, 5.0])
    plain = stats.norm.pdf(z)
    effects = np.mean([stats.norm.pdf(z, scale=np.sqrt(1 + t * t)) for t in EFFECTS], axis=0)
    np.testing.assert_allclose(log_bayes_factor(z**2), np.log(effects / plain), rtol=1e-12)


def test_huge_statistics_stay_finite():
    factors = log_bayes_factor(np.array([[1e300, 0.0, 1.0]]))
    found = fit_mixture(factors, 1.0)
    assert np.isfinite(found.log_odds).all()
    assert found.log_odds.argmax() == 0


def test_a_kind_that_is_about_counts_for_more():
    """Two columns of the same z: the one of the kind that others share has the larger odds."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(2, 100))
    table[0, :10] = 4.0
    table[:, 20], table[:, 21] = (3.0, 0.5), (0.5, 3.0)
    found = fit_mixture(log_bayes_factor(table**2), 5.0)
    assert found.log_odds[20] > found.log_odds[21] + 1
    assert found.kind[20] == 0
    assert found.shares[0] > found.shares[1]


def test_noise_alone_has_odds_below_one():
    rng = np.random.default_rng(1)
    found = fit_mixture(log_bayes_factor(rng.normal(size=(5, 200)) ** 2), 5.0)
    assert np.mean(found.log_odds > 0) < 0.02


def test_strengths_are_positive_and_keep_the_order():
    odds = np.array([-800.0, -5.0, 0.0, 3.0, 500.0])
    found = strength(odds)
    assert (np.diff(found) > 0).all()
    assert found[-1] == pytest.approx(np.sqrt(1000))
