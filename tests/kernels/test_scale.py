"""The joint scale is the median over pairs of the mean over columns, and has no units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import make_samples
from tellapart.kernels.bandwidth import LARGEST_DIFFERENCE, joint_scale, median_scale

KINDS = ["numeric", "categorical", "numeric", "numeric"]
CONSTANT = np.array([False, False, True, False])
TAU = np.array([0.5, 1.0, 1.0, 3.0])


def pooled(n, seed):
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [rng.normal(size=n), rng.integers(0, 3, n), np.ones(n), rng.integers(0, 2, n) * 5.0]
    )


def direct(rows, tau):
    i, j = np.triu_indices(len(rows), 1)
    u, v = rows[i], rows[j]
    total = ((u[:, [0, 3]] - v[:, [0, 3]]) / tau[[0, 3]]) ** 2
    total = total.sum(axis=1) + (u[:, 1] != v[:, 1])
    return np.median(total if np.median(total) > 0 else total[total > 0])


@given(st.integers(4, 40), st.integers(0, 99))
def test_it_is_the_median_over_all_pairs(n, seed):
    rows = pooled(n, seed)
    samples = make_samples(rows[:2], rows[2:], KINDS)
    expected = direct(rows, TAU) / 3
    assert median_scale(samples, TAU, CONSTANT) == pytest.approx(expected, rel=1e-12)
    assert joint_scale(samples, TAU, CONSTANT, "median") == pytest.approx(expected, rel=1e-12)
    literal = direct(rows, np.ones(4))
    assert joint_scale(samples, TAU, CONSTANT, "paper") == pytest.approx(literal, rel=1e-12)


def test_some_rows_stand_for_all_whatever_their_order(set_budget):
    rows = pooled(2_000, 0)
    whole = median_scale(make_samples(rows[:900], rows[900:], KINDS), TAU, CONSTANT)
    rows = np.random.default_rng(1).permutation(rows)
    assert median_scale(make_samples(rows[:70], rows[70:], KINDS), TAU, CONSTANT) == whole
    set_budget(exact_median_rows=2_000)
    exact = median_scale(make_samples(rows[:70], rows[70:], KINDS), TAU, CONSTANT)
    assert whole == pytest.approx(exact, rel=0.05)


def test_values_far_out_leave_it_finite():
    rows = pooled(20, 0)
    rows[:15, 0] *= 1e149
    found = median_scale(make_samples(rows[:9], rows[9:], KINDS), TAU * 1e-9, CONSTANT)
    assert 0 < found <= 4 * LARGEST_DIFFERENCE**2


def test_without_any_difference_it_is_one():
    same = make_samples(np.ones((4, 2)), np.ones((5, 2)))
    assert median_scale(same, np.ones(2), np.array([False, True])) == 1.0
