# ruff: noqa: D103 - the name of a kind says what it is
"""Differences of dependence: pairs, triples, factors, directions; each column alone is the same."""

from __future__ import annotations

import numpy as np

from development.kind import Pair, Rng, kind, link, normal


@kind
def pair(rng: Rng) -> Pair:
    X, Y = normal(rng, 100, 40)
    link(X, 0, 1, 0.6)
    return X, Y


@kind
def pair_turned(rng: Rng) -> Pair:
    X, Y = normal(rng, 100, 40)
    link(X, 0, 1, 0.35)
    link(Y, 0, 1, -0.35)
    return X, Y


@kind
def pair_within_a_factor(rng: Rng) -> Pair:
    X, Y = normal(rng, 80, 30)
    pair = []
    for Z, correlation in ((X, 0.93), (Y, 0.74)):
        mixed = 0.9 * rng.normal(size=(80, 1)) + np.sqrt(1 - 0.81) * Z
        mixed[:, 1] = rng.normal(size=80)
        link(mixed, 0, 1, correlation)
        pair.append(mixed)
    return pair[0], pair[1]


@kind
def pair_wide(rng: Rng) -> Pair:
    X, Y = normal(rng, 50, 200)
    link(X, 0, 1, 0.85)
    return X, Y


@kind
def pair_unequal(rng: Rng) -> Pair:
    X, Y = rng.normal(size=(50, 30)), rng.normal(size=(300, 30))
    link(X, 0, 1, 0.65)
    return X, Y


@kind
def triple(rng: Rng) -> Pair:
    X, Y = normal(rng, 150, 30)
    flips = np.where(rng.random(150) < 0.85, 1, -1)
    X[:, 2] = np.abs(X[:, 2]) * np.sign(X[:, 0] * X[:, 1]) * flips
    return X, Y


@kind
def triple_turned(rng: Rng) -> Pair:
    X, Y = normal(rng, 100, 30)
    for Z, way in ((X, 1), (Y, -1)):
        flips = np.where(rng.random(100) < 0.75, way, -way)
        Z[:, 2] = np.abs(Z[:, 2]) * np.sign(Z[:, 0] * Z[:, 1]) * flips
    return X, Y


@kind
def four(rng: Rng) -> Pair:
    X, Y = normal(rng, 200, 16)
    X[:, 3] = np.abs(X[:, 3]) * np.sign(X[:, 0] * X[:, 1] * X[:, 2])
    return X, Y


@kind
def ring(rng: Rng) -> Pair:
    X, Y = normal(rng, 150, 30)
    angle = rng.uniform(0, 2 * np.pi, 150)
    X[:, 0] = 1.3 * np.cos(angle) + 0.35 * rng.normal(size=150)
    X[:, 1] = 1.3 * np.sin(angle) + 0.35 * rng.normal(size=150)
    return X, Y


@kind
def spread_by_level(rng: Rng) -> Pair:
    X, Y = normal(rng, 150, 40)
    X[:, 1] *= np.exp(0.45 * X[:, 0]) / np.exp(0.45**2)
    return X, Y


@kind
def parabola(rng: Rng) -> Pair:
    X, Y = normal(rng, 120, 40)
    curve = (X[:, 0] ** 2 - 1) / np.sqrt(2)
    X[:, 1] = 0.55 * curve + np.sqrt(1 - 0.55**2) * X[:, 1]
    return X, Y


@kind
def factor(rng: Rng) -> Pair:
    X, Y = normal(rng, 100, 40)
    return (X + 0.35 * rng.normal(size=(100, 1))) / np.sqrt(1 + 0.35**2), Y


@kind
def factor_of_few(rng: Rng) -> Pair:
    X, Y = normal(rng, 100, 60)
    X[:, :8] = (X[:, :8] + 0.6 * rng.normal(size=(100, 1))) / np.sqrt(1.36)
    return X, Y


@kind
def two_modes_along_a_direction(rng: Rng) -> Pair:
    X, Y = normal(rng, 200, 25)
    direction = np.r_[np.full(4, 0.5), np.zeros(21)]
    modes = 0.9 * rng.choice([-1, 1], 200) + 0.44 * rng.normal(size=200)
    return X + np.outer(modes - X @ direction, direction), Y


@kind
def flags_together(rng: Rng) -> Pair:
    X, Y = (rng.random((2, 150, 30)) < 0.4).astype(float)
    same = rng.random(150) < 0.42
    X[same, 1] = X[same, 0]
    return X, Y


@kind
def rare_flags_together(rng: Rng) -> Pair:
    X, Y = (rng.random((2, 200, 30)) < 0.1).astype(float)
    same = rng.random(200) < 0.4
    X[same, 1] = X[same, 0]
    return X, Y


@kind
def parity_of_flags(rng: Rng) -> Pair:
    X, Y = rng.random((2, 150, 20)) < 0.5
    X[:, 2] = X[:, 0] ^ X[:, 1] ^ (rng.random(150) < 0.25)
    return X.astype(float), Y.astype(float)
