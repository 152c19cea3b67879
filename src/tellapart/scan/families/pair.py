"""Pair: dependence of two columns that their correlation does not see.

The changes of correlation between scores of different kinds: one column's level with another's
spread, the spreads of both, the waves of both, and the same in units of value. Each kind gives
the largest square over all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.budget import Budget
from tellapart.scan.families.correlation import ProductKind, all_pairs
from tellapart.scan.family import (
    Family,
    FamilyPlan,
    FamilyResult,
    GroupCandidates,
    ScanState,
    Skipped,
    columns_for_pairs,
)
from tellapart.scan.features import Pairs, Product
from tellapart.scan.pool import Largest, Pool, each_pair

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


@dataclass(frozen=True, eq=False, kw_only=True)
class PairPlan(FamilyPlan):
    """The products of every kind."""

    products: dict[ProductKind, Product]


class Pair(Family):
    """Dependence of two columns that their correlation does not see."""

    name = "pair"
    weight = 1.0
    description = "non-linear dependence of pairs of columns"
    work = 6
    fewest_rows = 8

    def plan(self, state: ScanState, budget: Budget) -> PairPlan | Skipped:
        """Look at the pairs of the numeric columns that depend most on others."""
        count = columns_for_pairs(state.affordable(budget, N_PRODUCTS))
        columns = state.dependence.most(count, state.scores.numeric)
        pairs = all_pairs(columns, state.scores.column)
        needed = None if pairs.size else "two numeric columns that vary"
        reason = state.why_skipped(self.fewest_rows, needed)
        if reason is not None:
            return Skipped(reason)
        products = {kind: kind.of(pairs_of(kind, pairs)) for kind in KINDS}
        return PairPlan(
            features=tuple(products.values()),
            note=state.screening_note("pairs", columns, state.n_numeric),
            products=products,
        )

    def run(self, contrasts: Pool, plan: PairPlan) -> FamilyResult:
        """Return the largest change of each kind, and of the first two together."""
        largest: dict[ProductKind, Largest] = {}
        for kind, product in plan.products.items():
            largest[kind] = kept = Largest.empty(contrasts.count, SOME_KEPT, product.size)
            each_pair(contrasts, product, kept.add)
        joint = np.maximum(largest[LEVEL_SPREAD].maximum(), largest[WAVES].maximum())
        alone = [largest[kind].maximum() for kind in (WAVES, SPREADS, VALUE_SQUARE)]
        return FamilyResult(
            np.column_stack([joint, *alone]),
            tuple(
                GroupCandidates(kind, largest[kind], np.column_stack(product.columns))
                for kind, product in plan.products.items()
            ),
        )
