"""The maximum over one support, in every domain, and the proved bounds on it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import KINDS, examples, indefinite, problem_of
from scipy.optimize import nnls

from tellapart.strs import SparseTrustRegion
from tellapart.strs.domains import (
    block_slack,
    dual_bound_on_sphere,
    maximise_on_orthant,
    maximise_on_sphere,
    multiplier_on_orthant,
    secular_root,
)
from tellapart.strs.problem import polish, support_bound

SIZES = st.floats(1e-6, 1e6)


def total(s, gaps, c):
    return float(np.sum((c / (s + gaps)) ** 2))


@examples(200)
@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=8),
    st.sampled_from([1e-80, 1e-12, 1.0, 1e12, 1e80]),
)
def test_root_of_the_equation(terms, scale):
    gaps = scale * np.array([g for g, _ in terms])
    c = scale * np.array([x if abs(x) > 1e-9 else 0.0 for _, x in terms])
    s = secular_root(gaps, c, 0.0)
    assert s >= 0.0
    moving = c != 0
    if s > 0.0:
        assert total(s, gaps[moving], c[moving]) == pytest.approx(1.0, rel=1e-10)
    else:
        assert (gaps[moving] > 0).all()
        assert total(0.0, gaps[moving], c[moving]) <= 1 + 1e-12


def test_one_term_is_exact():
    assert secular_root(np.array([0.0]), np.array([-3.0]), 0.0) == pytest.approx(3.0, rel=1e-15)


def test_nothing_to_solve():
    assert secular_root(np.array([0.0, 1.0]), np.zeros(2), 0.0) == 0.0


def test_term_along_a_tiny_direction():
    """Nearly the hard case: the root is far below every other scale."""
    gaps, c = np.array([0.0, 1.0]), np.array([1e-18, 0.5])
    s = secular_root(gaps, c, 0.0)
    assert s == pytest.approx(1e-18 / np.sqrt(0.75), rel=1e-9)


def check_certificate(A, a, z, value):
    """2Az + a = 2μz with μ ≥ λ_max is necessary and sufficient for the maximum on the sphere."""
    scale = np.abs(A).max() + np.abs(a).max()
    mu = z @ A @ z + a @ z / 2
    assert np.linalg.norm(z) == pytest.approx(1.0, rel=1e-12)
    assert value == pytest.approx(z @ A @ z + a @ z, rel=1e-12, abs=1e-12 * scale)
    residual = 2 * A @ z + a - 2 * mu * z
    assert np.linalg.norm(residual) <= 1e-7 * scale
    assert mu >= np.linalg.eigvalsh(A)[-1] - 1e-9 * scale


@examples(150)
@given(
    st.sampled_from([kind for kind in KINDS if kind != "one huge variable"]),
    st.integers(1, 30),
    st.sampled_from([1e-60, 1e-12, 1.0, 1e12, 1e60]),
    st.integers(0, 10**6),
)
def test_certificate(kind, size, scale, seed):
    problem = problem_of(kind, max(size, 3) if kind == "hard case" else size, 1, seed, scale)
    check_certificate(problem.A, problem.a, *maximise_on_sphere(problem.A, problem.a))


def test_certificate_when_one_term_dominates():
    for ratio in (1e-12, 1e12):
        rng = np.random.default_rng(1)
        A, a = indefinite(rng, 10), ratio * rng.normal(size=10)
        check_certificate(A, a, *maximise_on_sphere(A, a))


def test_hard_case_is_filled_up_along_the_top():
    z, value = maximise_on_sphere(np.diag([2.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    # μ = 2, z = (√(1 − 1/16), 1/4, 0).
    np.testing.assert_allclose(np.abs(z), [np.sqrt(15) / 4, 0.25, 0.0], atol=1e-12)
    assert value == pytest.approx(2 + 1 / 8)


def test_hard_case_with_a_double_top():
    A = np.diag([2.0, 2.0, -1.0])
    a = np.array([0.0, 0.0, 3.0])
    check_certificate(A, a, *maximise_on_sphere(A, a))


def test_nearly_hard_case():
    for tiny in (1e-20, 1e-17, 1e-15, 1e-10, 1e-6):
        A, a = np.diag([2.0, 0.0, -1.0]), np.array([tiny, 1.0, 0.5])
        check_certificate(A, a, *maximise_on_sphere(A, a))


def test_easy_case_behind_the_hard_one():
    """The linear term misses the top, but is too long for the hard case."""
    A, a = np.diag([1.0, 0.0]), np.array([0.0, 6.0])
    z, value = maximise_on_sphere(A, a)
    np.testing.assert_allclose(np.abs(z), [0, 1], atol=1e-12)
    assert value == pytest.approx(6.0)


@pytest.mark.parametrize(("A", "a", "value"), [(3.0, 2.0, 5.0), (3.0, -2.0, 5.0), (-1.0, 0.0, -1)])
def test_one_variable(A, a, value):
    z, reached = maximise_on_sphere(np.array([[A]]), np.array([a]))
    assert abs(z[0]) == 1.0
    assert reached == pytest.approx(value)


def test_no_random_point_is_better():
    rng = np.random.default_rng(2)
    for _ in range(20):
        A, a = indefinite(rng, 4), rng.normal(size=4)
        _, value = maximise_on_sphere(A, a)
        points = rng.normal(size=(2000, 4))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        assert (np.einsum("ij,jk,ik->i", points, A, points) + points @ a).max() <= value + 1e-12


def test_polish_stays_on_its_support():
    problem = problem_of("indefinite", 8, 3)
    support = np.array([1, 4, 6])
    z, value = polish(problem, support)
    assert set(np.flatnonzero(z)) <= {1, 4, 6}
    assert value == pytest.approx(problem.value(z))


@pytest.mark.parametrize("tiny", [1e-120, 1e-170, 1e-310, 5e-324])
def test_small_numbers_are_not_lost_to_their_squares(tiny):
    for sign in (1.0, -1.0):
        a = np.array([sign * tiny, 0.0])
        for A in (np.diag([0.0, -1.0]), np.zeros((2, 2)), np.diag([0.0, -1e100])):
            z, value = maximise_on_sphere(A, a)
            assert (z[0], value) == (sign, tiny)


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


@pytest.mark.parametrize("H", [np.ones((2, 2)), np.array([[1.0, np.nan], [np.nan, 1.0]])])
def test_a_matrix_that_is_not_definite_is_an_error(H):
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        maximise_on_orthant(H, np.ones(2), np.array([True, True]))


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


def value_slack(problem, support):
    """The slack of the block of A; a factor is multiplied out first."""
    return block_slack(problem.submatrix(support), problem.a[support]) + problem.forming_error


@pytest.mark.parametrize("kind", KINDS)
def test_dual_bound_holds_at_every_multiplier(kind):
    problem = problem_of(kind, 5, 5)
    value = polish(problem, np.arange(5))[1]
    slack = value_slack(problem, np.arange(5))
    top = float(np.linalg.eigvalsh(problem.A)[-1])
    for mu in top + np.array([-1.0, 1e-12, 1e-6, 0.1, 1.0, 100.0]):
        assert dual_bound_on_sphere(problem.A, problem.a, float(mu)) >= value - slack


def test_no_variable_on_a_huge_scale_blurs_the_bound_of_a_support():
    # 1/2 + 1/2 at e₁; the third variable may be in, but adds nothing.
    A = np.diag([0.5, -1.0, -1e14])
    A[0, 2] = A[2, 0] = 1.0
    problem = SparseTrustRegion(A, np.array([0.5, 0.0, 0.0]), 3)
    value = polish(problem, np.arange(3))[1]
    assert value_slack(problem, np.arange(3)) > 0.1
    assert 1.0 <= support_bound(problem, np.arange(3), value, cutoff=1.0) < 1.0 + 1e-10


def test_a_bound_below_the_cutoff_costs_nothing_more(monkeypatch):
    monkeypatch.setattr("tellapart.strs.domains._least_dual_bound", None)
    problem = problem_of("PSD", 5, 5)
    value = polish(problem, np.arange(5))[1]
    expected = value + value_slack(problem, np.arange(5))
    assert support_bound(problem, np.arange(5), value, cutoff=2 * value) == expected


def test_the_slack_of_numbers_whose_squares_vanish_does_not():
    A, a = np.diag([1.0, 1e-170, -1e-170]), np.array([0.0, 1e-171, 1e-171])
    slack = value_slack(SparseTrustRegion(A, a, 2), np.array([1, 2]))
    assert 1e-186 < slack < 1e-183
