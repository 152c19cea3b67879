"""Two or three columns that differ in places, among many that do not differ at all."""

from __future__ import annotations

import numpy as np

from arena.kinds.few import ROWS, board, layered, turned_ellipses
from arena.table import FloatArray, Pair


def among(rng: np.random.Generator, columns: int, X: FloatArray, Y: FloatArray) -> Pair:
    """Return the columns of two samples in the same random places among normal columns.

    They are standardised by the pooled rows first, so that their spread does not name them.
    """
    pooled = np.concatenate([X, Y])
    values = rng.normal(size=(len(pooled), columns))
    places = rng.permutation(columns)[: pooled.shape[1]]
    values[:, places] = (pooled - pooled.mean(axis=0)) / pooled.std(axis=0)
    return values[: len(X)], values[len(X) :]


def pair_ellipses(rng: np.random.Generator) -> Pair:
    """Turn each of seven clusters in 2 of 30 columns about its own centre."""
    X, Y = (turned_ellipses(rng, 0.4, turned) for turned in (False, True))
    return among(rng, 30, X, Y)


def pair_board(rng: np.random.Generator) -> Pair:
    """Make 8 fields of a board of 16 in 2 of 30 columns more frequent than the others."""
    return among(rng, 30, rng.random((ROWS, 2)), board(rng, 4, 0.85))


def triple_shells(rng: np.random.Generator) -> Pair:
    """Change dense and empty shells of a ball in 3 of 20 columns over."""
    return among(rng, 20, layered(rng, 0.75), layered(rng, -0.75))


KINDS = (pair_ellipses, pair_board, triple_shells)
