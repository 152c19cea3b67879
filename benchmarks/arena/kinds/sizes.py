"""Wide tables of few rows, and samples of unequal sizes."""

from __future__ import annotations

import numpy as np

from arena.kinds.means import ar_columns
from arena.table import Pair


def wide_few(rng: np.random.Generator) -> Pair:
    """Shift the means of 3 of 500 columns, with 40 + 40 rows."""
    X, Y = (rng.normal(size=(40, 500)) for _ in range(2))
    Y[:, :3] += 0.8
    return X, Y


def wide_dense(rng: np.random.Generator) -> Pair:
    """Shift the means of all 1,000 AR(0.5) columns, with 25 + 25 rows."""
    X, Y = (ar_columns(rng, 25, 1000, 0.5) for _ in range(2))
    return X, Y + 0.13


def wide_spread(rng: np.random.Generator) -> Pair:
    """Widen the spread of 50 of 500 columns, with 40 + 40 rows."""
    X, Y = (rng.normal(size=(40, 500)) for _ in range(2))
    Y[:, :50] *= 1.4
    return X, Y


def unequal(rng: np.random.Generator) -> Pair:
    """Shift the means of 2 of 30 columns, with 300 + 40 rows."""
    X, Y = rng.normal(size=(300, 30)), rng.normal(size=(40, 30))
    Y[:, :2] += 0.5
    return X, Y


def unequal_spread(rng: np.random.Generator) -> Pair:
    """Narrow the spread of 3 of 30 columns, with 300 + 40 rows."""
    X, Y = rng.normal(size=(300, 30)), rng.normal(size=(40, 30))
    Y[:, :3] *= 0.5
    return X, Y


KINDS = (wide_few, wide_dense, wide_spread, unequal, unequal_spread)
