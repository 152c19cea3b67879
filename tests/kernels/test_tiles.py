"""Tiles of a Gram matrix are those of the kernel, far values included."""

import numpy as np
import pytest

from reference import make_samples
from tellapart.kernels import Gaussian, Linear, Quadratic
from tellapart.kernels.random_features import GramTiles


@pytest.mark.parametrize("kernel", [Gaussian(), Linear(), Quadratic()])
def test_tiles_are_parts_of_the_gram_matrix(kernel):
    rng = np.random.default_rng(0)
    x, y = 1e4 + rng.normal(size=(40, 3)), 1e4 + rng.normal(size=(50, 3))
    x[3, 0], y[7, 1], y[8, 1] = 1e9, -1e12, -1e12
    y[:, 2] = np.exp(3 * (y[:, 2] - 1e4))
    fitted = kernel.fit(make_samples(x, y))
    pooled, z = np.concatenate([x, y]), np.array([0.6, 0.64, 0.48])
    expected = fitted.gram(pooled, pooled, z)
    tiles = GramTiles(fitted, pooled, z)
    for rows, columns in ((slice(0, 90), slice(0, 90)), (slice(2, 9), slice(40, 60))):
        np.testing.assert_allclose(
            tiles.tile(rows, columns), expected[rows, columns], rtol=0, atol=1e-11
        )
