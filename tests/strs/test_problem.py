import numpy as np
import pytest

from tellapart.errors import InputError
from tellapart.strs import ShiftedFactor, SparseTrustRegion

RNG = np.random.default_rng(0)
FACTOR = ShiftedFactor(0.7, RNG.normal(size=(4, 6)))
DENSE = 0.7 * np.eye(6) - FACTOR.B.T @ FACTOR.B


def test_factor_form_equals_dense_form():
    a = RNG.normal(size=6)
    by_factor, by_matrix = SparseTrustRegion(FACTOR, a, 3), SparseTrustRegion(DENSE, a, 3)
    z = RNG.normal(size=6)
    support = np.array([0, 3, 5])
    np.testing.assert_allclose(by_factor.A, by_matrix.A, atol=1e-14)
    np.testing.assert_allclose(by_factor.product(z), by_matrix.product(z), atol=1e-13)
    np.testing.assert_allclose(by_factor.submatrix(support), by_matrix.submatrix(support))
    np.testing.assert_allclose(by_factor.diagonal, by_matrix.diagonal)
    assert by_factor.value(z) == pytest.approx(by_matrix.value(z))
    assert by_factor.value(z) == pytest.approx(z @ DENSE @ z + a @ z)


def test_factor_without_rows_is_a_multiple_of_the_identity():
    problem = SparseTrustRegion(ShiftedFactor(2.0, np.empty((0, 3))), np.zeros(3), 1)
    np.testing.assert_array_equal(problem.A, 2 * np.eye(3))
    np.testing.assert_array_equal(problem.diagonal, [2, 2, 2])


def test_value_of_zero_is_zero():
    assert SparseTrustRegion(DENSE, np.ones(6), 2).value(np.zeros(6)) == 0.0


def test_problem_keeps_its_own_copy():
    A, a = DENSE.copy(), np.ones(6)
    problem = SparseTrustRegion(A, a, 2)
    A[:] = a[:] = 0.0
    np.testing.assert_allclose(problem.A, DENSE)
    np.testing.assert_array_equal(problem.a, 1)


def test_slight_asymmetry_is_averaged():
    A = DENSE.copy()
    A[0, 1] += 1e-10
    problem = SparseTrustRegion(A, np.ones(6), 2)
    np.testing.assert_array_equal(problem.A, problem.A.T)


def test_forming_error_covers_the_error_of_the_product():
    B = RNG.normal(size=(300, 20))
    problem = SparseTrustRegion(ShiftedFactor(1e3, B), np.zeros(20), 5)
    exact = B.astype(np.longdouble).T @ B.astype(np.longdouble)
    error = np.abs(problem.A - (1e3 * np.eye(20) - exact)).max()
    assert 0 < error <= problem.forming_error
    assert SparseTrustRegion(DENSE, np.zeros(6), 5).forming_error == 0.0


def test_one_huge_variable_does_not_blur_the_resolution():
    A = -np.diag([1e12, 1.0, 1.0, 1.0])
    assert 0 < SparseTrustRegion(A, np.ones(4), 2).resolution < 1e-10
    off_diagonal = np.ones((3, 3)) - np.eye(3)
    assert 1e-13 < SparseTrustRegion(off_diagonal, np.zeros(3), 2).resolution < 1e-10
    assert SparseTrustRegion(np.zeros((3, 3)), np.zeros(3), 2).resolution > 0


def test_a_factor_whose_square_overflows_is_refused():
    with pytest.raises(InputError, match="A and a must have a largest entry"):
        SparseTrustRegion(ShiftedFactor(0.0, np.full((2, 2), 1e200)), np.zeros(2), 1)


def test_no_number_of_huge_variables_blurs_the_resolution():
    for hopeless in (-1e13, -1e30):
        A = np.diag([1.0, 1.0] + [hopeless] * 9)
        for d in (1, 2, 5):
            assert 0 < SparseTrustRegion(A, np.ones(11), d).resolution < 1e-10


@pytest.mark.parametrize(
    ("A", "a", "d", "message"),
    [
        (np.eye(2), [1.0, np.nan], 1, "a must hold finite numbers"),
        (np.eye(2), [[1.0, 2.0]], 1, "a must be a vector"),
        (np.eye(2), [], 1, "a must be a vector"),
        (np.eye(2), ["x", "y"], 1, "a must be a vector of real numbers"),
        (np.eye(2), [1j, 0], 1, "a must be a vector of real numbers"),
        (np.eye(2), [1.0, 2.0, 3.0], 1, "a must have as many entries"),
        ([[1.0, 2.0], [3.0, 1.0]], [1.0, 2.0], 1, "A must be symmetric"),
        (np.ones((2, 3)), [1.0, 2.0], 1, "A must be a square matrix"),
        (np.ones((0, 0)), [1.0], 1, "A must be a square matrix"),
        ([[np.inf, 0], [0, 1]], [1.0, 2.0], 1, "A must hold finite numbers"),
        ([[1, 2], [3]], [1.0, 2.0], 1, "A must be a matrix of real numbers"),
        ("text", [1.0, 2.0], 1, "A must be a matrix of real numbers"),
        (np.eye(2) * 1e120, [1.0, 2.0], 1, "A and a must have a largest entry"),
        (np.eye(2) * 1e-120, [0.0, 0.0], 1, "A and a must have a largest entry"),
        (np.eye(2), [1.0, 2.0], 0, "d must be an integer in 1..2"),
        (np.eye(2), [1.0, 2.0], 3, "d must be an integer in 1..2"),
        (np.eye(2), [1.0, 2.0], 1.5, "d must be an integer in 1..2"),
        (np.eye(2), [1.0, 2.0], True, "d must be an integer in 1..2"),
    ],
)
def test_bad_problems_are_refused_by_name(A, a, d, message):
    with pytest.raises(InputError, match=message.replace("..", r"\.\.")):
        SparseTrustRegion(A, a, d)


@pytest.mark.parametrize(
    ("shift", "B", "message"),
    [
        (0.0, np.ones(3), "B must be a matrix"),
        (0.0, np.ones((3, 0)), "B must be a matrix"),
        (0.0, [["x"]], "B must be a matrix of real numbers"),
        (0.0, [[np.nan]], "B must hold finite numbers"),
        (np.inf, [[1.0]], "shift must be a finite number"),
        ("1", [[1.0]], "shift must be a finite number"),
    ],
)
def test_bad_factors_are_refused_by_name(shift, B, message):
    with pytest.raises(InputError, match=message):
        ShiftedFactor(shift, B)
