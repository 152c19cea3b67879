"""What the families ask to be summed over bins, found from pooled rows without labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.scan.families.correlation import CORRELATED, CORRELATED_SCREENED
from tellapart.scan.families.higher import HigherGroups, plan_higher, screening_rows
from tellapart.scan.families.pair import KINDS, pairs_of
from tellapart.scan.families.plan import Plan
from tellapart.scan.families.shape import row_score
from tellapart.scan.families.triple import TripleGroup, plan_triples
from tellapart.scan.requests import MissingValues, Requests, RowScore, ValueRanges
from tellapart.scan.scores import Scores
from tellapart.scan.whole_rows import points_per_bin
from tellapart.threads import in_threads


@dataclass(frozen=True, eq=False)
class Asked:
    """The requests of all families that run, and the groups of columns behind them."""

    requests: Requests
    triples: tuple[TripleGroup, ...] = ()
    higher: HigherGroups | None = None


def ask_families(
    plan: Plan,
    outline: Scores,
    labels: KeyedBins,
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
