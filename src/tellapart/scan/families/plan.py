"""What each family looks at, decided by sizes and pooled rows alone, and what it leaves out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.permutation.labels import Bins
from tellapart.scan.families.correlation import (
    CORE_COLUMNS,
    CORRELATED,
    CORRELATED_SCREENED,
    all_pairs,
    screened_pairs,
)
from tellapart.scan.families.higher import (
    DIRECTION_COLUMNS,
    HigherGroups,
    four_columns,
    plan_higher,
    screening_rows,
)
from tellapart.scan.families.pair import KINDS, N_PRODUCTS, pairs_of
from tellapart.scan.families.shape import row_score
from tellapart.scan.families.triple import TripleGroup, all_triples, plan_triples, screening_columns
from tellapart.scan.requests import MissingValues, Pairs, Requests, RowScore, Triples, ValueRanges
from tellapart.scan.row_forms import points_per_bin
from tellapart.scan.scores import Scores
from tellapart.threads import in_threads

# How many pairs and triples may be looked at, and which columns they are made of.
#
# Both follow from the numbers of rows, columns and permutations and from the pooled rows, never
# from the labels: what runs must not depend on what the true labels showed.


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


def affordable(labels: Bins, kinds: int = 1, effort: float = 1.0) -> int:
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
    scores: Scores, labels: Bins, effort: float = 1.0, whole: tuple[int, int] | None = None
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
    labels: Bins,
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


# What the families ask to be summed over bins, found from pooled rows without labels.


@dataclass(frozen=True, eq=False)
class Asked:
    """The requests of all families that run, and the groups of columns behind them."""

    requests: Requests
    triples: tuple[TripleGroup, ...] = ()
    higher: HigherGroups | None = None


def ask_families(
    plan: Plan,
    outline: Scores,
    labels: Bins,
    rng: np.random.Generator,
    n_jobs: int,
    missing: MissingValues | None = None,
    values: ValueRanges | None = None,
) -> Asked:
    """Return what every family that the plan has needs of the data.

    `outline` holds the scores of pooled rows, and `rng` draws among them where candidates are too
    many to be named by all. `missing` is what to sum of what rows miss, where values are missing,
    and `values` are those that stand apart.
    """
    seen = screening_rows(outline.normal.shape[0], rng)

    def triples() -> tuple[TripleGroup, ...]:
        runs = plan.runs("triple")
        return plan_triples(outline, plan.triples, plan.triple_columns) if runs else ()

    def higher() -> HigherGroups | None:
        runs = plan.runs("higher")
        fours, directions = plan.four_columns, plan.direction_columns
        return plan_higher(outline, fours, directions, seen) if runs else None

    def rows() -> RowScore:
        return row_score(outline)

    work: list[Callable[[], object]] = [triples, higher, rows]
    of_triples, of_higher, of_rows = in_threads(lambda make: make(), work, n_jobs)
    assert isinstance(of_triples, tuple)
    assert isinstance(of_rows, RowScore)
    requests = Requests(
        row_score=of_rows, points_per_bin=points_per_bin(labels), missing=missing, values=values
    )
    if plan.runs("correlation"):
        requests.pairs[CORRELATED.name] = CORRELATED.of(plan.pairs)
        requests.pairs[CORRELATED_SCREENED.name] = CORRELATED_SCREENED.of(plan.screened)
    if plan.runs("pair"):
        for kind in KINDS:
            requests.pairs[kind.name] = kind.of(pairs_of(kind, plan.shaped))
    for group in of_triples:
        group.ask(requests)
    higher_groups = of_higher if isinstance(of_higher, HigherGroups) else None
    if higher_groups is not None:
        requests = higher_groups.ask(requests)
    if missing is not None:
        requests.count_present()
    return Asked(requests, of_triples, higher_groups)
