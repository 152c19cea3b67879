"""Columns of categories, alone and beside numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from arena.table import FloatArray, Pair

ROWS = 150
LEVELS = np.array(["north", "east", "south", "west"])


def _frame(codes: NDArray[np.int64], numbers: FloatArray | None = None) -> pd.DataFrame:
    """Return codes as columns of strings, after columns of numbers."""
    frame = pd.DataFrame({} if numbers is None else numbers)
    frame.columns = [f"n{j}" for j in range(frame.shape[1])]
    for j, column in enumerate(codes.T):
        frame[f"c{j}"] = LEVELS[column]
    return frame


def _codes(rng: np.random.Generator, columns: int) -> NDArray[np.int64]:
    return rng.choice(4, size=(ROWS, columns), p=[0.4, 0.3, 0.2, 0.1])


def levels(rng: np.random.Generator) -> Pair:
    """Change the shares of the levels in 1 of 12 columns of categories."""
    x, y = _codes(rng, 12), _codes(rng, 12)
    y[:, 0] = rng.choice(4, size=ROWS, p=[0.25, 0.29, 0.25, 0.21])
    return _frame(x), _frame(y)


def category_pair(rng: np.random.Generator) -> Pair:
    """Make 2 of 12 columns of categories agree more often, with the same shares."""
    x, y = (rng.integers(0, 4, size=(ROWS, 12)) for _ in range(2))
    y[:, 1] = np.where(rng.random(ROWS) < 0.36, y[:, 0], y[:, 1])
    return _frame(x), _frame(y)


def mixed(rng: np.random.Generator) -> Pair:
    """Shift 1 of 15 columns of numbers and the shares of 1 of 5 of categories."""
    x, y = _codes(rng, 5), _codes(rng, 5)
    X, Y = (rng.normal(size=(ROWS, 15)) for _ in range(2))
    Y[:, 0] += 0.3
    y[:, 0] = rng.choice(4, size=ROWS, p=[0.3, 0.29, 0.24, 0.17])
    return _frame(x, X), _frame(y, Y)


def mixed_link(rng: np.random.Generator) -> Pair:
    """Let 1 of 15 columns of numbers depend on 1 of 5 of categories, with the same margins."""
    x, y = (rng.integers(0, 4, size=(ROWS, 5)) for _ in range(2))
    X, Y = (rng.normal(size=(ROWS, 15)) for _ in range(2))
    effect = np.array([-0.95, -0.3, 0.3, 0.95])
    # In X the effect is that of a column nobody sees, so the margins agree.
    X[:, 0] += effect[rng.integers(0, 4, size=ROWS)]
    Y[:, 0] += effect[y[:, 0]]
    return _frame(x, X), _frame(y, Y)


KINDS = (levels, category_pair, mixed, mixed_link)
