"""Changes of the dependence between two columns, for every pair and every permutation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tellapart.arrays import IntArray
from tellapart.interrupts import check_interrupts
from tellapart.permutation.bins import Singles
from tellapart.scan.pool import Pool
from tellapart.scan.reductions import correlation_changes, pair_products

# Entries (permutation × pair) at a time, 16 MB.
BLOCK_ENTRIES = 4_000_000

Receive = Callable[[slice, slice, Singles], None]
"""Takes which permutations, which pairs, and their changes (permutations × pairs)."""


def each_pair(
    pool: Pool, first: str, second: str, s: IntArray, t: IntArray, receive: Receive
) -> None:
    """Give the change of correlation between score `first` of s_q and `second` of t_q, in blocks.

    The change is (r_x − r_y)/(1 − r_x r_y), of the correlations within the two samples. Threads
    call `receive`, each with permutations of its own.
    """
    labels, scores = pool.labels, pool.scores
    one, other = scores.of(first), scores.of(second)
    a, b = pool.moments(first), pool.moments(second)
    n_x, n_y = np.float32(labels.n_x), np.float32(labels.n_y)
    fixed = np.concatenate([labels.fixed_x, labels.fixed_y])
    step = max(BLOCK_ENTRIES // pool.count, 1)
    for start in range(0, s.size, step):
        check_interrupts()
        block = slice(start, min(start + step, s.size))
        left, right = s[block], t[block]
        sums = np.empty((labels.n_bins, left.size), dtype=np.float32)

        def add(bins: slice) -> None:
            pair_products(one, other, labels.rows[bins], left, right, sums[bins])  # noqa: B023

        pool.each_bin(add)
        kept = one[fixed][:, left] * other[fixed][:, right]
        always = kept[: labels.fixed_x.size].sum(axis=0)
        totals = (sums.sum(axis=0, dtype=np.float64) + kept.sum(axis=0)).astype(np.float32)

        def change(rows: slice) -> None:
            of_x = labels.labels[rows] @ sums + always  # noqa: B023
            correlation_changes(
                of_x, totals, left, right, n_x, n_y,  # noqa: B023
                a.mean_x[rows], a.mean_y[rows], a.inverse_x[rows], a.inverse_y[rows],
                b.mean_x[rows], b.mean_y[rows], b.inverse_x[rows], b.inverse_y[rows],
            )  # fmt: skip
            receive(rows, block, of_x)  # noqa: B023

        pool.each_slice(change)
