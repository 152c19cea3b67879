"""Kernel sums between groups of rows against the dense formula, whatever the tails and scales."""

import numpy as np
import pytest

from tellapart.kernels import GaussianScalar, Indicator, LaplaceScalar
from tellapart.kernels.scalar import MixedScalar

STARTS = np.array([0, 100, 101, 250, 600])


def columns():
    rng = np.random.default_rng(0)
    return {
        "normal": rng.normal(size=600),
        "lognormal": np.exp(3 * rng.normal(size=600)),
        "cauchy": rng.standard_cauchy(600),
        "far clusters": np.repeat([0.0, 1e15, -1e300], 200) + rng.normal(size=600),
        "ties": rng.integers(0, 40, 600) * 3.0,
        "constant": np.full(600, 7.0),
        "one chain": np.arange(600.0) * 4,
    }


def dense(scalar, values):
    edges = STARTS[:-1]
    return np.add.reduceat(np.add.reduceat(scalar.gram(values, values), edges, 0), edges, 1)


@pytest.mark.parametrize("pairs", [0.0, 0.01, 2.0, 1e9])
@pytest.mark.parametrize("name", list(columns()))
def test_gaussian_sums_by_cells_and_by_pairs_are_the_dense_ones(set_budget, name, pairs):
    values = np.random.default_rng(1).permutation(columns()[name])
    set_budget(group_pairs_per_entry=pairs)
    scalar = GaussianScalar(1.3)
    np.testing.assert_allclose(
        scalar.gram_sums(values, STARTS), dense(scalar, values), rtol=1e-11, atol=1e-9
    )


@pytest.mark.parametrize("name", list(columns()))
@pytest.mark.parametrize(
    "scalar",
    [LaplaceScalar(1.3), Indicator(), MixedScalar((GaussianScalar(0.5), LaplaceScalar(2.0)))],
)
def test_sums_of_the_other_kernels_are_the_dense_ones(name, scalar):
    values = np.random.default_rng(1).permutation(columns()[name])
    np.testing.assert_allclose(
        scalar.gram_sums(values, STARTS), dense(scalar, values), rtol=1e-11, atol=1e-9
    )


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_sums_do_not_depend_on_the_unit(scale):
    values = columns()["cauchy"]
    one = GaussianScalar(1.0).gram_sums(values, STARTS)
    np.testing.assert_allclose(
        GaussianScalar(scale).gram_sums(values * scale, STARTS), one, rtol=1e-9
    )


@pytest.mark.parametrize("scalar", [GaussianScalar(1.3), Indicator()])
def test_features_of_groups_are_the_sums_of_those_of_rows(scalar):
    values = columns()["ties"] / 10
    of_rows, of_groups = scalar.features(values), scalar.features(values, STARTS)
    np.testing.assert_allclose(of_groups, np.add.reduceat(of_rows, STARTS[:-1], 0), atol=1e-11)
    np.testing.assert_allclose(of_groups @ of_groups.T, dense(scalar, values), atol=1e-8)
