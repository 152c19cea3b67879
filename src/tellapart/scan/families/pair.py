"""Pair: dependence of two columns that their correlation does not see.

The changes of correlation between scores of different kinds: one column's level with another's
spread, the spreads of both, the waves of both, and the same in units of value. Each kind gives
the largest square over all pairs.
"""

from __future__ import annotations

import numpy as np

from tellapart.scan.families.correlation import PairScan, ProductKind
from tellapart.scan.pairs import Largest, each_pair
from tellapart.scan.pool import Pool
from tellapart.scan.requests import Pairs

# Values kept of each permutation, for the maxima of what is not named.
SOME_KEPT = 8
LEVEL_SPREAD = ProductKind("normal", "spread")
WAVES = ProductKind("wave 2", "wave 2")
SPREADS = ProductKind("spread", "spread")
VALUE_SQUARE = ProductKind("clipped", "squared")
KINDS = (LEVEL_SPREAD, WAVES, SPREADS, VALUE_SQUARE)
# Products per pair: those of different scores go both ways.
N_PRODUCTS = 6


def pairs_of(kind: ProductKind, pairs: Pairs) -> Pairs:
    """Return the pairs of one kind of product: both ways where it is of different scores."""
    if kind.first == kind.second:
        return pairs
    return Pairs(np.concatenate([pairs.s, pairs.t]), np.concatenate([pairs.t, pairs.s]))


def pair_statistics(pool: Pool, pairs: Pairs) -> PairScan:
    """Return the statistics of dependence without correlation."""
    largest: dict[ProductKind, Largest] = {}
    of_kind: dict[ProductKind, Pairs] = {}
    for kind in KINDS:
        of_kind[kind] = pairs_of(kind, pairs)
        largest[kind] = kept = Largest.empty(pool.count, SOME_KEPT, of_kind[kind].size)
        each_pair(pool, kind.name, kept.add)
    joint = np.maximum(largest[LEVEL_SPREAD].maximum(), largest[WAVES].maximum())
    statistics = np.column_stack(
        [
            joint,
            largest[WAVES].maximum(),
            largest[SPREADS].maximum(),
            largest[VALUE_SQUARE].maximum(),
        ]
    )
    return PairScan(statistics, largest, of_kind)
