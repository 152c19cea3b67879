# ruff: noqa: D103 - the name of a kind says what it is
"""Differences of single columns: shifts, spreads, shapes."""

from __future__ import annotations

import numpy as np

from development.kind import Pair, Rng, kind, normal


@kind
def shift_one(rng: Rng) -> Pair:
    X, Y = normal(rng, 100, 30)
    X[:, 0] += 0.55
    return X, Y


@kind
def shift_few(rng: Rng) -> Pair:
    X, Y = normal(rng, 100, 50)
    X[:, :3] += 0.42
    return X, Y


@kind
def shift_block(rng: Rng) -> Pair:
    X, Y = normal(rng, 80, 60)
    X[:, :15] += 0.25
    return X, Y


@kind
def shift_all(rng: Rng) -> Pair:
    X, Y = normal(rng, 100, 50)
    return X + 0.13, Y


@kind
def shift_against_a_factor(rng: Rng) -> Pair:
    X, Y = normal(rng, 120, 40)
    X, Y = (0.7 * rng.normal(size=(120, 1)) + 0.71 * Z for Z in (X, Y))
    X[:, ::2] += 0.16
    X[:, 1::2] -= 0.16
    return X, Y


@kind
def shift_in_series(rng: Rng) -> Pair:
    X, Y = normal(rng, 120, 40)
    for Z in (X, Y):
        for j in range(1, 40):
            Z[:, j] = 0.7 * Z[:, j - 1] + np.sqrt(1 - 0.49) * Z[:, j]
    X[:, [5, 20, 33]] += [0.35, -0.35, 0.35]
    return X, Y


@kind
def shift_lognormal(rng: Rng) -> Pair:
    X, Y = np.exp(normal(rng, 80, 30))
    X[:, :3] *= np.exp(0.45)
    return X, Y


@kind
def shift_wide(rng: Rng) -> Pair:
    X, Y = normal(rng, 30, 500)
    X[:, :6] += 0.95
    return X, Y


@kind
def shift_wide_all(rng: Rng) -> Pair:
    X, Y = normal(rng, 30, 400)
    return X + 0.11, Y


@kind
def shift_unequal(rng: Rng) -> Pair:
    X, Y = rng.normal(size=(40, 30)), rng.normal(size=(300, 30))
    X[:, :3] += 0.45
    return X, Y


@kind
def spread_few(rng: Rng) -> Pair:
    X, Y = normal(rng, 120, 50)
    X[:, :2] *= 1.45
    return X, Y


@kind
def spread_all(rng: Rng) -> Pair:
    X, Y = normal(rng, 80, 40)
    return 1.09 * X, Y


@kind
def tails(rng: Rng) -> Pair:
    X, Y = normal(rng, 150, 30)
    X[:, :4] = rng.standard_t(3, size=(150, 4)) / np.sqrt(3)
    return X, Y


@kind
def skewed(rng: Rng) -> Pair:
    X, Y = normal(rng, 120, 40)
    X[:, :2] = (rng.gamma(2.0, size=(120, 2)) - 2) / np.sqrt(2)
    return X, Y


@kind
def two_modes(rng: Rng) -> Pair:
    X, Y = normal(rng, 120, 40)
    X[:, 0] = 0.85 * rng.choice([-1, 1], 120) + 0.53 * rng.normal(size=120)
    return X, Y


@kind
def zeros(rng: Rng) -> Pair:
    X, Y = normal(rng, 120, 30)
    for Z, share in ((X, 0.10), (Y, 0.02)):
        Z[:, :3][rng.random((120, 3)) < share] = 0
    return X, Y


@kind
def zeros_in_counts(rng: Rng) -> Pair:
    def counts(columns: int, share: float, mean: float) -> np.ndarray:
        shape = (120, columns)
        return np.where(rng.random(shape) < share, 0, rng.poisson(mean, shape)).astype(float)

    X, Y = counts(40, 0.3, 3), counts(40, 0.3, 3)
    X[:, :2] = counts(2, 0.47, 3.9)
    return X, Y


@kind
def cluster(rng: Rng) -> Pair:
    X, Y = normal(rng, 150, 20)
    inside = rng.random(150) < 0.06
    X[inside, :6] = 1.6 + 0.3 * rng.normal(size=(inside.sum(), 6))
    return X, Y


@kind
def tight_cluster(rng: Rng) -> Pair:
    X, Y = normal(rng, 150, 40)
    inside = rng.random(150) < 0.05
    centre = np.r_[np.full(5, 1.5), np.zeros(35)]
    X[inside] = centre + 0.35 * rng.normal(size=(inside.sum(), 40))
    return X, Y
