import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import examples, gram, indefinite

from tellapart.budget import Budget, using_budget
from tellapart.strs import ShiftedFactor, SparseTrustRegion
from tellapart.strs.bounds.hull import Curvature

RNG = np.random.default_rng(0)
B = RNG.normal(size=(5, 12))
M = B.T @ B - 0.4 * np.eye(12)
FORMS = {
    "dense": Curvature(dense=M, factor=None, shift=0.0),
    "factor": Curvature(dense=None, factor=B, shift=0.4),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_both_forms_say_the_same(form):
    index = np.array([1, 4, 11])
    assert form.n_columns == 12
    np.testing.assert_allclose(form.diagonal, np.diag(M), atol=1e-13)
    np.testing.assert_allclose(form.columns(index), M[:, index], atol=1e-13)
    np.testing.assert_allclose(form.block(index), M[np.ix_(index, index)], atol=1e-13)
    np.testing.assert_allclose(form.principal(index).block(np.arange(3)), form.block(index))
    assert form.principal(np.arange(12)) is form


def test_sign_and_form_follow_the_problem():
    problem = SparseTrustRegion(ShiftedFactor(0.4, B), np.zeros(12), 3)
    dense = Curvature.of(problem)
    np.testing.assert_allclose(dense.dense, M, atol=1e-13)
    with using_budget(Budget(dense_columns=4)):
        factored = Curvature.of(problem)
        assert factored.factor is problem.factor.B
        assert factored.depth == 5
        assert factored.principal(np.arange(6)).factor.shape == (5, 6)
        np.testing.assert_allclose(factored.principal(np.arange(3)).dense, M[:3, :3], atol=1e-13)


def low_rank(rng, size):
    return gram(rng, size, 2)


@examples(9)
@given(st.sampled_from([gram, indefinite, low_rank]), st.sampled_from([1e-12, 1.0, 1e12]))
def test_lowest_shift_is_proved(make, scale):
    matrix = scale * make(np.random.default_rng(1), 30)
    lowest = Curvature(dense=matrix, factor=None, shift=0.0).lowest_shift()
    smallest = np.linalg.eigvalsh(matrix)[0]
    assert lowest < smallest
    assert lowest == pytest.approx(smallest, abs=1e-10 * np.abs(matrix).max())
    np.linalg.cholesky(matrix - lowest * np.eye(30))


def test_lowest_shift_of_a_factor():
    assert FORMS["factor"].lowest_shift() == -0.4


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("margin", [1e-6, 0.1, 10.0])
def test_complement_makes_the_whole_matrix_psd(form, margin):
    kept, others = np.array([0, 2, 3, 7]), np.array([1, 4, 5, 6, 8, 9, 10, 11])
    delta = -0.4 - 1e-12 - margin
    ground, allowance = form.complement(kept, others, delta, margin)
    exact = M[np.ix_(others, others)] - delta * np.eye(8)
    exact = np.linalg.solve(exact, M[np.ix_(others, kept)])
    exact = M[np.ix_(kept, kept)] - M[np.ix_(kept, others)] @ exact
    assert np.abs(np.linalg.eigvalsh(ground - exact)).max() <= allowance
    assert allowance <= 1e-6 * (1 + 1 / margin)
    lowest = np.linalg.eigvalsh(ground)[0] - allowance
    shift = np.full(12, delta)
    shift[kept] = lowest
    eigenvalues = np.linalg.eigvalsh(M - np.diag(shift))
    assert eigenvalues[0] >= -1e-12
    # … and no more than needed: a slightly larger shift is too much.
    shift[kept] = lowest + 3 * allowance + 1e-6
    assert np.linalg.eigvalsh(M - np.diag(shift))[0] < 0
