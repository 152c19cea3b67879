"""What a solution says of its own point, in many digits: near-singular, badly scaled, extreme.

The value is that of z to the last digits, however much cancels in it; no bound lies below it,
or below the optimum over all supports, which mpmath finds.
"""

import warnings
from functools import cache
from itertools import combinations

import mpmath as mp
import numpy as np
import pytest

from tellapart.errors import InputError
from tellapart.strs import SOLVERS, ShiftedFactor, SparseRatio, SparseTrustRegion, solve
from tellapart.strs.contract import PLAIN_ONLY

EPS = 2.0**-52
SIZE = 5


def symmetric(rng):
    B = rng.normal(size=(SIZE, SIZE))
    return B + B.T


def gram(rng):
    B = rng.normal(size=(SIZE, SIZE))
    return B @ B.T


def rank_one(rng):
    v = rng.normal(size=SIZE)
    return np.outer(v, v)


def scales(rng, power):
    return 10.0 ** rng.integers(-power, power + 1, size=SIZE)


def scaled(matrix, units):
    return matrix * units[:, None] * units


# (A, a) of trust regions. Where large terms cancel, doubles lose all but a few digits.
TRUST_REGIONS = {
    "huge rank one": lambda rng: (-1e9 * rank_one(rng), rng.normal(size=SIZE)),
    "huge and nearly singular": lambda rng: (
        -1e9 * rank_one(rng) - 1e-3 * gram(rng),
        rng.normal(size=SIZE),
    ),
    "huge copies": lambda rng: (-1e12 * np.ones((SIZE, SIZE)), rng.normal(size=SIZE)),
    "cancelling": lambda rng: (-1e6 * np.eye(SIZE), 2e6 * np.eye(SIZE)[0] - 1e6 * np.eye(SIZE)[1]),
    "many scales": lambda rng: (
        scaled(-gram(rng), units := scales(rng, 20)),
        rng.normal(size=SIZE) * units,
    ),
    "near the largest": lambda rng: (1e98 * symmetric(rng), 1e98 * rng.normal(size=SIZE)),
    "near the smallest": lambda rng: (1e-99 * symmetric(rng), 1e-99 * rng.normal(size=SIZE)),
    "tiny linear term": lambda rng: (-gram(rng), 1e-160 * rng.normal(size=SIZE)),
    "tiny linear term, curved": lambda rng: (symmetric(rng), 1e-160 * rng.normal(size=SIZE)),
    "subnormal linear term": lambda rng: (
        symmetric(rng),
        5e-324 * rng.integers(-9, 9, size=SIZE),
    ),
    "subnormal linear term, flat": lambda rng: (
        -np.ones((SIZE, SIZE)),
        5e-322 * rng.integers(1, 99, size=SIZE),
    ),
}
# (M, a) of ratios.
RATIOS = {
    "nearly singular": lambda rng: (rank_one(rng) + 1e-11 * gram(rng), rng.normal(size=SIZE)),
    "copies": lambda rng: (
        np.ones((SIZE, SIZE)) + 1e-9 * np.diag(0.5 + rng.random(SIZE)),
        rng.normal(size=SIZE),
    ),
    "many scales": lambda rng: (
        scaled(gram(rng), units := scales(rng, 45)),
        rng.normal(size=SIZE) * units,
    ),
    "huge a": lambda rng: (1e90 * gram(rng), 1e300 * rng.normal(size=SIZE)),
    "tiny a": lambda rng: (1e-90 * gram(rng), 1e-305 * rng.normal(size=SIZE)),
    "subnormal a": lambda rng: (1e-95 * gram(rng), 5e-324 * rng.integers(-99, 99, size=SIZE)),
    "a below 0": lambda rng: (gram(rng), -np.abs(rng.normal(size=SIZE))),
}


def cases(made):
    return [
        (kind, solver, nonnegative)
        for kind in made
        for solver in SOLVERS
        for nonnegative in (False, True)
        if solver not in PLAIN_ONLY or (made is TRUST_REGIONS and not nonnegative)
    ]


@pytest.fixture(autouse=True)
def _many_digits():
    with mp.workdps(400):
        yield


def exact(numbers):
    return mp.matrix(np.asarray(numbers).tolist())


def form(A, z):
    return (z.T * A * z)[0]


def reached_on_sphere(A, a):
    """Return the largest value on the sphere: the least of μ + ¼aᵀ(μ − A)⁻¹a over μ > λ_max."""
    eigenvalues, vectors = mp.eigsy(A)
    c, top, length = vectors.T * a, max(eigenvalues), mp.norm(a)
    if length == 0:
        return top
    gaps = [top - e for e in eigenvalues]
    low, high = mp.mpf(0), length
    for _ in range(1_400):
        middle = (low + high) / 2
        steep = mp.fsum((c[i] / (gap + middle)) ** 2 for i, gap in enumerate(gaps)) > 4
        low, high = (middle, high) if steep else (low, middle)
    return top + high + mp.fsum(c[i] ** 2 / (gap + high) for i, gap in enumerate(gaps)) / 4


def trust_region(kind):
    A, a = TRUST_REGIONS[kind](np.random.default_rng([SIZE, len(kind)]))
    return (A + A.T) / 2, a


@cache
def best_on_sphere(kind, d):
    A, a = trust_region(kind)
    return max(
        reached_on_sphere(exact(A[np.ix_(s, s)]), exact(a[list(s)]))
        for s in combinations(range(SIZE), d)
    )


def best_ratio(M, a, d, nonnegative):
    """Return the largest ratio: M⁻¹a over each support, where z ≥ 0 if it has no entry below 0."""
    best = -mp.inf
    for count in range(1, d + 1):
        for s in combinations(range(SIZE), count):
            block, linear = exact(M[np.ix_(s, s)]), exact(a[list(s)])
            if count == 1:
                ratio = linear[0] / mp.sqrt(block[0])
                best = max(best, ratio if nonnegative else abs(ratio))
                continue
            z = mp.lu_solve(block, linear)
            if not nonnegative or min(z) >= 0:
                best = max(best, mp.sqrt((linear.T * z)[0]))
    return best


def check(solution, value, optimum):
    """Check a solution against the value at its z and, unless None, the optimum."""
    assert abs(mp.norm(exact(solution.z)) - 1) <= 4 * EPS
    # Sums of numbers of which the smallest one is the last digit are off by a few of those.
    assert abs(solution.value - value) <= 4 * EPS * abs(value) + SIZE * mp.mpf(5e-324)
    bound = solution.upper_bound
    assert bound is None or solution.value <= bound
    if optimum is not None:
        assert bound is None or optimum <= bound + EPS * abs(optimum) + mp.mpf(5e-324)
        if solution.status == "optimal":
            assert optimum - value <= 1.01e-9 * abs(value)


@pytest.mark.parametrize(("kind", "solver", "nonnegative"), cases(TRUST_REGIONS))
def test_trust_region_values_are_those_of_z(kind, solver, nonnegative):
    A, a = trust_region(kind)
    with warnings.catch_warnings(action="error"):
        found = solve(SparseTrustRegion(A, a, 2, nonnegative), solver, gap=1e-9, time_limit=20)
    z = exact(found.z)
    check(
        found,
        form(exact(A), z) + (exact(a).T * z)[0],
        None if nonnegative else best_on_sphere(kind, 2),
    )


@pytest.mark.parametrize(("kind", "solver", "nonnegative"), cases(RATIOS))
def test_ratios_are_those_of_z(kind, solver, nonnegative):
    M, a = RATIOS[kind](np.random.default_rng([SIZE, len(kind)]))
    M = (M + M.T) / 2
    with warnings.catch_warnings(action="error"):
        found = solve(SparseRatio(M, a, 2, nonnegative), solver, gap=1e-9)
    z = exact(found.z)
    value = (exact(a).T * z)[0] / mp.sqrt(form(exact(M), z))
    check(found, value, best_ratio(M, a, 2, nonnegative))


@pytest.mark.parametrize("solver", SOLVERS)
def test_values_of_factors_are_those_of_z(solver):
    rng = np.random.default_rng(1)
    B = 3e4 * np.outer(rng.normal(size=4), rng.normal(size=SIZE)) + rng.normal(size=(4, SIZE))
    a = rng.normal(size=SIZE)
    found = solve(SparseTrustRegion(ShiftedFactor(0.25, B), a, 2), solver, time_limit=20)
    z = exact(found.z)
    along = exact(B) * z
    square = (along.T * along)[0]
    check(found, 0.25 * (z.T * z)[0] - square + (exact(a).T * z)[0], None)


@pytest.mark.parametrize(("M", "a"), [(1.0, 5e-324), (1e90, 1e-250), (1e-90, 1e250)])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_ratios_beyond_floating_point_numbers_are_refused(M, a, nonnegative):
    with pytest.raises(InputError, match=r"a must have a largest .* rescale a"):
        SparseRatio(M * np.eye(3), [0.0, a, a], 2, nonnegative)
