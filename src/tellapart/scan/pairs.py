"""Changes of the dependence between two columns, for every pair and every permutation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tellapart.interrupts import check_interrupts
from tellapart.permutation.bins import Singles
from tellapart.scan.design_scales import pair_scales
from tellapart.scan.pool import Moments, Pool
from tellapart.scan.reductions import correlation_changes, present_correlation_changes
from tellapart.scan.requests import Pairs, ProductOfTwo

WHOLE = {"normal", "clipped"}
"""Scores whose moments are needed of every column."""
# Entries (permutation × pair) at a time, 16 MB.
BLOCK_ENTRIES = 4_000_000

Receive = Callable[[slice, slice, Singles], None]
"""Takes which permutations, which pairs, and their changes (permutations × pairs)."""


def each_pair(pool: Pool, name: str, receive: Receive) -> None:
    """Give the change of correlation of the pairs that were asked for by name, in blocks.

    The change is (r_x − r_y)/(1 − r_x r_y), of the correlations within the two samples; where
    values are missing, products are those of rows that have both, and means and deviations those
    of rows that have the one. Threads
    call `receive`, each with permutations of its own.
    """
    asked, sums = pool.requests.pairs[name], pool.sums.pairs(name)
    pairs, (a, b) = _with_moments(pool, asked)
    n_x, n_y = pool.labels.counts
    scale = None if pool.design is None else pair_scales(pool.design, pool.sums, name, asked)
    total = sums.total().astype(np.float32)
    both = 1 / np.float32(pool.labels.n_x) + 1 / np.float32(pool.labels.n_y)
    share = np.float32(pool.labels.n_x / pool.labels.n_rows)
    present = sums.present
    n_rows = total if present is None else present.total().astype(np.float32)
    step = max(BLOCK_ENTRIES // pool.count, 1)
    for start in range(0, pairs.size, step):
        check_interrupts()
        block = slice(start, min(start + step, pairs.size))
        left, right, totals = pairs.s[block], pairs.t[block], total[block]
        of_products = sums.summing(pool.labels, block)
        if present is not None:
            of_rows = present.summing(pool.labels, block)

        def change(rows: slice) -> None:
            of_x = of_products(rows)  # noqa: B023
            moments = (
                a.mean_x[rows], a.mean_y[rows], a.inverse_x[rows], a.inverse_y[rows],
                b.mean_x[rows], b.mean_y[rows], b.inverse_x[rows], b.inverse_y[rows],
            )  # fmt: skip
            if present is None:
                correlation_changes(of_x, totals, left, right, n_x[rows], n_y[rows], *moments)  # noqa: B023
            else:
                counts = of_rows(rows)  # noqa: B023
                every = n_rows[block]  # noqa: B023
                present_correlation_changes(
                    of_x, counts, totals, every, left, right, both, share, *moments,  # noqa: B023
                )  # fmt: skip
            if scale is not None:
                of_x *= scale[block]  # noqa: B023
            receive(rows, block, of_x)  # noqa: B023

        pool.each_slice(change)


def _with_moments(pool: Pool, asked: ProductOfTwo) -> tuple[Pairs, tuple[Moments, Moments]]:
    """Return the pairs, by where their columns stand among the moments of both scores."""
    pairs, names = asked.pairs, (asked.first, asked.second)
    if pool.forms is None or set(names) <= WHOLE:
        return pairs, (pool.moments(names[0]), pool.moments(names[1]))
    # Of many comparisons each makes the moments that it needs.
    columns, places = np.unique(np.concatenate([pairs.s, pairs.t]), return_inverse=True)
    own = {name: pool.moments_of(name, columns) for name in names}
    return Pairs(places[: pairs.size], places[pairs.size :]), (own[names[0]], own[names[1]])
