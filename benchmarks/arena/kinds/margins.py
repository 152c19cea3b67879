"""Single columns that differ in spread, tails or shape while their means agree."""

from __future__ import annotations

import numpy as np

from arena.table import Pair

ROWS = 150
COLUMNS = 50


def spread_few(rng: np.random.Generator) -> Pair:
    """Widen the spread of 2 of 50 columns."""
    X, Y = (rng.normal(size=(ROWS, COLUMNS)) for _ in range(2))
    Y[:, :2] *= 1.55
    return X, Y


def spread_many(rng: np.random.Generator) -> Pair:
    """Widen the spread of all 50 columns by a little."""
    X, Y = (rng.normal(size=(ROWS, COLUMNS)) for _ in range(2))
    Y *= 1.05
    return X, Y


def tails(rng: np.random.Generator) -> Pair:
    """Give 10 of 50 columns the tails of t(3) at the same variance."""
    X, Y = (rng.normal(size=(ROWS, COLUMNS)) for _ in range(2))
    Y[:, :10] = rng.standard_t(3, size=(ROWS, 10)) / np.sqrt(3)
    return X, Y


def skew(rng: np.random.Generator) -> Pair:
    """Skew 3 of 50 columns at the same mean and variance."""
    X, Y = (rng.normal(size=(ROWS, COLUMNS)) for _ in range(2))
    Y[:, :3] = rng.gamma(1.2, size=(ROWS, 3)) / np.sqrt(1.2) - np.sqrt(1.2)
    return X, Y


def bimodal(rng: np.random.Generator) -> Pair:
    """Give 1 of 50 columns two modes at the same mean and variance."""
    X, Y = (rng.normal(size=(ROWS, COLUMNS)) for _ in range(2))
    side = rng.choice([-1.0, 1.0], size=ROWS)
    Y[:, 0] = 0.93 * side + np.sqrt(1 - 0.93**2) * Y[:, 0]
    return X, Y


def zeros(rng: np.random.Generator) -> Pair:
    """Make 4 of 40 columns of amounts zero more often."""
    X, Y = (rng.lognormal(size=(ROWS, 40)) for _ in range(2))
    share = np.full(40, 0.3)
    X[rng.random(X.shape) < share] = 0
    share[:4] = 0.46
    Y[rng.random(Y.shape) < share] = 0
    return X, Y


def outliers(rng: np.random.Generator) -> Pair:
    """Move 6 % of the rows to a cluster that is far off in 6 of 50 columns."""
    X, Y = (rng.normal(size=(ROWS, COLUMNS)) for _ in range(2))
    away = rng.random(ROWS) < 0.06
    Y[away, :6] += 2.5
    return X, Y


KINDS = (spread_few, spread_many, tails, skew, bimodal, zeros, outliers)
