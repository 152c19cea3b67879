"""Shifted means: in few columns, in many, in a block, along and across correlation."""

from __future__ import annotations

import numpy as np

from arena.table import FloatArray, Pair

ROWS = 150
COLUMNS = 50


def ar_columns(rng: np.random.Generator, rows: int, columns: int, rho: float) -> FloatArray:
    """Return Gaussian columns whose correlation is ρ^|i − j|."""
    noise = rng.normal(size=(rows, columns))
    values = noise.copy()
    for j in range(1, columns):
        values[:, j] = rho * values[:, j - 1] + np.sqrt(1 - rho**2) * noise[:, j]
    return values


def _independent(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    return rng.normal(size=(ROWS, COLUMNS)), rng.normal(size=(ROWS, COLUMNS))


def mean_one(rng: np.random.Generator) -> Pair:
    """Shift the mean of 1 of 50 columns."""
    X, Y = _independent(rng)
    Y[:, 0] += 0.42
    return X, Y


def mean_few(rng: np.random.Generator) -> Pair:
    """Shift the means of 4 of 50 columns, each by less."""
    X, Y = _independent(rng)
    Y[:, :4] += 0.27
    return X, Y


def mean_dense(rng: np.random.Generator) -> Pair:
    """Shift the means of all 50 columns by a little."""
    X, Y = _independent(rng)
    Y += 0.09
    return X, Y


def mean_block(rng: np.random.Generator) -> Pair:
    """Shift a block of 10 columns with correlation 0.6, and 40 others not."""
    X, Y = _independent(rng)
    for values in (X, Y):
        common = rng.normal(size=(ROWS, 1))
        values[:, :10] = np.sqrt(0.6) * common + np.sqrt(0.4) * values[:, :10]
    Y[:, :10] += 0.28
    return X, Y


def mean_ar(rng: np.random.Generator) -> Pair:
    """Shift some 20 neighbours of 50 AR(0.8) columns by a smooth bump."""
    X, Y = (ar_columns(rng, ROWS, COLUMNS, 0.8) for _ in range(2))
    Y += 0.3 * np.exp(-0.5 * ((np.arange(COLUMNS) - 25) / 5) ** 2)
    return X, Y


def mean_contrast(rng: np.random.Generator) -> Pair:
    """Shift 6 neighbours of 50 AR(0.8) columns up and down by turns."""
    X, Y = (ar_columns(rng, ROWS, COLUMNS, 0.8) for _ in range(2))
    Y[:, 20:26] += 0.14 * np.array([1, -1, 1, -1, 1, -1])
    return X, Y


KINDS = (mean_one, mean_few, mean_dense, mean_block, mean_ar, mean_contrast)
