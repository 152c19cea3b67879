"""A fitted kernel: the weighted sum over its columns, in blocks, and for some columns only."""

import numpy as np
import pytest

from tellapart.data.samples import Samples
from tellapart.kernels import Linear


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=40), rng.integers(0, 3, 40), np.ones(40)])
    y = np.column_stack([rng.normal(size=60), rng.integers(0, 3, 60), np.ones(60)])
    return Samples(x, y, ("u", "v", "w"), ("numeric", "categorical", "numeric"))


@pytest.mark.parametrize("scalar", ["gaussian", "laplace"])
def test_gram_is_the_weighted_sum_over_columns_also_in_row_blocks(samples, scalar, set_budget):
    fitted = Linear(scalar).fit(samples)
    z = np.array([0.8, -0.6, 0.0])
    expected = sum(
        z[s] * fitted.scalars[s].gram(samples.x[:, s], samples.y[:, s]) for s in range(3)
    )
    np.testing.assert_allclose(fitted.gram(samples.x, samples.y, z), expected, atol=1e-15)
    set_budget(gram_block_entries=150)
    np.testing.assert_allclose(fitted.gram(samples.x, samples.y, z), expected, atol=1e-15)


def test_gram_without_active_columns_is_zero(samples):
    gram = Linear().fit(samples).gram(samples.x, samples.y, np.zeros(3))
    np.testing.assert_array_equal(gram, np.zeros((40, 60)))


def test_the_kernel_of_some_columns_is_that_of_the_others_at_weight_zero(samples):
    fitted = Linear().fit(samples)
    part = fitted.columns(np.array([2, 0]))
    assert part.constant.tolist() == [True, False]
    x, y = samples.x[:, [2, 0]], samples.y[:, [2, 0]]
    np.testing.assert_allclose(
        part.gram(x, y, np.array([0.6, -0.8])),
        fitted.gram(samples.x, samples.y, np.array([-0.8, 0.0, 0.6])),
        atol=1e-15,
    )
