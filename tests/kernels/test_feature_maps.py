"""Features that chunks share: those of the kernel, but for what is cut off, which is said."""

import numpy as np
import pytest

from tellapart.kernels import GaussianScalar, Indicator, LaplaceScalar
from tellapart.kernels.feature_maps import MOST_LEVELS
from tellapart.kernels.scalar import MixedScalar

MIXED = MixedScalar((GaussianScalar(1.0), GaussianScalar(2.0)))


@pytest.mark.parametrize("scalar", [GaussianScalar(1.0), MIXED])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-5.0, 20.0), (1e4, 1e4 + 60)])
def test_sums_over_groups_have_the_kernel_for_their_product(scalar, low, high):
    values = np.random.default_rng(0).uniform(low, high, 30)
    found = scalar.feature_map(values[:10], low, high)
    assert found.cut == ""
    starts = np.array([0, 4, 4, 30])
    sums = found.sums(values, starts)
    assert sums.shape == (3, found.size)
    gram = scalar.gram(values, values)
    expected = np.add.reduceat(np.add.reduceat(gram, [0, 4], axis=0), [0, 4], axis=1)
    np.testing.assert_allclose((sums @ sums.T)[np.ix_([0, 2], [0, 2])], expected, atol=1e-9)


@pytest.mark.parametrize("scalar", [GaussianScalar(1.0), MIXED])
def test_a_long_range_is_cut_off_about_the_middle(scalar):
    drawn = np.random.default_rng(0).normal(size=101)
    found = scalar.feature_map(drawn, -1e9, 3.0)
    assert "cut off at" in found.cut
    assert found.size < 400
    values = np.array([-1e9, -1e8, -2.0, 3.0])
    sums = found.sums(values, np.arange(5))
    gram = sums @ sums.T
    np.testing.assert_allclose(gram[2:, 2:], scalar.gram(values[2:], values[2:]), atol=1e-12)
    np.testing.assert_allclose(gram[0, 1], 1.0, atol=1e-12)
    np.testing.assert_allclose(gram[0, 2:], 0.0, atol=1e-12)


def test_many_levels_are_lumped():
    codes = np.arange(2_000.0)
    few = Indicator().feature_map(codes[:3], 0.0, 9.0)
    assert (few.size, few.cut) == (10, "")
    many = Indicator().feature_map(np.repeat([7.0, 1999.0], 5), 0.0, 1999.0)
    assert many.size == MOST_LEVELS
    assert "most frequent" in many.cut
    sums = many.sums(np.array([7.0, 1999.0, 1998.0, 1997.0]), np.arange(5))
    np.testing.assert_array_equal(
        sums @ sums.T, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    )


def test_laplace_kernels_and_mixtures_of_them_have_none():
    values = np.arange(3.0)
    assert LaplaceScalar(1.0).feature_map(values, 0.0, 2.0) is None
    mixed = MixedScalar((GaussianScalar(1.0), LaplaceScalar(1.0)))
    assert mixed.feature_map(values, 0.0, 2.0) is None
