"""The power ratio and its gradient against formulas written out; the search; the histogram rule."""

import numpy as np
import pytest

from tellapart.baselines.l1_mmd import (
    LEAST_RATIO,
    VARIANCE_FLOOR,
    PowerRatio,
    _loss,
    ard_kernel,
    histogram_threshold,
    optimise,
)
from tellapart.data.samples import Samples
from tellapart.statistics.mmd import mmd2, variance


def make(m=30, n=40, columns=4, shift=(), seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(m, columns)), rng.normal(size=(n, columns))
    for s, by in dict(shift).items():
        y[:, s] += by
    names = tuple(f"v{s}" for s in range(columns))
    return Samples(x, y, names, ("numeric",) * columns)


def direct_ratio(samples, weights):
    pooled = np.concatenate([samples.x, samples.y])
    distances = np.abs(pooled[:, None] - pooled)
    tau = np.median(distances[np.triu_indices(len(pooled), 1)], axis=0)
    gram = np.exp(-((distances / tau) ** 2) @ weights)
    m = samples.n_x
    parts = gram[:m, :m], gram[m:, m:], gram[:m, m:]
    return mmd2(*parts) / np.sqrt(variance(*parts) + VARIANCE_FLOOR)


def test_ratio_is_the_direct_formula():
    samples = make(shift={1: 1.0})
    weights = np.array([0.3, 0.5, 0.0, 1.2])
    ratio = PowerRatio(samples, ard_kernel(samples))
    assert ratio.at(weights).value == pytest.approx(direct_ratio(samples, weights), rel=1e-9)


def test_gradient_is_the_slope_of_the_ratio():
    samples = make(shift={1: 1.0})
    weights = np.array([0.3, 0.5, 0.2, 1.2])
    ratio = PowerRatio(samples, ard_kernel(samples))
    gradient = ratio.at(weights).gradient
    for s in range(4):
        step = np.zeros(4)
        step[s] = 1e-5
        slope = (ratio.at(weights + step).value - ratio.at(weights - step).value) / 2e-5
        assert gradient[s] == pytest.approx(slope, rel=1e-5)


def test_constant_and_categorical_columns_take_their_part():
    samples = make(columns=3, shift={1: 1.0})
    x, y = samples.x.copy(), samples.y.copy()
    x[:, 0] = y[:, 0] = 5.0
    x[:, 2], y[:, 2] = np.arange(30) % 3, np.arange(40) % 2
    mixed = Samples(x, y, ("k", "u", "c"), ("numeric", "numeric", "categorical"))
    ratio = PowerRatio(mixed, ard_kernel(mixed))
    weights, _ = optimise(ratio, 0.1)
    assert ratio.varying.tolist() == [1, 2]
    assert weights[0] == 0.0
    assert weights[1] > 0


def test_search_improves_on_the_start_and_is_stationary():
    samples = make(m=60, n=60, columns=6, shift={2: 1.0})
    ratio = PowerRatio(samples, ard_kernel(samples))
    weights, cost = optimise(ratio, 0.3)
    equal = np.full(6, 1 / 6)
    assert cost < _loss(ratio.at(equal).value)[0] + 0.3
    assert cost == pytest.approx(_loss(ratio.at(weights).value)[0] + 0.3 * weights.sum())
    at = ratio.at(weights)
    slope = _loss(at.value)[1] * at.gradient + 0.3
    # First-order conditions of w ≥ 0: slope 0 where w > 0, at least 0 where w = 0.
    assert np.abs(slope[weights > 0]).max() < 1e-3
    assert (slope[weights == 0] > -1e-3).all()
    assert weights.argmax() == 2


def test_more_regularization_means_a_smaller_norm():
    samples = make(m=60, n=60, columns=6, shift={2: 1.0})
    ratio = PowerRatio(samples, ard_kernel(samples))
    sums = [optimise(ratio, rho)[0].sum() for rho in (0.01, 0.3, 3.0)]
    assert sums[0] > sums[1] > sums[2]


def test_logarithm_goes_on_as_its_tangent():
    value, slope = _loss(LEAST_RATIO)
    below, slope_below = _loss(LEAST_RATIO - 1e-9)
    assert below == pytest.approx(value + 1e-9 / LEAST_RATIO)
    assert slope_below == slope == -1 / LEAST_RATIO
    assert _loss(-1.0)[0] > _loss(0.0)[0] > value
    assert _loss(0.5)[0] == -np.log(0.5)


def test_threshold_is_the_first_gap():
    weights = np.array([0.0, 0.0, 0.0, 0.05, 0.45, 1.0])
    threshold = histogram_threshold(weights, n_bins=10)
    assert threshold == pytest.approx(0.1)
    assert np.flatnonzero(weights > threshold).tolist() == [4, 5]


def test_threshold_without_a_gap_is_the_first_valley():
    weights = np.array([0.0, 0.1, 0.3, 0.4, 0.45, 0.6, 0.8, 0.9, 1.0])
    # Bins of width 0.25: counts 2, 3, 1, 3.
    assert np.histogram(weights, 4)[0].tolist() == [2, 3, 1, 3]
    assert histogram_threshold(weights, n_bins=4) == 0.5


def test_equal_weights_are_all_chosen():
    assert (np.full(4, 0.25) > histogram_threshold(np.full(4, 0.25))).all()
    assert (np.zeros(3) > histogram_threshold(np.zeros(3))).all()
