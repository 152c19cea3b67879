"""The synthetic pairs have the moments their formulas say; the demo data is what it claims."""

import numpy as np
import pytest

from tellapart import datasets
from tellapart.datasets import CASES, demo_tables, make_case
from tellapart.errors import InputError

N = 40_000
TOLERANCE = 0.05  # about six standard errors of an entry of a covariance matrix at N rows


def ar1(n_columns, rho):
    places = np.arange(n_columns)
    return rho ** np.abs(places[:, None] - places[None, :])


def covariance(values):
    return np.cov(values, rowvar=False)


@pytest.mark.parametrize("name", CASES)
def test_shapes_support_and_seed(name):
    X, Y, support = make_case(name, 7, 11, n_features=6, n_informative=2, random_state=3)
    again = make_case(name, 7, 11, n_features=6, n_informative=2, random_state=3)
    other = make_case(name, 7, 11, n_features=6, n_informative=2, random_state=4)
    assert X.shape == (7, 6)
    assert Y.shape == (11, 6)
    assert X.dtype == Y.dtype == np.float64
    assert support.tolist() == [0, 1]
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(Y, again[1])
    assert not np.array_equal(X, other[0])


def test_defaults_are_the_papers():
    X, Y, support = make_case("mean-shift", 3, random_state=0)
    assert X.shape == Y.shape == (3, 100)
    assert support.size == 20


@pytest.mark.parametrize("rho", [0.5, 0.9, -0.4])
def test_mean_shift(rho):
    X, Y, _ = make_case("mean-shift", N, N, 6, 3, tau=0.8, rho=rho, random_state=1)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=TOLERANCE)
    np.testing.assert_allclose(Y.mean(axis=0), [0.8, 0.4, 0.8 / 3, 0, 0, 0], atol=TOLERANCE)
    np.testing.assert_allclose(covariance(X), ar1(6, rho), atol=TOLERANCE)
    np.testing.assert_allclose(covariance(Y), ar1(6, rho), atol=TOLERANCE)


def test_covariance_shift_leaves_the_cross_block_alone():
    X, Y, _ = make_case("covariance-shift", N, N, 6, 3, tau=2.0, random_state=1)
    expected = ar1(6, 0.5)
    np.testing.assert_allclose(covariance(X), expected, atol=TOLERANCE)
    expected[:3, :3] *= 2.0
    np.testing.assert_allclose(covariance(Y), expected, atol=2 * TOLERANCE)
    np.testing.assert_allclose(Y.mean(axis=0), 0.0, atol=TOLERANCE)


def test_laplace_has_standard_deviation_and_kurtosis():
    X, Y, _ = make_case("laplace", N, N, 4, 2, random_state=1)
    np.testing.assert_allclose(Y.std(axis=0), [0.8, 0.8, 1.0, 1.0], atol=0.02)
    np.testing.assert_allclose(covariance(X), np.eye(4), atol=TOLERANCE)
    kurtosis = (Y**4).mean(axis=0) / (Y**2).mean(axis=0) ** 2
    np.testing.assert_allclose(kurtosis, [6.0, 6.0, 3.0, 3.0], atol=0.6)


def test_mixture_moves_whole_rows():
    X, Y, _ = make_case("mixture", N, N, 4, 2, tau=2.0, random_state=1)
    np.testing.assert_allclose(covariance(X), np.eye(4), atol=TOLERANCE)
    np.testing.assert_allclose(Y.mean(axis=0), 0.0, atol=TOLERANCE)
    # Cov = I + v vᵀ with v = (2, 1, 0, 0): the sign is one per row, or the 2 would be 0.
    expected = np.eye(4)
    expected[:2, :2] += np.outer([2.0, 1.0], [2.0, 1.0])
    np.testing.assert_allclose(covariance(Y), expected, atol=3 * TOLERANCE)


@pytest.mark.parametrize("name", CASES)
def test_nothing_informative_makes_the_samples_alike(name):
    X, Y, support = make_case(name, N, N, 3, 0, random_state=1)
    assert support.size == 0
    np.testing.assert_allclose(covariance(X), covariance(Y), atol=2 * TOLERANCE)


def test_wide_rows_cost_no_square_matrix():
    X, Y, _ = make_case("covariance-shift", 2, 2, 200_000, 100_000, random_state=0)
    assert np.isfinite(X).all()
    assert np.isfinite(Y).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "shift"}, "name must be one of 'mean-shift'.*got 'shift'"),
        ({"n_x": 1}, "n_x must be an integer of at least 2; got 1"),
        ({"n_y": 2.5}, "n_y must be an integer"),
        ({"n_features": 0}, "n_features must be"),
        ({"n_informative": 9}, r"n_informative must be an integer in 0\.\.8; got 9"),
        ({"tau": 0.0}, "tau must be a finite number"),
        ({"name": "covariance-shift", "tau": 1.0}, "tau must be a finite number"),
        ({"name": "laplace", "tau": 1.0}, "tau must be None for the case 'laplace'"),
        ({"rho": 1.0}, "rho must be a finite number"),
        ({"random_state": "one"}, "random_state must be"),
    ],
)
def test_bad_arguments(arguments, message):
    good = {"name": "mean-shift", "n_x": 5, "n_features": 8, "n_informative": 2}
    with pytest.raises(InputError, match=message):
        make_case(**(good | arguments))


def test_demo_tables_split_the_bundled_data():
    malignant, benign = demo_tables()
    assert (malignant.num_rows, benign.num_rows) == (212, 357)
    assert malignant.column_names == benign.column_names
    assert len(malignant.column_names) == 30
    # Malignant nuclei are larger: the labels are not swapped.
    radius = [np.mean(table["mean radius"].to_numpy()) for table in (malignant, benign)]
    assert radius[0] > radius[1]
    assert set(datasets.DEFAULT_TAU) < set(CASES)
