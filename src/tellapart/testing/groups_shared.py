"""One comparison of many whose rows are the same: a scan by what all of them share.

A comparison of a group with all other rows is a `two_sample_test` but for this: its permutations
are orders of the rows that all comparisons share, its rows are permuted one by one, and pairs,
triples and the like are chosen once for all comparisons.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import IntArray
from tellapart.data.column_store import PickedRows
from tellapart.data.grouping import UNLABELLED, GroupedTable
from tellapart.data.samples import Samples
from tellapart.data.shared_rows import SharedRows
from tellapart.errors import InputError
from tellapart.evidence.known_scores import KnownScores, OtherColumns
from tellapart.evidence.pooled_ranks import PooledRanks
from tellapart.interrupts import heeding_interrupts
from tellapart.permutation.labels import count_permutations
from tellapart.progress import showing
from tellapart.scan.scan import Scan, scan_pool
from tellapart.scan.shared_pool import SharedPart, SharedPool
from tellapart.selection.changes import Named, with_changes
from tellapart.selection.pipeline import weigh_evidence
from tellapart.testing.groups_plan import Pair
from tellapart.testing.result import TestResult
from tellapart.testing.runs import Found, seeds_of
from tellapart.testing.settings import TestSettings
from tellapart.threads import one_blas_thread

FEWEST_COLUMNS = 100
"""In narrower tables a comparison is the `two_sample_test` with its seed, number for number."""
MOST_ROWS = 4_000
"""Of more rows bins are permuted, which no two comparisons share."""
BETWEEN_FAMILIES = 3
"""How far apart the families are that one comparison and the next begin with."""


@dataclass(frozen=True)
class SharedScan:
    """What the comparisons share, and where the labelled rows stand in the table."""

    pool: SharedPool
    grouped: GroupedTable
    whole: Samples
    shared: SharedRows
    labelled: IntArray
    ranks: PooledRanks
    effort: float

    def fits(self, pair: Pair, settings: TestSettings) -> bool:
        """Say whether a comparison can use it: not where all of its permutations are few."""
        n_x = self.grouped.sizes[pair.group]
        n_y = sum(self.grouped.sizes) - n_x
        return count_permutations(n_x, n_y, settings.n_permutations) is None

    @heeding_interrupts()
    def run(self, number: int, settings: TestSettings, labels: tuple[str, str]) -> TestResult:
        """Run one comparison, as `tellapart.testing.two_sample.run_test` would."""
        started = time.perf_counter()
        part = self.pool.part(number)
        samples = self._samples(part)
        settings.check_against(samples)
        with showing(settings.progress) as progress, one_blas_thread():
            _, _, solve_seed, _ = map(int, seeds_of(settings))
            progress("scan", f"{samples.n_columns:,} columns")
            found = scan_pool(
                samples,
                part.pool,
                part.plan,
                part.asked,
                alpha=settings.alpha,
                progress=progress,
                begin_with=BETWEEN_FAMILIES * number,
            )
            chosen = weigh_evidence(
                samples,
                settings,
                rng=np.random.default_rng(solve_seed),
                progress=progress,
                n_jobs=1,
                effort=self.effort,
                known=self._known(part, found, samples.n_columns),
            )
            selection = with_changes(
                chosen.selection,
                samples,
                scanned=Named(found.findings, found.variable_pvalues, settings.alpha),
            )
        rows = samples.n_x, samples.n_y
        return Found(
            found.null,
            selection,
            chosen.tuning,
            chosen.kernel,
            samples,
            samples,
            found,
            n_train=(0, 0),
            n_test=rows,
        ).result(settings, labels, time.perf_counter() - started)

    def _samples(self, part: SharedPart) -> Samples:
        """Return the two samples of a comparison, whose rows are picked where they are needed."""
        x, y = (
            PickedRows(self.grouped.values, self.labelled[rows])
            for rows in (part.labels.rows_x, part.labels.rows_y)
        )
        return replace(self.whole, x=x, y=y, shared=self.shared)

    def _known(self, part: SharedPart, found: Scan, n_columns: int) -> KnownScores:
        """Return the scores of all rows, with their z-scores of one comparison."""
        labels, shifts = part.labels, part.pool.shifts
        others, varying = None, part.pool.tables.column
        if shifts is not None and self.pool.wide is not None:
            places = np.flatnonzero(shifts.named)
            others = OtherColumns(self.pool.wide, places, shifts.zscores[places])
            varying = np.append(varying, others.columns)
        assert found.differences is not None
        order = np.concatenate([labels.rows_x, labels.rows_y])
        constant = np.ones(n_columns, dtype=np.bool_)
        constant[varying] = False
        zscores = found.differences.zscores
        return KnownScores(self.pool.scores, order, zscores, constant, others, self.ranks)


def share_scan(
    grouped: GroupedTable,
    pairs: Sequence[Pair],
    whole: Samples,
    shared: SharedRows,
    settings: TestSettings,
    effort: float,
    n_jobs: int,
) -> SharedScan | None:
    """Return what the comparisons share; None where they are few, or narrow, or of many rows."""
    n_rows = whole.n_x + whole.n_y
    usual = settings.method == "scan" and settings.by_evidence
    limited = settings.time_limit is not None or settings.memory_budget is not None
    if not usual or limited or len(pairs) < 2:
        return None
    if whole.n_columns < FEWEST_COLUMNS or n_rows > MOST_ROWS:
        return None
    labelled = np.flatnonzero(grouped.groups != UNLABELLED)
    groups = grouped.groups[labelled]
    assert isinstance(settings.random_state, int)
    try:
        pool = SharedPool(
            whole,
            [np.flatnonzero(groups == pair.group) for pair in pairs],
            settings.n_permutations,
            seed=settings.random_state,
            effort=effort,
            n_jobs=n_jobs,
        )
    except InputError:
        # Rows that allow no test: every comparison says why.
        return None
    ranks = PooledRanks(*pool.in_full, n_jobs)
    return SharedScan(pool, grouped, whole, shared, labelled, ranks, effort)
