"""The scan: one test on all rows that looks at several families of differences at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tellapart.budget import current_budget
from tellapart.data.design_labels import unexplained
from tellapart.data.row_stores import Cut, block_rows
from tellapart.data.samples import Samples
from tellapart.effects.raw_columns import RawColumns
from tellapart.errors import InputError
from tellapart.permutation.design_units import draw_labels
from tellapart.permutation.labels import Bins, count_bins
from tellapart.permutation.looks import Looks
from tellapart.permutation.pvalues import PermutationNull, null_of
from tellapart.progress import Progress, Stage, silent
from tellapart.scan.blocks import ColumnsInBlocks, pool_in_blocks
from tellapart.scan.column_tests import ColumnTests
from tellapart.scan.differences import Differences
from tellapart.scan.error_rates import FAMILYWISE, ErrorRate
from tellapart.scan.families import AskedFamilies, asked_families, registered_families
from tellapart.scan.families.joint import LocalDifference
from tellapart.scan.families.pair import N_PRODUCTS
from tellapart.scan.families.triple import SHARE
from tellapart.scan.family import (
    BYTES_PER_COLUMN,
    Family,
    Planned,
    ScanState,
    affordable_groups,
    columns_for_pairs,
    columns_for_triples,
    columns_held,
    in_blocks,
    run_families,
)
from tellapart.scan.features import N_DERIVED, SINGLES
from tellapart.scan.finding import Finding
from tellapart.scan.findings import ColumnCandidates, find
from tellapart.scan.further import Further, affordable_permutations
from tellapart.scan.pool import Pool
from tellapart.scan.pool_builder import PoolBuilder
from tellapart.scan.scores import ALL_SCORES
from tellapart.scan.smallest_effect import SmallestEffect
from tellapart.scan.tables import PLANNING_SCORES, PooledSample
from tellapart.scan.tails import COMBINATION_TIE as TIE
from tellapart.scan.tails import combine, family_score
from tellapart.threads import one_blas_thread

BYTES_PER_BIN = 8
"""What the labels and statistics of one permutation take for each bin."""


@dataclass(frozen=True, eq=False)
class Scan:
    """What a scan found.

    Attributes
    ----------
    null : PermutationNull
        log C of the observed labels and of the permutations, with p-value and critical value.
    families : mapping from str to float
        The p-value of each family that ran: valid by itself, not adjusted for the others.
    findings : tuple of Finding
        What differs, the most significant of each class first.
    column_tests : ColumnTests
        The unadjusted and adjusted p-value and the q-value of every column.
    skipped, notes : mapping from str to str
        Families that could not run, and those that left something out, with the reason.
    rows_per_bin : int
        Rows that were permuted together; 1 where rows were permuted one by one.
    columns, pairs, triples : tuples
        Places of the columns that were named, and of those of pairs and triples.
    n_variables : int
        Columns of the best choice by the kernel family: as many as carry nearly all.
    differences : Differences or None
        How much every score of every column differs, over all rows.
    local : tuple of LocalDifference
        Sets of columns whose joint distribution differs locally.
    unlisted : mapping from str to int
        How many more pairs and triples are significant than are listed among the findings.
    rate : ErrorRate
        The error rate of findings.
    candidates : ColumnCandidates or None
        Columns that may be reported where several comparisons share one error rate.
    state : ScanState or None
        What was made of the rows without labels, until variables were chosen.
    """

    null: PermutationNull
    families: Mapping[str, float]
    findings: tuple[Finding, ...]
    column_tests: ColumnTests
    skipped: Mapping[str, str]
    notes: Mapping[str, str]
    rows_per_bin: int
    columns: tuple[int, ...] = ()
    pairs: tuple[tuple[int, ...], ...] = ()
    triples: tuple[tuple[int, ...], ...] = ()
    local: tuple[LocalDifference, ...] = ()
    n_variables: int = 1
    differences: Differences | None = field(default=None, repr=False)
    unlisted: Mapping[str, int] = field(default_factory=dict)
    rate: ErrorRate = FAMILYWISE
    candidates: ColumnCandidates | None = field(default=None, repr=False)
    state: ScanState | None = field(default=None, repr=False, compare=False)

    @property
    def variable_pvalues(self) -> dict[str, float]:
        """The adjusted p-value of every column."""
        tests = self.column_tests
        return dict(zip(tests.names, tests.adjusted.tolist(), strict=True))

    @property
    def by_design(self) -> bool:
        """Whether labels were permuted by a design."""
        return self.differences is not None and self.differences.by_design

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain Python values, ready for JSON."""
        return {
            "families": dict(self.families),
            "findings": [finding.to_dict() for finding in self.findings],
            "variable_pvalues": self.variable_pvalues,
            "column_tests": self.column_tests.to_dict(),
            "error_rate": self.rate.to_dict(),
            "skipped": dict(self.skipped),
            "notes": dict(self.notes),
            "unlisted": dict(self.unlisted),
            "rows_per_bin": self.rows_per_bin,
        }

    def labelled(self, labels: tuple[str, str]) -> Scan:
        """Return the scan to keep, with findings that call the samples by these names."""
        named = tuple(replace(finding, labels=labels) for finding in self.findings)
        return replace(self, findings=named, state=None)


def scan(
    samples: Samples,
    *,
    n_permutations: int,
    alpha: float,
    rng: np.random.Generator,
    n_jobs: int = 1,
    progress: Progress = silent,
    effort: float = 1.0,
    keep_state: bool = False,
    families: AskedFamilies | None = None,
    rate: ErrorRate = FAMILYWISE,
    keep_candidates: bool = False,
    settle: bool = False,
    smallest: SmallestEffect | None = None,
) -> Scan:
    """Scan two samples for differences of every kind.

    Parameters
    ----------
    samples : Samples
        All rows.
    n_permutations : int
        Permutations; all are enumerated where there are no more than that.
    alpha : float
        The level, for the critical value and for which findings are named.
    rng : numpy Generator
        Draws bins, permutations and the resamples of the intervals.
    n_jobs : int
        Threads.
    progress : callable
        Told how far the work is.
    effort : float
        The share of the usual work that pairs and triples may take: where not all of them can be
        looked at, they are made of fewer columns.
    keep_state : bool
        Whether the result holds what was made of the rows without labels, for a choice by evidence
        that follows: all their scores, where the pooled rows are all rows.
    families : names, mapping from names to weights, or None
        The families to run, as `tellapart.scan.families.check_families` returns them; None: all.
    rate : ErrorRate
        The error rate of findings.
    keep_candidates : bool
        Whether the result holds the columns that may be reported, for comparisons that share one
        error rate.
    settle : bool
        Whether further permutations are drawn while the verdict is open
        (`tellapart.scan.further`), up to `Budget.most_permutations`.
    smallest : SmallestEffect or None
        The size that effects must exceed to be findings; None for any size.
    """
    # Threads of our own share out what is large: those of BLAS wait for each other on a busy
    # machine, hundreds of times in one scan.
    with one_blas_thread():
        stage = Stage("scan")
        labels, given = draw_labels(samples, n_permutations, rng), samples
        samples = unexplained(samples)
        progress("scan", f"{samples.n_columns:,} columns, {labels.count - 1:,} permutations")
        _check_memory(samples.n_columns, labels)
        blocks, asked = None, asked_families(families)
        if in_blocks(samples.n_columns, labels.count, current_budget()):
            pool, planned, blocks = pool_in_blocks(
                samples, labels, rng, n_jobs, progress, effort, asked
            )
        else:
            pool, planned = make_pool(
                samples, labels, rng, n_jobs, progress, effort, asked, keep_scores=keep_state
            )
        further = None
        if settle and not labels.exact:
            most = affordable_permutations(pool, blocks)
            silent("scan", f"budget: {most:,} permutations at most, {labels.n_bins:,} bins")
            further = Further(Looks.of(n_permutations, most, alpha), rng.spawn(1)[0])
        result = scan_pool(
            given,
            pool,
            planned.weighed(families),
            alpha=alpha,
            progress=progress,
            blocks=blocks,
            rate=rate,
            keep_candidates=keep_candidates,
            further=further,
            smallest=smallest,
        )
        drawn = f"{len(result.null.null_distribution):,} permutations"
        stage.done(f"{samples.described_size}, {drawn}, p = {result.null.pvalue:.3g}")
        return replace(result, state=planned.state) if keep_state else result


def make_pool(
    samples: Samples,
    labels: Bins,
    rng: np.random.Generator,
    n_jobs: int = 1,
    progress: Progress = silent,
    effort: float = 1.0,
    families: Sequence[Family] | None = None,
    *,
    keep_scores: bool = False,
) -> tuple[Pool, Planned]:
    """Return the sums over bins of all that the families ask for: two looks at the rows.

    The first, at some rows drawn from both samples alike, makes the tables and the plan; the
    second, at all rows, adds up.
    """
    builder = PoolBuilder(samples, labels, PooledSample.of(samples), n_jobs, effort)
    pooled, tables = builder.pooled, builder.tables()
    builder.refuse_constant(tables.size)
    rows = pooled.some_rows(tables.size, rng)
    complete = pooled.complete and rows is pooled.values
    scores = ALL_SCORES if keep_scores and complete else PLANNING_SCORES
    state = builder.state(tables, rows, rng, scores, complete=complete)
    asked = registered_families() if families is None else families
    return builder.planned_pool(asked, state, progress)


def scan_pool(
    samples: Samples,
    pool: Pool,
    planned: Planned,
    *,
    alpha: float,
    progress: Progress = silent,
    blocks: ColumnsInBlocks | None = None,
    begin_with: int = 0,
    rate: ErrorRate = FAMILYWISE,
    keep_candidates: bool = False,
    further: Further | None = None,
    smallest: SmallestEffect | None = None,
) -> Scan:
    """Run every family on sums that are there, combine them, and name what differs.

    `blocks` is what is known of all columns, where the sums are those of pairs and triples;
    `begin_with` is the place of the family to begin with; `further` draws further permutations
    while the verdict is open.
    """
    names, labels = samples.names, pool.labels
    _refuse_none(planned)
    progress("scan", f"{len(planned.families)} families: {pool.requests.n_features:,} features")
    results = run_families(planned, pool, None if blocks is None else blocks.results, begin_with)
    combined = combine(
        {name: family_score(result.statistics) for name, result in results.items()},
        planned.weights,
    )
    if further is None:
        null = null_of(combined.values, TIE, alpha, exact=labels.exact)
    else:
        statistics = {name: result.statistics for name, result in results.items()}
        null = further.null(statistics, combined.values, pool, planned, alpha, progress, blocks)
    families = (f"{name} {p:.3g}" for name, p in combined.pvalues.items())
    silent("scan", f"p-values of families: {', '.join(families)}")
    progress("scan", "naming what differs")
    named = find(
        names,
        pool,
        [candidates for result in results.values() for candidates in result.candidates],
        pvalue=null.pvalue,
        alpha=alpha,
        raw=RawColumns(samples),
        column_kinds=planned.column_kinds,
        max_t=None if blocks is None else blocks.max_t,
        rate=rate,
        keep_candidates=keep_candidates,
        smallest=smallest,
    )
    differences = Differences.of(pool.sums, pool.tables, labels, planned.correlations)
    if blocks is not None:
        differences = replace(blocks.differences, correlations=differences.correlations)
    notes = {name: result.note for name, result in results.items() if result.note is not None}
    numbers = (result.n_variables for result in results.values())
    return Scan(
        null=null,
        families=combined.pvalues,
        findings=named.findings,
        column_tests=named.tests,
        skipped=planned.skipped,
        notes={**planned.notes, **notes},
        unlisted=named.unlisted,
        rows_per_bin=labels.rows_per_bin,
        columns=named.columns,
        pairs=named.pairs,
        triples=named.triples,
        local=named.local,
        rate=rate,
        candidates=named.candidates,
        n_variables=next((number for number in numbers if number is not None), 1),
        differences=differences,
    )


def _refuse_none(planned: Planned) -> None:
    """Raise where no family that is asked for can run on these samples."""
    if not planned.families:
        reasons = [f"{name} {reason}" for name, reason in planned.skipped.items()]
        raise InputError(
            "families must have one that can run on these samples; "
            + ("; ".join(reasons) or "what they compare does not occur")
        )


def _check_memory(n_columns: int, labels: Bins) -> None:
    """Raise if the statistics of so many permutations would not fit into memory."""
    budget = current_budget()
    held = columns_held(n_columns, labels.count, budget)
    each, most = BYTES_PER_COLUMN * held + BYTES_PER_BIN * labels.n_bins, budget.scan_bytes
    if labels.count * each > most:
        raise InputError(
            f"n_permutations must be at most {most // each:,} for a scan of "
            f"{n_columns:,} columns (their statistics may take {most / 1e9:g} GB); "
            f"got {labels.count - 1:,}"
        )


COEFFICIENTS = (0.17, 7.3e-8, 8.6e-11, 0.0, 5.5e-11, 2.8e-7)
"""c₀ … c₅, in seconds of one thread."""
BYTES_PER_VALUE = 8
BYTES_PER_SECOND = 1e9
"""What a network carries, where nobody knows better."""
# What a block of rows takes, in values of single precision for each value of the block.
SCORES_PER_VALUE = 12
KEPT_BYTES = 200_000_000
"""What is kept of columns in blocks: the strongest of them, and what a few blocks take."""
DRAWN_ROWS = 65_536
CELLS = 4_097


@dataclass(frozen=True)
class ScanCost:
    """The size of a scan, and what it is expected to take: seconds, bytes read, held and sent.

    With N rows, P score columns, G bins and B permutations, P₂ columns in pairs, P₄ in pairs of
    other dependence and P₃ in triples, the seconds of one thread are

        c₀ + c₁·N·P + c₂·N·(P₂² + 4 P₄²) + c₃·N·P₃³ + c₄·B·G·(45 P + products) + c₅·K·P,

    K the rows that the tables are made from. The coefficients were fitted to measured runs, which
    told triples from pairs no better than this: `python benchmarks/bench_cost.py` compares
    prediction and measurement.

    Attributes
    ----------
    n_x, n_y, n_columns, n_permutations : int
        The size.
    """

    n_x: int
    n_y: int
    n_columns: int
    n_permutations: int = 999

    @property
    def n_rows(self) -> int:
        """Rows of both samples."""
        return self.n_x + self.n_y

    @property
    def n_bins(self) -> int:
        """Bins of both samples."""
        x, y, _ = count_bins(self.n_x, self.n_y, self.n_columns)
        return x + y

    def terms(self) -> tuple[float, ...]:
        """Return what the coefficients multiply."""
        rows, columns = self.n_rows, self.n_columns
        pairs, shaped, triples = self._columns()
        count = self.n_permutations + 1
        return (
            1.0,
            float(rows * columns),
            float(rows * (pairs**2 + 4 * shaped**2)),
            float(rows * triples**3),
            float(count * self.n_bins * (45 * columns + self.n_products)),
            float(min(rows, DRAWN_ROWS) * columns),
        )

    def seconds(self, threads: int = 1) -> float:
        """Return the expected time, all but the start shared by the threads."""
        parts = [c * t for c, t in zip(COEFFICIENTS, self.terms(), strict=True)]
        return parts[0] + sum(parts[1:]) / max(threads, 1)

    def cluster_seconds(self, workers: int, bytes_per_second: float = BYTES_PER_SECOND) -> float:
        """Return the expected time on workers of one thread each, whose sums are sent and merged.

        What rows cost is shared by the workers, as far as there are lanes; permutations and tables
        are the client's. Every lane's sums are sent once.
        """
        parts = [c * t for c, t in zip(COEFFICIENTS, self.terms(), strict=True)]
        lanes = self.n_lanes
        rows = sum(parts[1:4]) / max(min(workers, lanes), 1)
        return parts[0] + parts[4] + parts[5] + rows + self.bytes_sent / bytes_per_second

    @property
    def n_lanes(self) -> int:
        """Lanes of both samples that can be summed side by side, X before Y."""
        step = block_rows(self.n_columns)
        return max(len(Cut(rows, step).lanes) for rows in (self.n_x, self.n_y))

    @property
    def bytes_sent(self) -> int:
        """Bytes that all lanes of both samples send."""
        step = block_rows(self.n_columns)
        lanes = sum(len(Cut(rows, step).lanes) for rows in (self.n_x, self.n_y))
        return lanes * self.bytes_of_sums // 2

    @property
    def n_products(self) -> int:
        """Products of two and three columns that are summed over every bin."""
        pairs, shaped, triples = self._columns()
        return math.comb(pairs, 2) + N_PRODUCTS * math.comb(shaped, 2) + math.comb(triples, 3)

    @property
    def bytes_of_sums(self) -> int:
        """Bytes of the sums over the bins of both samples."""
        features = (len(SINGLES) + N_DERIVED) * self.n_columns + self.n_products
        return 4 * self.n_bins * features

    @property
    def bytes_read(self) -> int:
        """Bytes of the values, looked at twice where they are not in memory."""
        return 2 * BYTES_PER_VALUE * self.n_rows * self.n_columns

    @property
    def bytes_held(self) -> int:
        """The most that is held beyond the input: sums, a block, drawn rows, statistics."""
        block = min(block_rows(self.n_columns), max(self.n_x, self.n_y)) * self.n_columns
        drawn = min(self.n_rows, DRAWN_ROWS) * self.n_columns
        count, budget = self.n_permutations + 1, current_budget()
        statistics = BYTES_PER_COLUMN * count * columns_held(self.n_columns, count, budget)
        sums = 2 * self.bytes_of_sums + 48 * min(CELLS, self.n_rows) * self.n_columns
        if in_blocks(self.n_columns, count, budget):
            # Of all columns those of a part, and of each part and all pairs one after the other.
            share = min(budget.correlated_columns / self.n_columns, 1.0)
            sums = min(sums, 2 * budget.part_bytes) + int(share * sums) + KEPT_BYTES
        return (
            sums
            + (BYTES_PER_VALUE + 4 * SCORES_PER_VALUE) * block
            + 2 * BYTES_PER_VALUE * drawn
            + statistics
        )

    def _columns(self) -> tuple[int, int, int]:
        """Return how many columns make pairs, pairs of other dependence, and triples."""
        most = affordable_groups(self.n_permutations + 1, self.n_bins, current_budget())
        columns = self.n_columns
        return (
            min(columns, columns_for_pairs(most)),
            min(columns, columns_for_pairs(most // N_PRODUCTS)),
            min(columns, columns_for_triples(most // SHARE)),
        )
