"""The contract of a family of differences: what one file in `tellapart.scan.families` provides.

A family first plans by pooled rows, without labels, what to look at, and names the features whose
sums it needs (`tellapart.scan.features`). Once all rows were summed, it turns the sums into a few
statistics under every permutation. The scan combines the statistics of all families into one
p-value and names what differs among the candidates that families return.

A new family is one class with these methods, registered by `tellapart.scan.families`:

>>> from tellapart.scan.families import FAMILIES
>>> [family.name for family in FAMILIES][:3]
['location', 'shape', 'kernel']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import Budget, current_budget
from tellapart.permutation.labels import TwoSampleSums
from tellapart.scan.features import Feature, Product
from tellapart.scan.pairs import Largest
from tellapart.scan.pool import Pool
from tellapart.scan.row_forms import RowProducts
from tellapart.scan.state import ScanState
from tellapart.threads import in_threads


@dataclass(frozen=True, eq=False)
class FamilyPlan:
    """What a family looks at; families that need to remember more derive from it.

    Attributes
    ----------
    features : tuple of Feature
        What is to be summed over bins.
    note : str or None
        What is left out, if anything.
    correlations : Product or None
        The product of U whose sums tell the change of correlation of pairs over all rows.
    """

    features: tuple[Feature, ...] = ()
    note: str | None = None
    correlations: Product | None = None


@dataclass(frozen=True)
class Skipped:
    """Why a family does not run; without a reason there is nothing to look at, and none is told."""

    reason: str = ""


@dataclass(frozen=True, eq=False)
class GroupCandidates:
    """Pairs or triples of columns that can be named: the largest changes of one kind of product.

    Attributes
    ----------
    kind : object
        What is multiplied; kinds come from simple to less so.
    largest : Largest
        The largest changes under every permutation.
    score_columns : array of shape (groups, 2 or 3)
        The score columns that each place of `largest` stands for.
    """

    kind: Any
    largest: Largest
    score_columns: IntArray

    @property
    def n_members(self) -> int:
        """Columns of each group."""
        return int(self.score_columns.shape[1])


@dataclass(frozen=True, eq=False)
class FamilyResult:
    """What a family computed.

    Attributes
    ----------
    statistics : array of shape (permutations, statistics)
        The observed labels first; the larger, the more the samples differ. At least 0.
    candidates : tuple
        What findings can be named from: `GroupCandidates` and those of
        `tellapart.scan.families.missing` and `tellapart.scan.families.values`.
    note : str or None
        What could not be compared, if anything.
    n_variables : int or None
        How many columns carry nearly all of the difference, where a family can say so.
    """

    statistics: FloatArray
    candidates: tuple[object, ...] = ()
    note: str | None = None
    n_variables: int | None = None


class Family(Protocol):
    """A family of differences.

    Attributes
    ----------
    name : str
        By which results, pages and messages call it.
    weight : float
        How much it counts in the combination. Those of the package were chosen on data made for
        that, and not on what the benchmarks show.
    description : str
        What its statistics respond to, for pages and documentation.
    work : int
        Families with more of it are begun earlier, so that no thread is left alone with a long one.
    fewest_rows : int
        Rows of the smaller sample without which it does not run.
    """

    name: str
    weight: float
    description: str
    work: int = 0
    fewest_rows: int = 1

    def plan(self, state: ScanState, budget: Budget) -> FamilyPlan | Skipped:
        """Decide what to look at, by pooled rows without labels."""
        ...

    def features(self, plan: Any) -> Sequence[Feature]:
        """Return what is to be summed over bins."""
        return tuple(plan.features)

    def run(self, contrasts: Pool, plan: Any) -> FamilyResult:
        """Return the statistics under every permutation, from the sums."""
        ...


@dataclass(frozen=True, eq=False)
class WholeRowSums:
    """What is known of whole rows of a table whose columns come in blocks.

    Attributes
    ----------
    products : RowProducts
        Inner products of rows over all columns.
    row_score : TwoSampleSums
        The sums over bins of the normal score of ‖V‖².
    """

    products: RowProducts
    row_score: TwoSampleSums


@runtime_checkable
class ColumnFamily(Family, Protocol):
    """A family that adds up the largest statistics of single columns.

    Of very many columns these come in blocks, and only the `n_kept` largest of each permutation
    are held.
    """

    n_kept: int

    def column_statistics(self, contrasts: Pool) -> Iterable[Singles]:
        """Yield statistics of every column, (permutations × columns) each."""
        ...

    def from_largest(
        self, contrasts: Pool, largest: Sequence[Singles], rows: WholeRowSums
    ) -> FamilyResult:
        """Return the result by the largest of each of `column_statistics` over all columns."""
        ...


@dataclass(frozen=True, eq=False)
class Planned:
    """The families that run, with what each looks at.

    Attributes
    ----------
    families : tuple of Family
        Those that run, in the order in which results list them.
    plans : mapping from str to FamilyPlan
        By the names of these families.
    skipped, notes : mapping from str to str
        Families that cannot run, and those that leave something out, with the reason.
    state : ScanState
        What they planned by.
    """

    families: tuple[Family, ...]
    plans: Mapping[str, FamilyPlan]
    skipped: Mapping[str, str]
    notes: Mapping[str, str]
    state: ScanState = field(repr=False)

    def features(self) -> list[Feature]:
        """Return what all families want to be summed."""
        return [
            feature
            for family in self.families
            for feature in family.features(self.plans[family.name])
        ]

    @property
    def correlations(self) -> Product | None:
        """The product of U of the pairs whose correlations are looked at."""
        every = (self.plans[family.name].correlations for family in self.families)
        return next((product for product in every if product is not None), None)


def plan_families(families: Sequence[Family], state: ScanState) -> Planned:
    """Let families plan what to look at, side by side; those that cannot run are skipped."""
    budget = current_budget()
    longest_first = sorted(families, key=lambda family: -family.work)
    made = in_threads(lambda family: family.plan(state, budget), longest_first, state.n_jobs)
    answers = {family.name: plan for family, plan in zip(longest_first, made, strict=True)}
    plans: dict[str, FamilyPlan] = {}
    skipped: dict[str, str] = {}
    for family in families:
        plan = answers[family.name]
        if isinstance(plan, FamilyPlan):
            plans[family.name] = plan
        elif plan.reason:
            skipped[family.name] = plan.reason
    running = tuple(family for family in families if family.name in plans)
    notes = {name: plan.note for name, plan in plans.items() if plan.note is not None}
    return Planned(running, plans, skipped, notes, state)


def run_families(
    planned: Planned,
    contrasts: Pool,
    known: Mapping[str, FamilyResult] | None = None,
    begin_with: int = 0,
) -> dict[str, FamilyResult]:
    """Run every family side by side in the threads of the pool, but for those `known` already.

    Scans side by side that share sums begin with different families, by `begin_with`: none then
    waits for what another is making.
    """
    known = known or {}
    runs = [family for family in planned.families if family.name not in known]
    runs.sort(key=lambda family: -family.work)
    turn = begin_with % max(len(runs), 1)
    runs = runs[turn:] + runs[:turn]
    made = in_threads(
        lambda family: family.run(contrasts, planned.plans[family.name]), runs, contrasts.n_jobs
    )
    results = {family.name: result for family, result in zip(runs, made, strict=True)}
    results.update(known)
    return {family.name: results[family.name] for family in planned.families}
