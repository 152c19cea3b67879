"""A kind of difference by its name: a function that draws a pair of samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tellapart.arrays import FloatArray

Rng = np.random.Generator
Pair = tuple[Any, Any]
Draw = Callable[[Rng], Pair]

KINDS: dict[str, Draw] = {}


def kind(draw: Draw) -> Draw:
    """Enter a kind under the name of its function."""
    KINDS[draw.__name__] = draw
    return draw


def normal(rng: Rng, rows: int, columns: int) -> FloatArray:
    """Return two samples of independent normal columns, shape (2, rows, columns)."""
    return rng.normal(size=(2, rows, columns))


def link(values: FloatArray, first: int, second: int, correlation: float) -> None:
    """Give two independent normal columns a correlation."""
    rest = np.sqrt(1 - correlation**2)
    values[:, second] = correlation * values[:, first] + rest * values[:, second]
