import numpy as np

from tellapart.kernels.fastsum import CountExpansion, LevelCounts


def test_sums_equal_the_dense_ones():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 4, 50).astype(float), rng.integers(1, 7, 30).astype(float)
    sums = CountExpansion(LevelCounts.of(x), LevelCounts.of(y))
    points = np.arange(-1.0, 9.0)
    np.testing.assert_allclose(
        [sums.mean_xx, sums.mean_yy, sums.mean_xy],
        [np.equal.outer(u, v).mean() for u, v in ((x, x), (y, y), (x, y))],
        rtol=1e-14,
    )
    expected = np.equal.outer(x, points).mean(0) - np.equal.outer(y, points).mean(0)
    np.testing.assert_allclose(sums.witness(points), expected, atol=1e-15)
