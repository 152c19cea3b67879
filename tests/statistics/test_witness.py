"""The witness function is the difference of two means of the kernel."""

import numpy as np
from scipy import sparse

from tellapart.data.reader import read_samples
from tellapart.kernels import Gaussian, Linear
from tellapart.statistics.witness import mean_difference

Z = np.array([0.6, 0.0, -0.8])


def test_blocks_of_points_change_nothing(set_budget):
    rng = np.random.default_rng(0)
    x, y, points = rng.normal(size=(20, 3)), rng.normal(1, 1, size=(30, 3)), rng.normal(size=(9, 3))
    for kernel in (Linear(), Gaussian("median")):
        fitted = kernel.fit(read_samples(x, y))
        expected = fitted.gram(points, x, Z).mean(axis=1) - fitted.gram(points, y, Z).mean(axis=1)
        for samples in (read_samples(x, y), read_samples(sparse.csr_array(x), y)):
            for size in (10**8, 8 * 30 * 4, 1):
                set_budget(witness_block_bytes=size)
                found = mean_difference(fitted, samples, Z, points)
                np.testing.assert_allclose(found, expected, atol=1e-15)
        assert mean_difference(fitted, samples, Z, points[:0]).shape == (0,)


def test_it_is_positive_where_x_is_the_denser():
    x, y = np.zeros((10, 1)), np.full((10, 1), 4.0)
    x[0], y[0] = 0.1, 3.9
    samples = read_samples(x, y)
    found = mean_difference(Linear().fit(samples), samples, np.ones(1), np.array([[0.0], [4.0]]))
    assert found[0] > 0 > found[1]
