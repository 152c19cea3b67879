"""Products of features: the sums over pairs that they stand for."""

import numpy as np
import pytest

from reference import make_samples
from tellapart.kernels import Linear
from tellapart.statistics.mmd import mmd2
from tellapart.statistics.quadratic_moments import (
    place_landmarks,
    products_of,
    squared_difference,
    squared_shift,
)

RANK = 12


def data():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(150, 3)), rng.normal(size=(90, 3))
    y[:, 2] = 0.8 * y[:, 1] + 0.6 * y[:, 2]
    return make_samples(x, y)


def products(samples, kernel):
    landmarks = place_landmarks(samples, kernel.scalars, RANK)
    return [products_of(values, landmarks, RANK) for values in (samples.x, samples.y)]


def unbiased(gram, m):
    return mmd2(gram[:m, :m], gram[m:, m:], gram[:m, m:])


def test_they_are_the_unbiased_statistics_of_columns_and_pairs():
    samples = data()
    kernel = Linear().fit(samples)
    x, y = products(samples, kernel)
    pooled = np.concatenate([samples.x, samples.y])
    grams = [k.gram(pooled[:, s], pooled[:, s]) for s, k in enumerate(kernel.scalars)]
    expected = [[unbiased(one * other, 150) for other in grams] for one in grams]
    np.testing.assert_allclose(squared_difference(x.tensor, y.tensor), expected, atol=1e-4)
    alone = [unbiased(gram, 150) for gram in grams]
    np.testing.assert_allclose(squared_shift(x, y), alone, atol=1e-4)


@pytest.mark.parametrize("entries", [100, 10_000])
def test_the_size_of_blocks_does_not_matter(set_budget, entries):
    samples = data()
    kernel = Linear().fit(samples)
    whole, _ = products(samples, kernel)
    set_budget(feature_block_entries=entries)
    cut, _ = products(samples, kernel)
    np.testing.assert_allclose(cut.tensor.products, whole.tensor.products, atol=1e-6)
    np.testing.assert_allclose(cut.tensor.self_products, whole.tensor.self_products, atol=1e-6)
    np.testing.assert_allclose(cut.means, whole.means, atol=1e-6)


def test_a_centre_is_taken_off():
    samples = data()
    landmarks = place_landmarks(samples, Linear().fit(samples).scalars, RANK)
    plain = products_of(samples.x, landmarks, RANK)
    shifted = products_of(samples.x, landmarks, RANK, plain.means)
    np.testing.assert_allclose(shifted.means, 0.0, atol=1e-6)
