import clarabel
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import examples, gram
from scipy import sparse

from tellapart.strs.bounds.hull import maximise_over_capped_simplex


def oracle(q, gradient, hessian):
    """Return the model's best value from Clarabel, with x written out."""
    n = len(q)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    rows = sparse.csc_matrix(np.vstack([np.ones((1, n)), -np.eye(n), np.eye(n)]))
    right = np.concatenate([[q.sum()], np.zeros(n), np.ones(n)])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]
    P = sparse.csc_matrix(np.triu(-hessian))
    solver = clarabel.DefaultSolver(P, hessian @ q - gradient, rows, right, cones, settings)
    return model(np.array(solver.solve().x), q, gradient, hessian)


def model(x, q, gradient, hessian):
    return gradient @ (x - q) + 0.5 * (x - q) @ hessian @ (x - q)


@examples(40)
@given(st.integers(0, 100), st.sampled_from([1, 4, 12]), st.sampled_from([1e-10, 1.0, 1e10]))
def test_maximum_equals_clarabel(seed, rank, scale):
    rng = np.random.default_rng(seed)
    hessian, gradient = -gram(rng, 12, rank), rng.normal(size=12)
    q = rng.uniform(size=12) * (rng.uniform(size=12) < 0.6)
    x = maximise_over_capped_simplex(q, scale * gradient, scale * hessian, 1e-9 * scale)
    assert ((x >= 0) & (x <= 1)).all()
    assert x.sum() == pytest.approx(q.sum(), abs=1e-10)
    best = oracle(q, gradient, hessian)
    # With one direction of curvature steps along pairs zigzag: the limit on steps is reached.
    accuracy = 1e-3 if rank == 1 else 1e-6
    assert model(x, q, gradient, hessian) == pytest.approx(best, abs=accuracy)


def test_linear_model_goes_to_a_vertex():
    q = np.full(5, 0.4)
    gradient = np.array([1.0, 5.0, 3.0, 2.0, 4.0])
    x = maximise_over_capped_simplex(q, gradient, np.zeros((5, 5)), 1e-12)
    np.testing.assert_allclose(x, [0, 1, 0, 0, 1], atol=1e-9)


def test_ties_and_full_boxes_stay_put():
    q = np.array([0.5, 0.5, 0.0])
    flat = maximise_over_capped_simplex(q, np.ones(3), np.zeros((3, 3)), 0.0)
    np.testing.assert_array_equal(flat, q)
    full = maximise_over_capped_simplex(np.ones(3), np.arange(3.0), np.zeros((3, 3)), 0.0)
    np.testing.assert_array_equal(full, 1)


def test_input_is_left_alone():
    q, gradient = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    maximise_over_capped_simplex(q, gradient, -np.eye(2), 1e-12)
    np.testing.assert_array_equal(q, 0.5)
    np.testing.assert_array_equal(gradient, [1, 0])
