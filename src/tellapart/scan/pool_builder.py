"""How pools are made: tables and scores of pooled rows, what families plan by them, and the sums.

Two looks at the rows: the first, at some rows drawn from both samples alike, makes the tables and
the plans; the second, at all rows, adds up what the plans need over the bins of the labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.permutation.labels import Bins
from tellapart.progress import Progress, silent
from tellapart.scan.family import Family, Planned, ScanState, plan_families
from tellapart.scan.features import Requests
from tellapart.scan.pool import Pool
from tellapart.scan.row_forms import points_per_bin
from tellapart.scan.scores import Scores, score_rows
from tellapart.scan.sums import sum_bins
from tellapart.scan.tables import (
    PLANNING_SCORES,
    PooledSample,
    Tables,
    tables_of,
    tables_of_columns,
)


@dataclass(frozen=True, eq=False)
class PoolBuilder:
    """Makes pools of the columns of two samples, of all or of some of them.

    Attributes
    ----------
    samples : Samples
        All rows.
    labels : Bins
        The bins, and their labels under every permutation.
    pooled : PooledSample
        Rows drawn from both samples alike.
    n_jobs : int
        Threads.
    effort : float
        The share of the usual work that pairs, triples and more may take.
    """

    samples: Samples
    labels: Bins
    pooled: PooledSample
    n_jobs: int = 1
    effort: float = 1.0

    def tables(self, columns: IntArray | None = None) -> Tables:
        """Return the tables of all columns, or of some, by their places among all."""
        if columns is None:
            return tables_of(self.samples, self.pooled, self.n_jobs)
        return tables_of_columns(self.samples, self.pooled, columns, self.n_jobs)

    def refuse_constant(self, n_varying: int) -> None:
        """Raise where no column varies."""
        if n_varying == 0:
            raise InputError(
                f"X and Y must have a column that varies; all {self.samples.n_columns} are constant"
            )

    def state(
        self,
        tables: Tables,
        rows: FloatArray,
        rng: np.random.Generator,
        scores: tuple[str, ...] = PLANNING_SCORES,
        **known: Any,
    ) -> ScanState:
        """Return what families plan by: some scores of pooled rows, and what else is `known`."""
        return ScanState.of(
            self.samples.names,
            self.samples.kinds,
            tables,
            rows,
            score_rows(tables, rows, self.n_jobs, scores),
            self.labels,
            rng,
            current_budget(),
            effort=self.effort,
            n_jobs=self.n_jobs,
            pattern=self.samples.pattern,
            as_read=self.samples.whole.pooled,
            **known,
        )

    def planned_pool(
        self,
        families: Sequence[Family],
        state: ScanState,
        progress: Progress = silent,
        width: int | None = None,
    ) -> tuple[Pool, Planned]:
        """Return the sums that families plan to look at, and their plans."""
        planned = plan_families(families, state)
        kept = points_per_bin(self.labels)
        requests = Requests.of(planned.features(), kept, self.samples.pattern)
        return self.pool(state.tables, state.scores, requests, progress, width), planned

    def pool(
        self,
        tables: Tables,
        scores: Scores,
        requests: Requests,
        progress: Progress = silent,
        width: int | None = None,
    ) -> Pool:
        """Return the sums over all bins of what is requested; `width` columns are read at once."""
        sums = sum_bins(self.samples, tables, self.labels, requests, self.n_jobs, progress, width)
        return Pool(tables, scores, self.labels, requests, sums, self.n_jobs)
