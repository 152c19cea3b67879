"""Differences of one column: their formulas, and where they are cut off."""

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tellapart.kernels.base import LARGEST_DIFFERENCE, Mismatch, SquaredDifference

COLUMN = arrays(float, st.integers(0, 6), elements=st.floats(-1e6, 1e6))


@given(COLUMN, COLUMN, st.floats(1e-3, 1e3))
def test_grams_follow_the_formula(u, v, scale):
    expected = ((u[:, None] - v) / scale) ** 2
    np.testing.assert_allclose(SquaredDifference(scale).gram(u, v), expected, rtol=1e-14)
    np.testing.assert_array_equal(Mismatch().gram(u, v), u[:, None] != v)


def test_differences_too_large_for_a_float_are_cut_off():
    far = np.array([-1.5e308, 0.0, 1.5e308])
    gram = SquaredDifference(1e-5).gram(far, far)
    np.testing.assert_array_equal(gram, LARGEST_DIFFERENCE**2 * (1 - np.eye(3)))
    assert SquaredDifference().gram(np.zeros(0), far).shape == (0, 3)


def test_fitted_differences_survive_pickling():
    for psi in (SquaredDifference(2.0), Mismatch()):
        assert pickle.loads(pickle.dumps(psi)) == psi
