"""ℓ₁-regularised MMD: what it chooses, its level, and the choice of ρ."""

import numpy as np
import pytest

from tellapart.baselines import L1MMD
from tellapart.baselines.l1_mmd import DEFAULT_REGULARIZATION, GRID
from tellapart.errors import InputError


def two_samples(m=80, n=90, columns=8, shifts=(), seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(m, columns)), rng.normal(size=(n, columns))
    for column, shift in dict(shifts).items():
        y[:, column] += shift
    return x, y


def test_finds_the_two_variables_that_differ():
    x, y = two_samples(shifts={1: 1.5, 6: 1.5})
    result = L1MMD(2, random_state=0).test(x, y)
    assert result.reject
    assert result.variables == ("x1", "x6")
    assert result.regularization in GRID
    assert result.kernel.name == result.selection.kernel == "ARD Gaussian"


def test_the_gap_of_the_weights_decides_without_a_number():
    x, y = two_samples(m=200, n=200, shifts={3: 3.0})
    selection = L1MMD(regularization=1.0, random_state=0).select(x, y)
    assert 3 in selection.support
    assert selection.support.size < 8
    assert (selection.z >= 0).all()


def test_number_of_variables_is_kept():
    x, y = two_samples(shifts={1: 1.5})
    assert L1MMD(3, regularization=0.01, random_state=0).select(x, y).support.size <= 3


def test_statistic_is_mmd_of_the_held_out_rows_with_frozen_weights():
    x, y = two_samples(shifts={1: 1.0})
    result = L1MMD(2, regularization=0.1, random_state=0).test(x, y)
    held, z, kernel = result.held_out, result.selection.z, result.kernel
    m, n = held.n_x, held.n_y
    kxx, kyy = kernel.gram(held.x, held.x, z), kernel.gram(held.y, held.y, z)
    kxy = kernel.gram(held.x, held.y, z)
    expected = (kxx.sum() - m) / (m * (m - 1)) + (kyy.sum() - n) / (n * (n - 1))
    assert result.statistic == pytest.approx(expected - 2 * kxy.mean(), abs=1e-12)


def test_level_under_the_null():
    trials = 60
    rejections = sum(
        L1MMD(2, regularization=0.3, n_permutations=99, random_state=seed)
        .test(*two_samples(m=24, n=28, columns=4, seed=seed))
        .reject
        for seed in range(trials)
    )
    # Binomial(60, 0.05): more than 10 has probability 1e-4.
    assert rejections <= 10


def test_units_do_not_matter():
    x, y = two_samples(shifts={1: 1.0})
    scale = np.array([1e-3, 1e3, 1, 1, 1, 1, 1, 50.0])
    plain = L1MMD(2, regularization=0.1, random_state=0).test(x, y)
    scaled = L1MMD(2, regularization=0.1, random_state=0).test(x * scale, y * scale)
    assert plain.variables == scaled.variables
    assert plain.pvalue == scaled.pvalue


def test_constant_columns_get_no_weight():
    x, y = two_samples(shifts={1: 2.0})
    x[:, 0] = y[:, 0] = 1.0
    with pytest.warns(UserWarning, match="constant"):
        selection = L1MMD(8, regularization=0.01, random_state=0).select(x, y)
    assert selection.z[0] == 0.0
    assert selection.constant == ("x0",)


def test_many_rows_are_drawn_from():
    x, y = two_samples(m=3000, n=40, shifts={1: 1.5})
    baseline = L1MMD(1, regularization=0.1, max_rows=50, random_state=0)
    result = baseline.test(x, y)
    assert result.reject
    assert result.variables == ("x1",)
    assert (result.n_train, result.n_test) == ((1500, 20), (1500, 20))
    other = L1MMD(1, regularization=0.1, max_rows=50, random_state=1).select(x, y)
    assert other.z[1] != baseline.select(x, y).z[1]


def test_too_few_rows_to_choose_a_regularization():
    x, y = two_samples(m=7, n=7, shifts={1: 5.0})
    assert L1MMD(1, random_state=0).select(x, y).regularization == DEFAULT_REGULARIZATION


def test_bad_settings():
    for settings, message in (
        ({"regularization": -1.0}, "regularization"),
        ({"regularization": "cv"}, "regularization"),
        ({"regularization": float("nan")}, "regularization"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"max_rows": 3}, "max_rows"),
        ({"n_variables": 1.5}, "n_variables"),
    ):
        with pytest.raises(InputError, match=message):
            L1MMD(**settings)
