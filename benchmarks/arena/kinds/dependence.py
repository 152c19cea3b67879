"""Columns that differ only together: every single column has the same distribution in both."""

from __future__ import annotations

import numpy as np

from arena.table import FloatArray, Pair

ROWS = 200
COLUMNS = 50


def apart(rng: np.random.Generator, values: FloatArray) -> FloatArray:
    """Return columns with the rows of each shuffled: the same margins, and no dependence."""
    return np.column_stack([rng.permutation(column) for column in values.T])


def pair(rng: np.random.Generator) -> Pair:
    """Correlate 2 of 50 columns by 0.5 instead of 0."""
    X, Y = (rng.normal(size=(ROWS, COLUMNS)) for _ in range(2))
    Y[:, 1] = 0.5 * Y[:, 0] + np.sqrt(0.75) * Y[:, 1]
    return X, Y


def triple(rng: np.random.Generator) -> Pair:
    """Make the product of 3 of 30 columns positive four times of five."""
    X, Y = (rng.normal(size=(ROWS, 30)) for _ in range(2))
    sign = np.where(rng.random(ROWS) < 0.8, 1.0, -1.0)
    Y[:, 2] = np.abs(Y[:, 2]) * np.sign(Y[:, 0] * Y[:, 1]) * sign
    return X, Y


def _ring(rng: np.random.Generator) -> FloatArray:
    angle = rng.uniform(0, 2 * np.pi, size=ROWS)
    centres = np.sqrt(2) * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(centres + 0.25 * rng.normal(size=centres.shape))


def ring(rng: np.random.Generator) -> Pair:
    """Lay 2 of 30 columns around a circle, with the same margins."""
    X, Y = (rng.normal(size=(ROWS, 30)) for _ in range(2))
    X[:, :2] = apart(rng, _ring(rng))
    Y[:, :2] = _ring(rng)
    return X, Y


def _curve(rng: np.random.Generator) -> FloatArray:
    x = rng.normal(size=ROWS)
    return np.column_stack([x, 0.7 * (x**2 - 1) / np.sqrt(2) + 0.714 * rng.normal(size=ROWS)])


def quadratic(rng: np.random.Generator) -> Pair:
    """Let 1 of 50 columns follow the square of another, with the same margins."""
    X, Y = (rng.normal(size=(ROWS, COLUMNS)) for _ in range(2))
    X[:, :2] = apart(rng, _curve(rng))
    Y[:, :2] = _curve(rng)
    return X, Y


def _funnel(rng: np.random.Generator) -> FloatArray:
    x = rng.normal(size=ROWS)
    return np.column_stack([x, np.exp(0.75 * x) * rng.normal(size=ROWS)])


def conditional_spread(rng: np.random.Generator) -> Pair:
    """Let the spread of 1 of 50 columns grow with another, with the same margins."""
    X, Y = (rng.normal(size=(ROWS, COLUMNS)) for _ in range(2))
    X[:, :2] = apart(rng, _funnel(rng))
    Y[:, :2] = _funnel(rng)
    return X, Y


def bimodal_direction(rng: np.random.Generator) -> Pair:
    """Give one direction over 6 of 50 columns two modes at the same covariance."""
    X, Y = (rng.normal(size=(ROWS, COLUMNS)) for _ in range(2))
    direction = np.zeros(COLUMNS)
    direction[:6] = np.array([1, -1, 1, 1, -1, 1]) / np.sqrt(6)
    along = Y @ direction
    side = rng.choice([-1.0, 1.0], size=ROWS)
    Y += np.outer(0.95 * side + np.sqrt(1 - 0.95**2) * along - along, direction)
    return X, Y


def factor(rng: np.random.Generator) -> Pair:
    """Correlate all 50 columns by 0.06 instead of 0."""
    X, Y = (rng.normal(size=(ROWS, COLUMNS)) for _ in range(2))
    return X, np.sqrt(0.94) * Y + np.sqrt(0.06) * rng.normal(size=(ROWS, 1))


def block(rng: np.random.Generator) -> Pair:
    """Correlate 8 of 50 columns by 0.35 instead of 0."""
    X, Y = (rng.normal(size=(ROWS, COLUMNS)) for _ in range(2))
    Y[:, :8] = np.sqrt(0.65) * Y[:, :8] + np.sqrt(0.35) * rng.normal(size=(ROWS, 1))
    return X, Y


def binary_pair(rng: np.random.Generator) -> Pair:
    """Make 2 of 40 fair coins agree three times of four."""
    X, Y = (rng.integers(0, 2, size=(ROWS, 40)).astype(float) for _ in range(2))
    Y[:, 1] = np.where(rng.random(ROWS) < 0.76, Y[:, 0], 1 - Y[:, 0])
    return X, Y


KINDS = (
    pair,
    triple,
    ring,
    quadratic,
    conditional_spread,
    bimodal_direction,
    factor,
    block,
    binary_pair,
)
