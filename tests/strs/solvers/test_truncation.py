import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import best_value, examples, gram, problem_of

from tellapart.budget import Budget
from tellapart.strs import SparseTrustRegion, solve
from tellapart.strs.domains import maximise_on_sphere
from tellapart.strs.problem import truncate
from tellapart.strs.solvers.local_search import CHEAP_STARTS
from tellapart.strs.solvers.truncation import (
    candidate_supports,
    truncation_one,
)


def top_norm(a, d):
    """Return ‖a‖_(d), the Euclidean norm of the d largest |a_i|."""
    return float(np.linalg.norm(np.sort(np.abs(a))[::-1][:d]))


PSD_PROBLEMS = st.tuples(
    st.integers(0, 10**6), st.integers(2, 8), st.integers(1, 8), st.sampled_from([0, 0.1, 1, 10])
)


def psd_problem(drawn):
    seed, size, d, weight = drawn
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, size + 1))
    return SparseTrustRegion(gram(rng, size, rank), weight * rng.normal(size=size), min(d, size))


def one(problem):
    """Truncation I."""
    return truncation_one(problem, float(np.linalg.eigvalsh(problem.A)[0]))


def two(problem):
    """Truncation II: the trust region solution without sparsity, truncated and normalised."""
    unconstrained, _ = maximise_on_sphere(problem.A, problem.a)
    support = truncate(unconstrained, problem.d)
    z = np.zeros(problem.n_columns)
    z[support] = unconstrained[support] / np.linalg.norm(unconstrained[support])
    return z


@examples(100)
@given(PSD_PROBLEMS)
def test_guarantee_of_truncation_one(drawn):
    problem = psd_problem(drawn)
    reached = problem.value(one(problem))
    promised = best_value(problem) / np.sqrt(problem.d) - 2 * top_norm(problem.a, problem.d + 1)
    assert reached >= promised - 1e-9


@examples(100)
@given(PSD_PROBLEMS)
def test_guarantee_of_truncation_two(drawn):
    problem = psd_problem(drawn)
    part = problem.d / problem.n_columns
    reached = problem.value(two(problem))
    promised = part * best_value(problem) - part * np.linalg.norm(problem.a)
    promised -= (1 + np.sqrt(part)) * top_norm(problem.a, problem.d)
    assert reached >= promised - 1e-9


@pytest.mark.parametrize("kind", ["PSD", "NSD", "indefinite", "no linear term", "low rank"])
def test_points_are_feasible_and_no_better_than_the_solver(kind):
    problem = problem_of(kind, 9, 3)
    solution = solve(problem, "truncation")
    for z in (one(problem), two(problem)):
        assert np.linalg.norm(z) == pytest.approx(1.0)
        assert np.count_nonzero(z) <= 3
        assert problem.value(z) <= solution.value + 1e-12
    assert solution.upper_bound is None
    assert solution.value <= best_value(problem) + 1e-12


def test_both_signs_are_tried():
    """With A = e₁e₁ᵀ the sign of z alone decides."""
    for sign in (-1.0, 1.0):
        problem = SparseTrustRegion(np.diag([1.0, 0.0]), np.array([sign, 0.0]), 1)
        assert problem.value(one(problem)) == pytest.approx(2.0)


def test_exact_without_a_quadratic_term():
    problem = problem_of("A zero", 10, 4)
    assert solve(problem, "truncation").value == pytest.approx(top_norm(problem.a, 4))


def test_a_start_is_never_lost():
    problem = problem_of("indefinite", 9, 3)
    best = solve(problem, "brute-force")
    assert solve(problem, "truncation", start=best.z).value == pytest.approx(best.value)


def test_large_problems_skip_the_eigendecompositions():
    problem = problem_of("NSD", 9, 3)
    assert len(candidate_supports(problem)) == 3
    assert len(candidate_supports(problem, limit=8)) == 1
    assert Budget().dense_columns > CHEAP_STARTS
