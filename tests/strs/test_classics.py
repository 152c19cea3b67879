"""Sparse principal components and best subsets beside enumeration with plain NumPy and SciPy."""

from itertools import combinations

import numpy as np
import pytest
from instances import gram
from scipy.optimize import nnls

from tellapart.errors import InputError
from tellapart.strs import best_subset, sparse_pca


def test_sparse_pca_is_the_largest_eigenvalue_of_any_block():
    C = gram(np.random.default_rng(0), 12)
    found = sparse_pca(C, 4, gap=1e-8)
    largest = max(np.linalg.eigvalsh(C[np.ix_(s, s)])[-1] for s in combinations(range(12), 4))
    assert found.value == pytest.approx(largest)
    assert found.status == "optimal"
    assert found.z @ C @ found.z == pytest.approx(largest)


@pytest.fixture(scope="module")
def regression():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 10)) + rng.normal(size=(60, 1))
    return X, X @ rng.normal(size=10) + rng.normal(size=60)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_best_subset_is_the_best_fit_of_any_subset(regression, nonnegative):
    X, y = regression
    fit = best_subset(X.T @ X, X.T @ y, 3, nonnegative=nonnegative, gap=1e-8)
    residuals = {}
    for support in combinations(range(10), 3):
        part = X[:, support]
        z = nnls(part, y)[0] if nonnegative else np.linalg.lstsq(part, y, rcond=None)[0]
        residuals[support] = np.sum((y - part @ z) ** 2)
    assert y @ y - fit.value == pytest.approx(min(residuals.values()))
    assert np.sum((y - X @ fit.z) ** 2) == pytest.approx(min(residuals.values()))
    assert fit.status == "optimal"
    assert fit.value <= fit.upper_bound <= fit.value * (1 + 1e-8)


def test_required_variables_are_in(regression):
    X, y = regression
    fit = best_subset(X.T @ X, X.T @ y, 2, required=[9])
    assert 9 in fit.support


def test_nothing_to_gain():
    fit = best_subset(np.eye(3), [-1.0, -2.0, 0.0], 2, nonnegative=True)
    assert (fit.value, fit.support.size, fit.upper_bound) == (0.0, 0, 0.0)


def test_messages():
    with pytest.raises(InputError, match="C must be"):
        sparse_pca(np.ones((2, 3)), 1)
    with pytest.raises(InputError, match="e must have as many entries as M has columns, 2; got 3"):
        best_subset(np.eye(2), np.ones(3), 1)
    with pytest.raises(InputError, match="M must be positive definite"):
        best_subset(np.ones((2, 2)), np.ones(2), 1)
    with pytest.raises(InputError, match="gap must be"):
        best_subset(np.eye(2), np.ones(2), 1, gap=0)
