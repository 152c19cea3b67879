"""Random problems of every kind that the tests of the solvers share."""

from itertools import combinations

import numpy as np
from hypothesis import settings

from tellapart.strs import SparseTrustRegion
from tellapart.strs.problem import polish


def examples(count):
    """Return the settings of a property: the same examples on every machine, without a clock."""
    return settings(max_examples=count, derandomize=True, deadline=None)


def gram(rng, size, rank=None):
    B = rng.normal(size=(rank or size, size))
    return B.T @ B / B.shape[0]


def indefinite(rng, size):
    B = rng.normal(size=(size, size))
    return (B + B.T) / 2


def any_matrix(rng, size, kind):
    """Indefinite, PSD, NSD, of rank one, with integer ties, or 0: by kind, 0 to 5."""
    A = rng.normal(size=(size, size))
    both = A + A.T
    return (both, A @ A.T, -A @ A.T, np.outer(A[0], A[0]), np.round(both), 0 * A)[kind]


def tied(rng, size):
    """Equal entries everywhere: every support of one size has the same value."""
    return -np.full((size, size), 0.5) - np.eye(size)


def hard_case(rng, size):
    """A block structure whose top eigenvectors miss the linear term."""
    A = np.diag(rng.normal(size=size))
    A[0, 0] = A[1, 1] = 3.0
    return A


def missed_by_top(rng, size):
    a = rng.normal(size=size) * 0.3
    a[:2] = 0.0
    return a


def duplicated(rng, size):
    B = rng.normal(size=(size, size))
    B[:, size // 2 :] = B[:, : size - size // 2]
    return -B.T @ B / size


KINDS = {
    "PSD": (gram, lambda rng, size: rng.normal(size=size)),
    "NSD": (lambda rng, size: -gram(rng, size), lambda rng, size: rng.normal(size=size)),
    "indefinite": (indefinite, lambda rng, size: rng.normal(size=size)),
    "no linear term": (gram, lambda rng, size: np.zeros(size)),
    "NSD, no linear term": (
        lambda rng, size: -gram(rng, size),
        lambda rng, size: np.zeros(size),
    ),
    "linear term dominant": (indefinite, lambda rng, size: 100 * rng.normal(size=size)),
    "small linear term": (gram, lambda rng, size: 0.01 * rng.normal(size=size)),
    "ties": (tied, lambda rng, size: np.ones(size)),
    "ties in a only": (indefinite, lambda rng, size: np.ones(size)),
    "low rank": (
        lambda rng, size: -gram(rng, size, 2),
        lambda rng, size: 0.5 * rng.normal(size=size),
    ),
    "hard case": (hard_case, missed_by_top),
    "duplicated": (duplicated, lambda rng, size: np.abs(rng.normal(size=size))),
    "zero": (lambda rng, size: np.zeros((size, size)), lambda rng, size: np.zeros(size)),
    "A zero": (lambda rng, size: np.zeros((size, size)), lambda rng, size: rng.normal(size=size)),
    "diagonal": (
        lambda rng, size: np.diag(rng.normal(size=size)),
        lambda rng, size: rng.normal(size=size),
    ),
    "one huge variable": (
        lambda rng, size: -gram(rng, size) - np.diag([3e8] + [0.0] * (size - 1)),
        lambda rng, size: rng.normal(size=size),
    ),
}


def problem_of(kind, size, d, seed=0, scale=1.0):
    rng = np.random.default_rng([seed, size, d])
    make_A, make_a = KINDS[kind]
    return SparseTrustRegion(scale * make_A(rng, size), scale * make_a(rng, size), d)


def best_value(problem):
    """Return the optimal value, from every support of size d."""
    return max(
        polish(problem, np.array(support))[1]
        for support in combinations(range(problem.n_columns), problem.d)
    )


def scale_of(problem):
    return float(np.abs(problem.A).max() + np.abs(problem.a).max())


def sparse_points(rng, size, d, count):
    """Return `count` random points of the sparse sphere, as rows."""
    points = np.zeros((count, size))
    for row in points:
        support = rng.choice(size, d, replace=False)
        row[support] = rng.normal(size=d)
    return points / np.linalg.norm(points, axis=1, keepdims=True)
