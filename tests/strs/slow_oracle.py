"""Small problems solved slowly, by nothing the package uses, and random ones of each kind.

Every face of the orthant: all stationary points on its sphere, from the eigenvalues of one matrix
of twice the order, and projected ascent from several starts.
"""

from itertools import combinations

import numpy as np


def nonnegative_optimum(A, a, d, rng, required=()):
    """Return the best value of zᵀAz + aᵀz over ‖z‖₂ = 1, z ≥ 0, at most d non-zeros."""
    best = -np.inf
    for face in faces(len(a), d, required):
        block, linear = A[np.ix_(face, face)], a[face]
        points = [*stationary_points(block, linear), *ascents(block, linear, rng)]
        best = max([best, *(z @ block @ z + linear @ z for z in points)])
    return best


def ratio_optimum(M, a, d, nonnegative, required=()):
    """Return the best value of aᵀz/√(zᵀMz) over z ≠ 0 (and z ≥ 0), at most d non-zeros.

    On a face the best z of any sign is M⁻¹a; the best z ≥ 0 is that of some face inside it, or a
    single variable.
    """
    best = -np.inf
    for face in faces(len(a), d, required):
        z = np.linalg.solve(M[np.ix_(face, face)], a[face])
        if len(face) == 1:
            z = np.ones(1) if nonnegative or a[face[0]] >= 0 else -np.ones(1)
        if not z.any() or (nonnegative and (z < 0).any()):
            continue
        best = max(best, float(a[face] @ z / np.sqrt(z @ M[np.ix_(face, face)] @ z)))
    return best


def faces(size, d, required):
    """Return the supports that leave room for those required."""
    for count in range(1, d + 1):
        for face in combinations(range(size), count):
            if len({*face, *required}) <= d:
                yield np.array(face)


def stationary_points(A, a):
    """Return points near the nonnegative solutions of (μI − A)z = a/2, ‖z‖ = 1.

    μ solves det((μI − A)² − aaᵀ/4) = 0: an eigenvalue of [[A, I], [aaᵀ/4, A]].
    """
    size = len(a)
    doubled = np.block([[A, np.eye(size)], [np.outer(a, a) / 4, A]])
    for mu in np.linalg.eigvals(doubled):
        z = np.linalg.lstsq(mu.real * np.eye(size) - A, a / 2, rcond=None)[0]
        yield from projected(z)


def ascents(A, a, rng, steps=60):
    """Return where projected gradient ascent ends, from the middle, at random and eigenvectors."""
    size = len(a)
    eigenvalues, vectors = np.linalg.eigh(A)
    length = 1 / (2 * np.abs(eigenvalues).max() + np.abs(a).max() + 1e-300)
    starts = [np.ones(size), *np.abs(rng.normal(size=(2, size))), *vectors.T, *-vectors.T]
    for start in starts:
        for point in projected(start):
            z = point
            for _ in range(steps):
                z = next(projected(z + length * (a + 2 * A @ z)), z)
            yield z


def projected(z):
    """Return z on the sphere within the orthant, if any of it is."""
    kept = np.maximum(z, 0.0)
    if kept.any():
        yield kept / np.linalg.norm(kept)


def any_trust_region(rng, size, kind):
    """Return A and a of a kind from 0 to 12."""
    B, a = rng.normal(size=(size, size)), rng.normal(size=size)
    copies = np.hstack([B[:, : size - size // 2], B[:, : size // 2]])
    return (
        (-2 * B.T @ B / size, 0.5 * a),
        (B + B.T, a),
        (-B[:2].T @ B[:2], 0.5 * a),
        (B + B.T, -np.abs(a)),
        (-B.T @ B / size, -np.abs(a)),
        (-np.full((size, size), 0.5) - np.eye(size), np.full(size, rng.choice([-1.0, 0, 1, 2]))),
        (-copies.T @ copies / size, a),
        (B.T @ B / size, np.zeros(size)),
        (np.round(B + B.T), np.round(a)),
        (np.zeros((size, size)), a),
        (B.T @ B / size, a),
        (np.diag(a), B[0]),
        (np.round(B + B.T), np.zeros(size)),
    )[kind]


TRUST_REGION_KINDS = 13


def any_ratio(rng, size, kind):
    """Return M and a of a kind from 0 to 9."""
    B, a = rng.normal(size=(size, size)), rng.normal(size=size)
    gram, identity = B.T @ B / size, np.eye(size)
    copies = np.hstack([B[:, : size - size // 2], B[:, : size // 2]])
    units = 10.0 ** rng.integers(-6, 7, size=size)
    lengths = np.sqrt(np.diag(gram))
    return (
        (gram + 0.3 * identity, a),
        (gram + 0.01 * identity, a),
        (gram + 0.3 * identity, -np.abs(a)),
        ((gram / lengths[:, None] / lengths) ** 2 + 0.5 * identity, np.abs(a)),
        (np.full((size, size), 0.5) + identity, np.full(size, rng.choice([-1.0, 0, 1]))),
        (copies.T @ copies / size + 0.2 * identity, a),
        ((gram + 0.3 * identity) * units[:, None] * units, a * units * rng.choice([1e-3, 1e3])),
        (identity, np.round(2 * a)),
        (np.outer(B[0], B[0]) + 0.05 * identity, 1e-150 * a),
        (gram + 1e-7 * identity, a),
    )[kind]


RATIO_KINDS = 10
