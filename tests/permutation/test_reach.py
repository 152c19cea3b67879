"""What few rows are told."""

import math
import warnings

import numpy as np
import pytest

import tellapart as ta
from tellapart.data.reader import read_samples
from tellapart.permutation.pvalues import rounded_up, rows_for_level, warn_of_few_permutations


@pytest.mark.parametrize(
    ("n_x", "n_y", "alpha"), [(2, 2, 0.05), (3, 3, 0.01), (5, 5, 0.001), (2, 7, 0.02)]
)
def test_the_rows_named_are_the_fewest_that_would_do(n_x, n_y, alpha):
    a, b = rows_for_level(n_x, n_y, 999, alpha)
    assert a - n_x == b - n_y
    ties = 2 if a == b else 1
    assert ties / math.comb(a + b, a) <= alpha
    assert ties / math.comb(a + b - 2, a - 1) > alpha


def test_a_level_out_of_reach_of_the_permutations_names_no_rows():
    assert rows_for_level(5, 5, 9, 0.05) is None


@pytest.mark.parametrize("number", [1 / 3, 2 / 252, 0.1, 0.05, 1e-7, 0.999])
def test_rounded_up(number):
    assert number <= rounded_up(number) * (1 + 1e-9) <= number * 1.1001


def test_enough_rows_are_told_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_few_permutations(read_samples(np.eye(5), 1 - np.eye(5)), 999, 0.05)


def test_five_rows_against_five():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(5, 3)), rng.normal(5, size=(5, 3))
    with pytest.warns(UserWarning, match=r"below 0\.00794, so alpha = 0\.001 is .*\(7 and 7 rows"):
        result = ta.two_sample_test(X, Y, alpha=0.001, random_state=0)
    assert result.pvalue == 2 / 252
    told = (
        r"2 and 2 held-out rows .* below 0\.333, .* use more rows \(4 and 4 held-out rows would "
        r"do\), a greater test_size, an alpha of at least 0\.34 or method='scan', which tests with "
        r"all rows \(p-values down to 0\.00794\)$"
    )
    with pytest.warns(UserWarning, match=told):
        ta.two_sample_test(X, Y, method="split", random_state=0)
