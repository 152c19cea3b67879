"""How many pairs and triples may be looked at, and which columns they are made of.

Both follow from the numbers of rows, columns and permutations and from the pooled rows, never
from the labels: what runs must not depend on what the true labels showed.
"""

from __future__ import annotations

import math

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.permutation.bins import Singles
from tellapart.permutation.keyed_bins import KeyedBins

# Multiplications of one family, and entries (permutation × pair) it looks at: half a second each.
MOST_PRODUCTS = 30_000_000_000
MOST_ENTRIES = 60_000_000
# Fewer permutations do not look at more: what is seen shall not depend on their number.
USUAL_PERMUTATIONS = 1_000
# Columns whose pooled correlations are computed.
MOST_CORRELATED = 4_000
BYTES_PER_COLUMN = 300
"""What the statistics of one permutation take for each column that is held."""
BLOCKED_BYTES = 2_000_000_000
"""Where columns would take more than this they are looked at in blocks…"""
FEWEST_BLOCKED = 4_000
"""…if they are more than this; few columns that take so much do so for their permutations."""
HELD_IN_BLOCKS = 1_000
"""What pairs, triples and named columns amount to, in columns, where all others are in blocks."""


def in_blocks(n_columns: int, count: int) -> bool:
    """Say whether columns are too many to be held at once under every permutation.

    >>> in_blocks(5_000, 1_000), in_blocks(100_000, 1_000), in_blocks(100, 200_000)
    (False, True, False)
    """
    return n_columns > FEWEST_BLOCKED and count * BYTES_PER_COLUMN * n_columns > BLOCKED_BYTES


def columns_held(n_columns: int, count: int) -> int:
    """Return how many columns' statistics under every permutation are held at once."""
    return HELD_IN_BLOCKS if in_blocks(n_columns, count) else n_columns


def affordable(labels: KeyedBins, kinds: int = 1, effort: float = 1.0) -> int:
    """Return how many pairs or triples a family can afford, of so many kinds of products each.

    `effort` is the share of the usual work, for one scan of many.
    """
    count = max(labels.count, USUAL_PERMUTATIONS)
    by_products = MOST_PRODUCTS // (count * labels.n_bins)
    return int(effort * min(by_products, MOST_ENTRIES // count) // kinds)


def columns_for_pairs(most: int) -> int:
    """Return the largest number of columns with at most `most` pairs.

    >>> columns_for_pairs(10), columns_for_pairs(9), columns_for_pairs(0)
    (5, 4, 1)
    """
    return int((1 + math.isqrt(1 + 8 * most)) // 2)


def columns_for_triples(most: int) -> int:
    """Return the largest number of columns with at most `most` triples.

    >>> columns_for_triples(10), columns_for_triples(9)
    (5, 4)
    """
    columns = 2
    while math.comb(columns + 1, 3) <= most:
        columns += 1
    return columns


def pooled_correlation(normal: Singles, parent: IntArray) -> FloatArray:
    """Return the pooled correlations of U between score columns, 0 within one column."""
    matrix: FloatArray = (normal.T @ normal).astype(np.float64) / normal.shape[0]
    matrix[parent[:, np.newaxis] == parent] = 0.0
    return matrix


def dependence(correlation: FloatArray) -> FloatArray:
    """Return the sum of the three largest squared correlations of each column."""
    squares = np.square(correlation)
    if squares.shape[1] > 3:
        squares = np.partition(squares, -3, axis=1)[:, -3:]
    return np.asarray(squares.sum(axis=1))
