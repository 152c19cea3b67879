"""Numbers of very different sizes: what is called optimal is optimal, and no bound is too low."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from instances import indefinite

from tellapart.strs import SparseTrustRegion, solve
from tellapart.strs.bounds.cuts import support_cut
from tellapart.strs.problem import polish

EXACT = ["brute-force", "branch-and-bound", "misdp", "outer-approximation"]
BOUNDING = [*EXACT, "sdp", "convex-integer"]


def beside_hopeless(size=8, hopeless=9, d=3, huge=-1e13, seed=0):
    """Return a problem of size 1 beside variables on a huge scale, and the one without them."""
    rng = np.random.default_rng(seed)
    whole = size + hopeless
    A, a = np.zeros((whole, whole)), np.zeros(whole)
    A[:size, :size], a[:size] = indefinite(rng, size), rng.normal(size=size)
    A[range(size, whole), range(size, whole)] = huge
    part = SparseTrustRegion(A[:size, :size], a[:size], min(d, size))
    return SparseTrustRegion(A, a, d), part


def check_honest(solution, optimum, gap=1e-4):
    """Check the claims of a solution against an optimum that is off by rounding at most."""
    noise = 1e-13 * abs(optimum)
    assert solution.value <= optimum + noise
    assert solution.upper_bound is None or solution.upper_bound >= optimum - noise
    if solution.status == "optimal":
        assert solution.gap <= gap
        assert solution.value >= optimum - gap * abs(optimum) - noise


@pytest.mark.parametrize("name", EXACT[:3])
def test_hopeless_variables_excuse_no_gap(name):
    whole, part = beside_hopeless()
    optimum = solve(part, "brute-force").value
    solution = solve(whole, name)
    check_honest(solution, optimum)
    assert solution.status == "optimal"


@pytest.mark.parametrize("name", BOUNDING)
def test_few_good_variables_among_hopeless_ones(name):
    for size, d in ((2, 2), (1, 1), (1, 3)):
        whole, part = beside_hopeless(size=size, hopeless=5, d=d)
        check_honest(solve(whole, name), solve(part, "brute-force").value)


@pytest.mark.parametrize("name", BOUNDING)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long), 2])
def test_sizes_from_tiny_to_huge(name, seed, capfd):
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.integers(-8, 9, size=7)
    A, a = indefinite(rng, 7) * np.sqrt(np.outer(units, units)), rng.normal(size=7) * units
    for matrix in (A, A @ A, -A @ A):
        problem = SparseTrustRegion(matrix, a, 2)
        check_honest(solve(problem, name), solve(problem, "brute-force").value)
    assert capfd.readouterr().err == ""  # no library complains past Python, as SoPlex did


@pytest.mark.parametrize("name", BOUNDING)
def test_value_zero(name):
    nothing = solve(SparseTrustRegion(np.zeros((6, 6)), np.zeros(6), 2), name)
    assert (nothing.value, nothing.upper_bound, nothing.status) == (0.0, 0.0, "optimal")
    # (1, −1)/√2 has the value 0, which rounding error hides: no relative gap can be proved.
    A = -np.kron(np.eye(3), np.ones((2, 2)))
    hidden = solve(SparseTrustRegion(A, np.zeros(6), 2), name)
    assert abs(hidden.value) < 1e-14
    assert hidden.upper_bound >= 0.0
    assert hidden.status != "optimal" or hidden.gap <= 1e-4


@pytest.mark.parametrize("name", BOUNDING)
@pytest.mark.parametrize("tiny", [-1e-170, 1e-200, -1e-310, 5e-324])
def test_a_tiny_linear_term_keeps_its_sign(name, tiny):
    problem = SparseTrustRegion([[-1.0, 1.0], [1.0, 0.0]], [0.0, tiny], 1)
    with warnings.catch_warnings(action="error"):
        solution = solve(problem, name)
    assert solution.value == abs(tiny)
    assert solution.z[1] == np.sign(tiny)
    assert solution.upper_bound >= solution.value


def test_cuts_at_hopeless_supports_do_not_warn():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        A = np.diag(np.concatenate([np.zeros(8), np.full(9, -1e13)]))
        A[:8, :8] = indefinite(rng, 8)
        a = rng.normal(size=17)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cut = support_cut(A, a, 3, np.array([8, 9, 10]))
        problem = SparseTrustRegion(A, a, 3)
        for support in combinations(range(8), 3):
            q = np.isin(np.arange(17), support).astype(float)
            assert cut.at(q) >= polish(problem, np.array(support))[1]
