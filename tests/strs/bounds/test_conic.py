"""The writer of cone programs, on programs whose answers are known."""

import numpy as np
import pytest
from scipy import sparse

from tellapart.strs.bounds.conic import ConeProgram, triangle


def test_linear_rows_and_their_multipliers():
    # min −x₀ − 2x₁ over x₀ + x₁ = 1, x₁ ≤ 0.25, −x ≤ 0.
    program = ConeProgram(2, "test")
    equal = program.equal([program.block([0, 0], [0, 1], 1.0, 1)], np.ones(1))
    above = program.at_most(
        [program.block([0], [1], 1.0, 1), program.block([0, 1], [0, 1], -1.0, 2)],
        np.array([0.25, 0.0, 0.0]),
    )
    answer = program.solve(np.array([-1.0, -2.0]))
    assert answer.solved
    np.testing.assert_allclose(answer.x, [0.75, 0.25], atol=1e-6)
    np.testing.assert_allclose(answer.dual[equal], [1.0], atol=1e-6)
    np.testing.assert_allclose(answer.dual[above], [1.0, 0.0, 0.0], atol=1e-6)


def test_second_order_cones_and_a_quadratic():
    # The point of the unit disc nearest to (3, 4), twice.
    program = ConeProgram(4, "test")
    block = program.block([1, 2, 4, 5], [0, 1, 2, 3], -1.0, 6)
    program.second_order(block, np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]), 3)
    answer = program.solve(-np.array([3.0, 4.0, 3.0, 4.0]), sparse.identity(4, format="csc"))
    np.testing.assert_allclose(answer.x, [0.6, 0.8, 0.6, 0.8], atol=1e-6)


def test_semidefinite_triangle():
    # max ⟨M, Z⟩ over Z ⪰ 0, tr Z = 1 is the largest eigenvalue.
    M = np.array([[1.0, 2.0, 0.0], [2.0, -1.0, 0.5], [0.0, 0.5, 0.3]])
    index = triangle(3)
    np.testing.assert_array_equal(index, [[0, 1, 3], [1, 2, 4], [3, 4, 5]])
    program = ConeProgram(6, "test")
    program.equal([program.block([0, 0, 0], np.diag(index), 1.0, 1)], np.ones(1))
    weights = np.full(6, -np.sqrt(2.0))
    weights[np.diag(index)] = -1.0
    program.semidefinite(program.block(np.arange(6), np.arange(6), weights, 6), 3)
    cost = np.zeros(6)
    np.add.at(cost, index.ravel(), -M.ravel())
    answer = program.solve(cost)
    assert -cost @ answer.x == pytest.approx(np.linalg.eigvalsh(M)[-1], abs=1e-6)


def test_an_unbounded_program_is_not_solved():
    program = ConeProgram(1, "test")
    program.at_most([program.block([0], [0], 1.0, 1)], np.zeros(1))
    answer = program.solve(np.ones(1))
    assert not answer.solved
    assert np.isfinite(answer.x).all()
