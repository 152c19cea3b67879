"""Families of small problems: ordinary, degenerate, badly scaled, and close to each of these."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from audit.problem import Problem, Vector

Generator = np.random.Generator
Made = tuple[Vector, Vector]


def _symmetric(rng: Generator, size: int) -> Vector:
    B = rng.normal(size=(size, size))
    return B + B.T


def _gram(rng: Generator, size: int, rank: int | None = None) -> Vector:
    B = rng.normal(size=(rank or size, size))
    return B.T @ B / B.shape[0]


def _copies(rng: Generator, size: int, noise: float = 0.0) -> Vector:
    B = rng.normal(size=(size, size))
    B[:, size // 2 :] = B[:, : size - size // 2]
    B += noise * rng.normal(size=B.shape)
    return B.T @ B / size


def _around(rng: Generator, eigenvalues: Vector) -> tuple[Vector, Vector]:
    """Return a symmetric matrix with these eigenvalues, and its eigenvectors."""
    basis = np.linalg.qr(rng.normal(size=(eigenvalues.size, eigenvalues.size)))[0]
    A = basis * eigenvalues @ basis.T
    return (A + A.T) / 2, basis


def _missing_top(rng: Generator, size: int, along: float) -> Made:
    """Return a problem whose linear term all but misses the top eigenvector: the hard case."""
    eigenvalues = np.sort(rng.normal(size=size))
    A, basis = _around(rng, eigenvalues)
    c = 0.3 * rng.normal(size=size)
    c[-1] = along
    return A, basis @ c


def _toeplitz(size: int, r: float) -> Vector:
    return r ** np.abs(np.subtract.outer(np.arange(size), np.arange(size)))


def _units(rng: Generator, size: int, power: int) -> Vector:
    return 10.0 ** rng.integers(-power, power + 1, size=size)


def _scaled(rng: Generator, size: int, power: int) -> Made:
    units = _units(rng, size, power)
    return _symmetric(rng, size) * np.sqrt(np.outer(units, units)), rng.normal(size=size) * units


def _beside_huge(rng: Generator, size: int, huge: float) -> Made:
    A, a = _symmetric(rng, size), rng.normal(size=size)
    far = np.arange(size) >= max(size // 2, 1)
    A[far] = A[:, far] = 0.0
    A[far, far] = huge
    a[far] = 0.0
    return A, a


def _graph(rng: Generator, size: int) -> Vector:
    edges = np.triu(rng.random((size, size)) < 0.5, 1).astype(float)
    return edges + edges.T


def _two_samples(rng: Generator, size: int, regularization: float) -> Made:
    """Return a and −λV of two small samples, from the dense formulas of the linear kernel."""
    m, n = rng.integers(4, 12, size=2)
    shift = 0.8 * (np.arange(size) < 2)
    x, y = rng.normal(size=(m, size)), rng.normal(size=(n, size)) + shift
    a, p, q = np.empty(size), np.empty((m, size)), np.empty((n, size))
    for s in range(size):
        xx, yy, xy = (
            np.exp(-(np.subtract.outer(u, v) ** 2) / 2)
            for u, v in ((x[:, s], x[:, s]), (y[:, s], y[:, s]), (x[:, s], y[:, s]))
        )
        a[s] = (xx.sum() - m) / (m * (m - 1)) + (yy.sum() - n) / (n * (n - 1)) - 2 * xy.mean()
        p[:, s], q[:, s] = xx.mean(1) - xy.mean(1), yy.mean(0) - xy.mean(0)
    harmonic = 2 * m * n / (m + n)
    V = (
        4
        * harmonic
        * (np.atleast_2d(np.cov(p.T, ddof=0)) / m + np.atleast_2d(np.cov(q.T, ddof=0)) / n)
    )
    return -regularization * (V + V.T) / 2, a


TRUST_REGION: dict[str, Callable[[Generator, int], Made]] = {
    "indefinite": lambda g, k: (_symmetric(g, k), g.normal(size=k)),
    "positive": lambda g, k: (_gram(g, k), g.normal(size=k)),
    "negative": lambda g, k: (-_gram(g, k), g.normal(size=k)),
    "no linear term": lambda g, k: (_symmetric(g, k), np.zeros(k)),
    "negative, no linear term": lambda g, k: (-_gram(g, k), np.zeros(k)),
    "linear term dominant": lambda g, k: (_symmetric(g, k), 100 * g.normal(size=k)),
    "small linear term": lambda g, k: (_gram(g, k), 1e-6 * g.normal(size=k)),
    "negative linear term": lambda g, k: (_symmetric(g, k), -np.abs(g.normal(size=k))),
    "nothing": lambda _, k: (np.zeros((k, k)), np.zeros(k)),
    "linear only": lambda g, k: (np.zeros((k, k)), g.normal(size=k)),
    "diagonal": lambda g, k: (np.diag(g.normal(size=k)), g.normal(size=k)),
    "identity": lambda g, k: (g.choice([-1.0, 1.0]) * np.eye(k), g.normal(size=k)),
    "all alike": lambda g, k: (
        -np.full((k, k), 0.5) - np.eye(k),
        np.full(k, g.choice([-1.0, 0.0, 1.0, 2.0])),
    ),
    "ties": lambda g, k: (np.round(_symmetric(g, k)), np.round(g.normal(size=k))),
    "near ties": lambda g, k: (
        np.eye(k) + 1e-10 * _symmetric(g, k),
        1 + 1e-10 * g.normal(size=k),
    ),
    "copies": lambda g, k: (-_copies(g, k), g.normal(size=k)),
    "near copies": lambda g, k: (-_copies(g, k, 1e-8), np.abs(g.normal(size=k))),
    "rank one": lambda g, k: (_gram(g, k, 1), g.normal(size=k)),
    "rank two, negative": lambda g, k: (-_gram(g, k, 2), 0.5 * g.normal(size=k)),
    "hard case": lambda g, k: _missing_top(g, k, 0.0),
    "near the hard case": lambda g, k: _missing_top(g, k, 10.0 ** g.integers(-16, -3)),
    "double top": lambda g, k: (
        _around(g, np.sort(np.append(g.normal(size=k - 1), 2.0)).clip(None, 1.0))[0],
        0.1 * g.normal(size=k),
    ),
    "autoregressive": lambda g, k: (-_toeplitz(k, g.choice([0.5, 0.95, -0.8])), g.normal(size=k)),
    "Hilbert": lambda g, k: (
        g.choice([-1.0, 1.0]) / (1.0 + np.add.outer(np.arange(k), np.arange(k))),
        g.normal(size=k),
    ),
    "graph": lambda g, k: (_graph(g, k), g.choice([0.0, 0.1, 1.0]) * np.ones(k)),
    "scales to 1e8": lambda g, k: _scaled(g, k, 8),
    "scales to 1e3": lambda g, k: _scaled(g, k, 3),
    "beside −1e13": lambda g, k: _beside_huge(g, k, -1e13),
    "beside −1e6": lambda g, k: _beside_huge(g, k, -1e6),
    "huge": lambda g, k: (1e80 * _symmetric(g, k), 1e80 * g.normal(size=k)),
    "minute": lambda g, k: (1e-80 * _symmetric(g, k), 1e-80 * g.normal(size=k)),
    "a far below A": lambda g, k: (_gram(g, k), 1e-15 * g.normal(size=k)),
    "two samples": lambda g, k: _two_samples(g, k, g.choice([0.1, 1.0, 5.0])),
    "two samples, sign as printed": lambda g, k: _two_samples(g, k, -1.0),
}

RATIO: dict[str, Callable[[Generator, int], Made]] = {
    "ratio, ordinary": lambda g, k: (_gram(g, k) + 0.3 * np.eye(k), g.normal(size=k)),
    "ratio, close to singular": lambda g, k: (_gram(g, k) + 1e-6 * np.eye(k), g.normal(size=k)),
    "ratio, negative": lambda g, k: (_gram(g, k) + 0.3 * np.eye(k), -np.abs(g.normal(size=k))),
    "ratio, nothing": lambda g, k: (_gram(g, k) + np.eye(k), np.zeros(k)),
    "ratio, all alike": lambda _, k: (np.full((k, k), 0.5) + np.eye(k), np.ones(k)),
    "ratio, copies": lambda g, k: (_copies(g, k) + 0.2 * np.eye(k), g.normal(size=k)),
    "ratio, ties": lambda g, k: (np.eye(k), np.round(2 * g.normal(size=k))),
    "ratio, units": lambda g, k: _in_units(g, k),
    "ratio, minute": lambda g, k: (_gram(g, k) + np.eye(k), 1e-90 * g.normal(size=k)),
}


def _in_units(rng: Generator, size: int) -> Made:
    units = _units(rng, size, 6)
    M = (_gram(rng, size) + 0.3 * np.eye(size)) * units[:, None] * units
    return (M + M.T) / 2, rng.normal(size=size) * units


FAMILIES = (*TRUST_REGION, *RATIO, "factor")


def draw(seed: int, number: int, largest: int = 7, most: int = 4) -> Problem:
    """Return problem `number`: the families take turns, sizes and kinds are drawn."""
    rng = np.random.default_rng([seed, number])
    family = FAMILIES[number % len(FAMILIES)]
    size = int(rng.integers(2, largest + 1))
    d = int(rng.integers(1, min(size, most) + 1))
    # One in three asks for z ≥ 0, one in eight for variables that count in any case.
    nonnegative = bool(rng.random() < 1 / 3)
    count = int(rng.integers(1, d + 1)) if rng.random() < 1 / 8 else 0
    required = tuple(sorted(rng.choice(size, count, replace=False).tolist()))
    if family == "factor":
        shift, B = float(rng.normal()), rng.normal(size=(int(rng.integers(1, 4)), size))
        A = shift * np.eye(size) - B.T @ B
        a = rng.normal(size=size)
        return Problem(family, A, a, d, nonnegative, False, required, (shift, B))
    if family in RATIO:
        M, a = RATIO[family](rng, size)
        return Problem(family, M, a, d, nonnegative, True, required)
    A, a = TRUST_REGION[family](rng, size)
    return Problem(family, A, a, d, nonnegative, False, required)
