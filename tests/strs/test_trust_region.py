import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import KINDS, examples, indefinite, problem_of

from tellapart.strs.domains import maximise_on_sphere
from tellapart.strs.problem import polish


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
