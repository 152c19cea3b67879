import numpy as np
from scipy.optimize import nnls

from tellapart.strs.domains import maximise_on_orthant, multiplier_on_orthant


def test_equals_nonnegative_least_squares():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(1, 25))
        B, y = rng.normal(size=(size + 3, size)), rng.normal(size=size + 3)
        passive = rng.random(size) < 0.5
        w = maximise_on_orthant(B.T @ B, 2 * B.T @ y, passive)
        np.testing.assert_allclose(w, nnls(B, y)[0], atol=1e-10)
        np.testing.assert_array_equal(passive, w > 0)


def test_nothing_to_gain():
    passive = np.array([True, True])
    w = maximise_on_orthant(np.eye(2), np.array([-1.0, 0.0]), passive)
    np.testing.assert_array_equal(w, 0)
    assert not passive.any()


def test_multiplier_gives_length_one_or_stays_at_the_lowest():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(1, 15))
        B, c = rng.normal(size=(size, size)), rng.normal(size=size) * 10 ** rng.uniform(-2, 2)
        N = B.T @ B
        mu, w = multiplier_on_orthant(N, c, 1e-3, c > 0)
        assert (w >= 0).all()
        assert mu >= 1e-3
        slope = c - 2 * (N @ w + mu * w)
        scale = np.abs(c).max()
        assert np.abs(slope[w > 0]).max(initial=0.0) <= 1e-9 * scale
        assert slope[w == 0].max(initial=0.0) <= 1e-9 * scale
        length = np.linalg.norm(w)
        assert abs(length - 1) <= 1e-10 if mu > 1e-3 else length <= 1 + 1e-10
