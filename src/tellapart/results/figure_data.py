"""What a page or figure shows of a result beyond its answer: computed here, drawn in `report`.

Everything goes by count and never by the clock, so a page does not depend on the machine's load.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from tellapart.arguments import check_choice, check_integer
from tellapart.arrays import BoolArray, FloatArray
from tellapart.errors import InputError
from tellapart.results.columns import (
    ColumnSummary,
    DensityMap,
    Marginal,
    Moments,
    PairView,
    compute_map,
    compute_marginal,
    compute_pair,
    compute_triple,
    summarise_column,
)
from tellapart.results.columns_table import (
    CATEGORICAL,
    PSEUDOCOUNT,
    ColumnsTable,
    check_fold_change,
)
from tellapart.results.embedding import Embedding, compute_embedding
from tellapart.results.gathered import Gathered
from tellapart.selection.stability import (
    FEWEST_ROWS,
    MOST_ROWS,
    Stability,
    measure_stability,
    plan_resamples,
)

if TYPE_CHECKING:
    from tellapart.results.result import TestResult

PANELS = ("weights", "null", "marginal", "pair", "stability", "embedding", "love")
ADJUSTED_PANELS = ("propensity",)
"""Panels of comparisons that are adjusted for covariates."""
SCAN_PANELS = ("findings", "families", "columns", "volcano")
MOST_LABELLED = 12
"""Columns that a volcano plot names."""
MOST_LOVED = 60
"""Columns of a love plot."""
MOST_SUMMARIES = 200
MOST_MARGINALS = 50
MOST_PAIRS = 12
MOST_VIEWS_WITHOUT_FINDINGS = 20
MOST_VIEWS = 5
MOST_POINTS = 800
MOST_MAPS = 6
MOST_EMBEDDED = 200
"""Variables beyond which two dimensions show nothing."""


@dataclass(frozen=True, eq=False)
class PageData:
    """All that a page shows of a result and that takes computing.

    Attributes
    ----------
    summaries : tuple of ColumnSummary
        The selected variables in numbers, the largest weight first; 200 at most.
    marginals : tuple of Marginal
        The distributions of columns with findings, then of the selected ones; 50 at most.
    described : tuple of ColumnSummary
        The columns of `marginals` in numbers.
    pairs : tuple of Scatter or Crosstab
        The pairs a scan names, and the triples as two pairs each; 12 at most.
    maps : tuple of DensityMap
        Where joint distributions of one or two columns differ; 6 at most.
    embedding : Embedding or None
        Both samples in two dimensions; None without a kernel or with too many variables.
    stability : Stability or None
        Selection frequencies of the variables; None where they were left out or cannot be had.
    table : ColumnsTable
        All columns in numbers.
    gathered : tuple of Gathered
        Findings that repeat one cause.
    limits : str
        What is excluded, where nothing was found; else empty.
    """

    summaries: tuple[ColumnSummary, ...]
    marginals: tuple[Marginal, ...]
    described: tuple[ColumnSummary, ...]
    pairs: tuple[PairView, ...]
    maps: tuple[DensityMap, ...]
    embedding: Embedding | None
    stability: Stability | None
    table: ColumnsTable
    gathered: tuple[Gathered, ...]
    limits: str


@dataclass(frozen=True, eq=False)
class Volcano:
    """Every column by its effect and its unadjusted p-value.

    Attributes
    ----------
    names : tuple of str
        The columns that have both.
    effects, pvalues : arrays
        The effect, first sample against second, and the p-value.
    significant : array of bool
        Whether the column has a finding of its own.
    approximate : array of bool
        Whether the p-value comes from a fitted tail.
    labelled : tuple of int
        The significant columns to name, the smallest p-values first.
    measure : str
        What the effect is.
    """

    names: tuple[str, ...]
    effects: FloatArray
    pvalues: FloatArray
    significant: BoolArray
    approximate: BoolArray
    labelled: tuple[int, ...]
    measure: str


@dataclass(frozen=True, eq=False)
class Love:
    """Columns by the size of their standardised mean differences, the largest first.

    `effects` has the difference and the ends of its interval, (3 × columns); `signed` is False of
    categorical columns; `n_columns` have a difference.
    """

    names: tuple[str, ...]
    effects: FloatArray
    signed: BoolArray
    n_columns: int


def compute_volcano(result: TestResult, log2_fold_change: bool | str = False) -> Volcano:
    """Return every column by effect and p-value: SMDs, or log₂ fold changes."""
    table, tests = result.column_data, result.column_tests
    assert tests is not None
    how = check_fold_change(log2_fold_change)
    effects, measure = table.difference[0], "SMD"
    if how is not None:
        effects, measure = table.log2_fold_changes(how, PSEUDOCOUNT), "log₂ fold change"
    signed = np.array([kind != CATEGORICAL for kind in table.types])
    kept = np.flatnonzero(np.isfinite(effects) & signed)
    order = sorted(kept, key=lambda k: (tests.pvalue[k], -abs(effects[k])))
    named = {f.variables[0] for f in result.findings if len(f.variables) == 1}
    significant = np.array([name in named for name in table.names], dtype=np.bool_)
    place_of = {int(k): place for place, k in enumerate(kept)}
    labelled = [place_of[int(k)] for k in order if significant[k]][:MOST_LABELLED]
    return Volcano(
        tuple(table.names[k] for k in kept),
        effects[kept],
        tests.pvalue[kept],
        significant[kept],
        tests.approximate[kept],
        tuple(labelled),
        measure,
    )


def compute_love(result: TestResult) -> Love:
    """Return the columns with the largest standardised mean differences, 60 at most."""
    table = result.column_data
    sizes = np.abs(table.difference[0])
    known = np.flatnonzero(np.isfinite(sizes))
    order = known[np.argsort(-sizes[known], kind="stable")][:MOST_LOVED]
    return Love(
        tuple(table.names[k] for k in order),
        table.difference[:, order],
        np.array([table.types[k] != CATEGORICAL for k in order], dtype=np.bool_),
        int(known.size),
    )


class FigureData:
    """What figures and pages show of one result: each part computed when first used, and once."""

    def __init__(self, result: TestResult) -> None:
        self._result = result
        self._stabilities: dict[str, Stability] = {}

    @cached_property
    def summaries(self) -> tuple[ColumnSummary, ...]:
        """The selected variables in numbers, the largest weight first."""
        return summarise_heaviest(self._result, MOST_SUMMARIES)

    @cached_property
    def marginals(self) -> tuple[Marginal, ...]:
        """The distributions of the columns named, then of those chosen, the heaviest first."""
        return tuple(compute_marginal(self._result.held_out, s) for s in self._columns)

    @cached_property
    def described(self) -> tuple[ColumnSummary, ...]:
        """The columns of `marginals` in numbers."""
        of_selected = {summary.name: summary for summary in self.summaries}
        names = self._result.held_out.names
        return tuple(
            of_selected.get(names[s]) or _summarise(self._result, s) for s in self._columns
        )

    @cached_property
    def _columns(self) -> list[int]:
        return described_columns(self._result)[:MOST_MARGINALS]

    @cached_property
    def pairs(self) -> tuple[PairView, ...]:
        """The pairs and triples that a scan names, the most significant first."""
        views: list[PairView] = []
        for finding in self._result.findings:
            if len(finding.variables) > 1 and len(views) < MOST_PAIRS:
                views += self._joint(finding.variables)
        return tuple(views[:MOST_PAIRS])

    @cached_property
    def views(self) -> tuple[Marginal | PairView, ...]:
        """What a figure shows of single columns and pairs: those of the first findings, if any.

        Each kind of difference comes once before any comes again.
        """
        result = self._result
        if not result.findings:
            return self.marginals[:MOST_VIEWS_WITHOUT_FINDINGS]
        seen: Counter[str] = Counter()
        turns: list[tuple[int, int]] = []
        for k, finding in enumerate(result.findings):
            turns.append((seen[finding.kind], k))
            seen[finding.kind] += 1
        # A column that was left out for missing values can still be named for what it misses.
        names = set(result.held_out.names)
        in_turn = [result.findings[k].variables for _, k in sorted(turns)]
        views: list[Marginal | PairView] = []
        for variables in dict.fromkeys(filter(names.issuperset, in_turn)):
            room = MOST_VIEWS - len(views)
            # Three columns are two views, which mean little one without the other.
            if room == 0 or (len(variables) == 3 and room < 2):
                continue
            if len(variables) == 1:
                views.append(compute_marginal(result.held_out, self._column(variables[0])))
            else:
                views += self._joint(variables)
        return tuple(views)

    @cached_property
    def maps(self) -> tuple[DensityMap, ...]:
        """Maps of the joint distributions of one or two columns that a scan names."""
        local = [finding for finding in self._result.findings if finding.regions][:MOST_MAPS]
        maps = (
            compute_map(
                self._result.held_out, [self._column(n) for n in one.variables], one.regions
            )
            for one in local
        )
        return tuple(one for one in maps if one is not None)

    def _joint(self, variables: Sequence[str]) -> tuple[PairView, ...]:
        """Return two columns as one view, three as two, and no view of more."""
        if len(variables) > 3:
            return ()
        columns = [self._column(name) for name in variables]
        if len(columns) == 2:
            return (compute_pair(self._result.held_out, *columns),)
        return compute_triple(self._result.held_out, columns)

    def _column(self, name: str) -> int:
        return self._result.held_out.names.index(name)

    @cached_property
    def embedding(self) -> Embedding | None:
        """Both samples in two dimensions, as a page shows them."""
        result = self._result
        if result.kernel is None or not 0 < result.selection.support.size <= MOST_EMBEDDED:
            return None
        return compute_embedding(result, n_points=MOST_POINTS)

    def stability(
        self,
        n_resamples: int,
        *,
        most_rows: int = MOST_ROWS,
        time_limit: float | None = None,
        random_state: int | np.random.Generator | None = 0,
        **running: Any,
    ) -> Stability:
        """Return how often each variable is selected again; see `TestResult.stability`."""
        result = self._result
        if result.train is None or result.kernel is None or result.tuning is None:
            raise InputError(
                "stability needs the training rows and the kernel, which this result does not hold"
            )
        key = repr((n_resamples, most_rows, time_limit, random_state))
        if isinstance(random_state, int) and key in self._stabilities:
            return self._stabilities[key]
        stability = measure_stability(
            result.train,
            result.kernel,
            result.selection.support,
            n_variables=result.tuning.n_variables,
            regularization=result.regularization,
            nonnegative=result.selection.nonnegative,
            objective=result.selection.objective,
            n_resamples=n_resamples,
            most_rows=most_rows,
            time_limit=time_limit,
            random_state=random_state,
            **running,
        )
        if isinstance(random_state, int):
            self._stabilities[key] = stability
        return stability

    def page_data(self, stability: bool | int) -> PageData:
        """Return all that a page shows; see `TestResult.to_html` for `stability`."""
        n_resamples, most_rows = _plan(self._result, stability)
        measured = None
        if n_resamples:
            try:
                measured = self.stability(n_resamples, most_rows=most_rows)
            except InputError:
                # Resamples that nobody asked for are left out where a design has too few units
                # for two halves.
                if stability is not True or self._result.held_out.design is None:
                    raise
        return PageData(
            self.summaries,
            self.marginals,
            self.described,
            self.pairs,
            self.maps,
            self.embedding,
            measured,
            self._result.column_data,
            self._result.gathered,
            self._result.excluded,
        )

    def panel(
        self,
        what: str,
        *,
        variable: str | None = None,
        variables: tuple[str, str] | None = None,
        method: str = "pca",
        n_resamples: int = 50,
        log2_fold_change: bool | str = False,
    ) -> Embedding | Stability | Marginal | PairView | Volcano | Love | None:
        """Return what one panel shows beside the result itself; see `TestResult.plot`."""
        check_choice("what", what, (*PANELS, *SCAN_PANELS, *ADJUSTED_PANELS))
        result, names = self._result, self._result.selection.names
        if variable is not None and variable not in names:
            raise InputError(f"variable must be the name of a column; got {variable!r}")
        design = result.held_out.design
        if what in ADJUSTED_PANELS and (design is None or design.adjustment is None):
            raise InputError(
                f"what={what!r} shows the model of a comparison with adjust=…; this one has none"
            )
        if what in SCAN_PANELS and result.scan is None:
            raise InputError(f"what={what!r} shows what a scan found; this test made none")
        if what == "embedding":
            return compute_embedding(result, method)
        if what == "stability":
            return self.stability(n_resamples)
        if what == "volcano":
            return compute_volcano(result, log2_fold_change)
        if what == "love":
            return compute_love(result)
        if what == "marginal":
            column = described_columns(result)[0] if variable is None else names.index(variable)
            return compute_marginal(result.held_out, column)
        if what == "pair":
            return compute_pair(result.held_out, *map(self._column, self._two(variables)))
        return None

    def _two(self, given: object) -> tuple[str, ...]:
        """Return two columns: those given, those of the first pair, or the largest weights."""
        names = self._result.held_out.names
        if given is None:
            named = [f.variables for f in self._result.findings if len(f.variables) > 1]
            heaviest = [names[s] for s in described_columns(self._result)]
            # Any columns where too few have findings or weights.
            given = [*named[:1], tuple(dict.fromkeys([*heaviest, *names]))][0][:2]
        if (
            isinstance(given, str)
            or not isinstance(given, Sequence)
            or len(set(given)) != 2
            or len(given) != 2
            or not set(given) <= set(names)
        ):
            raise InputError(f"variables must be the names of two columns; got {given!r}")
        return tuple(given)


def described_columns(result: TestResult) -> list[int]:
    """Return the columns a page shows one by one: those a scan names, then those chosen."""
    column_of = {name: s for s, name in enumerate(result.selection.names)}
    # A column that was left out for missing values can still be named for what it misses.
    single = [f.variables[0] for f in result.findings if len(f.variables) == 1]
    named = [column_of[name] for name in single if name in column_of]
    return list(dict.fromkeys([*named, *_heaviest(result, len(column_of))]))


def summarise_heaviest(result: TestResult, most: int) -> tuple[ColumnSummary, ...]:
    """Return the chosen variables in numbers, the heaviest first."""
    return tuple(_summarise(result, s) for s in _heaviest(result, most))


def _summarise(result: TestResult, column: int) -> ColumnSummary:
    """Return a column in numbers: those of its finding, of all rows, where it has one."""
    name = result.held_out.names[column]
    for finding in [*result.findings, *result.selection.changes.values()]:
        if finding.variables == (name,) and finding.statistics:
            mean, deviation, median = (finding.statistics[key] for key in ("mean", "SD", "median"))
            x, y = (Moments(mean[k], median[k], deviation[k]) for k in (0, 1))
            return ColumnSummary(name, x, y)
    return summarise_column(result.held_out, column)


def _plan(result: TestResult, given: bool | int) -> tuple[int, int]:
    """Return how many resamples a page shows, and the rows of each sample in one at most.

    True is as many as `plan_resamples` plans. Where every variable is selected,
    there is nothing to count.
    """
    if not isinstance(given, bool):
        try:
            return check_integer("stability", given, 0), MOST_ROWS
        except InputError:
            raise InputError(
                f"stability must be True, False or a number of resamples; got {given!r}"
            ) from None
    train, selection = result.train, result.selection
    if not given or train is None or result.kernel is None:
        return 0, MOST_ROWS
    all_chosen = selection.support.size + len(selection.constant) == len(selection.names)
    if min(train.n_units) < FEWEST_ROWS or all_chosen:
        return 0, MOST_ROWS
    return plan_resamples(train, result.kernel, selection.objective)


def _heaviest(result: TestResult, most: int) -> list[int]:
    column_of = {name: s for s, name in enumerate(result.selection.names)}
    return [column_of[name] for name in islice(result.selection.weights, most)]
