"""What each family looks at, decided by sizes and pooled rows alone, and what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.permutation.bins import Singles
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.scan.budget import (
    MOST_CORRELATED,
    affordable,
    columns_for_pairs,
    columns_for_triples,
    dependence,
    pooled_correlation,
)
from tellapart.scan.families.correlation import CORE_COLUMNS, all_pairs, screened_pairs
from tellapart.scan.families.higher import DIRECTION_COLUMNS, four_columns
from tellapart.scan.families.pair import N_PRODUCTS
from tellapart.scan.families.triple import all_triples, screening_columns
from tellapart.scan.requests import Pairs, Triples
from tellapart.scan.scores import Scores

# All triples take part of what a family can afford: those that stand out come on top.
TRIPLES_SHARE = 3
# Rows of the smaller sample without which dependence within it means nothing.
FEWEST_ROWS = {"correlation": 4, "pair": 8, "triple": 8, "higher": 16}


@dataclass(frozen=True)
class Plan:
    """The pairs, triples and columns that the families of dependence look at.

    `skipped` maps families that cannot run to the reason, `notes` those that leave something out.
    """

    pairs: Pairs
    screened: Pairs
    core: IntArray
    shaped: Pairs
    triples: Triples
    triple_columns: IntArray
    four_columns: IntArray
    direction_columns: IntArray
    skipped: dict[str, str]
    notes: dict[str, str]

    def runs(self, family: str) -> bool:
        """Return whether a family runs."""
        return family not in self.skipped


def make_plan(
    scores: Scores, labels: KeyedBins, effort: float = 1.0, whole: tuple[int, int] | None = None
) -> Plan:
    """Plan the families of dependence by the scores of pooled rows, drawn without labels.

    `effort` is the share of the usual work that pairs, triples and fours may take. `whole` counts
    the columns that vary, and the numeric ones, where the scores are those of some of them.
    """
    every = np.arange(scores.column.size)
    known = every
    if every.size > MOST_CORRELATED:
        known = most_varied(tiedness(scores), MOST_CORRELATED)
    correlation = pooled_correlation(scores.normal[:, known], scores.column[known])
    planner = _Planner(known, dependence(correlation))
    numeric = np.flatnonzero(np.isin(known, scores.numeric))
    most_pairs, most_shaped, most_triples = (
        affordable(labels, kinds, effort) for kinds in (1, N_PRODUCTS, TRIPLES_SHARE)
    )
    for_pairs = planner.most(columns_for_pairs(most_pairs))
    for_shapes = planner.most(columns_for_pairs(most_shaped), numeric)
    for_triples = planner.most(columns_for_triples(most_triples))
    n_rows = scores.normal.shape[0]
    wider = planner.most(int(screening_columns(n_rows) * effort ** (1 / 3)))
    pairs = all_pairs(for_pairs, scores.column)
    chosen = screened_pairs(correlation, pairs.size)
    plan = Plan(
        pairs=pairs,
        screened=Pairs(known[chosen.s], known[chosen.t]),
        core=planner.most(CORE_COLUMNS),
        shaped=all_pairs(for_shapes, scores.column),
        triples=all_triples(for_triples, scores.column),
        triple_columns=wider,
        four_columns=planner.most(int(four_columns(n_rows) * effort ** (1 / 4))),
        direction_columns=planner.most(int(DIRECTION_COLUMNS * effort ** (1 / 4)), numeric),
        skipped={},
        notes={},
    )
    counts = whole or (np.unique(scores.column).size, scores.numeric.size)
    _explain(scores, labels, plan, for_pairs, for_shapes, for_triples, counts)
    return plan


@dataclass(frozen=True)
class _Planner:
    known: IntArray
    strength: FloatArray

    def most(self, count: int, among: IntArray | None = None) -> IntArray:
        """Return the `count` columns that depend most on others in the pooled rows."""
        places = np.arange(self.known.size) if among is None else among
        if places.size > count:
            order = np.argsort(-self.strength[places], kind="stable")
            places = np.sort(places[order[:count]])
        return self.known[places]


def tiedness(scores: Scores) -> Singles:
    """Return the fourth moment of each score column: large where many rows share a value."""
    return np.asarray(np.mean(np.square(np.square(scores.normal)), axis=0))


def most_varied(ties: Singles, most: int) -> IntArray:
    """Return the columns whose most frequent value is the least frequent, by their ties."""
    return np.sort(np.argsort(ties, kind="stable")[:most])


def _explain(
    scores: Scores,
    labels: KeyedBins,
    plan: Plan,
    for_pairs: IntArray,
    for_shapes: IntArray,
    for_triples: IntArray,
    counts: tuple[int, int],
) -> None:
    """Say which families cannot run, and which look at some of the columns only."""
    fewest = labels.fewest
    n_columns, numeric = counts
    sizes = {
        "correlation": (plan.pairs.size, "two columns that vary"),
        "pair": (plan.shaped.size, "two numeric columns that vary"),
        "triple": (plan.triples.size, "three columns that vary"),
        "higher": (int(plan.four_columns.size >= 4), "four columns that vary"),
    }
    for family, (size, needed) in sizes.items():
        if fewest < FEWEST_ROWS[family]:
            plan.skipped[family] = (
                f"needs {FEWEST_ROWS[family]} rows of each sample; the smaller one has {fewest}"
            )
        elif size == 0:
            plan.skipped[family] = f"needs {needed}"
    places = {
        "correlation": (for_pairs, n_columns, "pairs"),
        "pair": (for_shapes, numeric, "pairs"),
        "triple": (for_triples, n_columns, "triples"),
    }
    for family, (used, of, what) in places.items():
        count = np.unique(scores.column[used]).size
        if family not in plan.skipped and count < of:
            plan.notes[family] = (
                f"{what} were screened among {count:,} of {of:,} columns, blind to group: "
                "those that depend most on others in the pooled rows"
            )
