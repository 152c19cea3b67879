"""A verdict that does not depend on the seed: further permutations while it is open.

The combination of all families ranks every permutation against every other, so that further
permutations change the statistic itself. They come in batches of one size, the observed labels in
the first: families are run on a batch at a time, and what they compute may depend on all labels of
the batch. The statistics of the batches are then combined at the looks of
`tellapart.permutation.looks`, which shows why the p-value stays valid in finite samples. No rows
are read again: the sums over bins are there, except for columns in blocks, which are summed again.

Only the p-value uses further permutations. The p-values of families and the names of columns, pairs
and triples are those of the first batch, each valid by itself; findings are reported only where the
p-value is at most alpha, and their adjusted p-values are at least as large as it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.budget import current_budget
from tellapart.permutation.looks import Looks
from tellapart.permutation.pvalues import PermutationNull, null_of
from tellapart.progress import Progress, silent
from tellapart.scan.blocks import ColumnsInBlocks
from tellapart.scan.family import Planned, run_families
from tellapart.scan.features import N_DERIVED, SINGLES
from tellapart.scan.pool import Pool
from tellapart.scan.tails import COMBINATION_TIE as TIE
from tellapart.scan.tails import combine, family_score

Statistics = Mapping[str, FloatArray]
"""What the families computed of one batch, (permutations × statistics) each."""


@dataclass(frozen=True, eq=False)
class Further:
    """Further permutations of the labels of a pool, and the looks at them.

    Attributes
    ----------
    looks : Looks
        How many permutations to look at, and where the verdict is settled.
    rng : numpy Generator
        Draws them.
    """

    looks: Looks
    rng: np.random.Generator

    def null(
        self,
        first: Statistics,
        combined: FloatArray,
        pool: Pool,
        planned: Planned,
        alpha: float,
        progress: Progress = silent,
        blocks: ColumnsInBlocks | None = None,
    ) -> PermutationNull:
        """Return the null distribution of the look that settles the verdict.

        Parameters
        ----------
        first, combined : mapping and array
            The statistics of the first batch, and their combination.
        pool, planned, blocks : Pool, Planned and ColumnsInBlocks
            What families run on.
        alpha : float
            The level.
        """

        def values(batches: Sequence[Statistics]) -> FloatArray:
            joined = {name: np.concatenate([one[name] for one in batches]) for name in first}
            scores = {name: family_score(statistics) for name, statistics in joined.items()}
            return combine(scores, planned.weights).values

        def further(number: int) -> list[Statistics] | None:
            drawn = [pool.labels.further(self.looks.batch, self.rng) for _ in range(number)]
            labels = [some for some in drawn if some is not None]
            if len(labels) < number:
                return None
            count = self.looks.batch * number
            progress("scan", f"the verdict is open: {count:,} further permutations")
            known = [None] * number if blocks is None else blocks.further(pool, labels, progress)
            batches: list[Statistics] = []
            for some, of_columns in zip(labels, known, strict=True):
                results = run_families(planned, pool.under(some), of_columns)
                batches.append({name: result.statistics for name, result in results.items()})
            return batches

        settled = self.looks.follow(first, values, further, TIE, combined)
        return null_of(settled, TIE, alpha, exact=pool.labels.exact)


def affordable_permutations(pool: Pool, blocks: ColumnsInBlocks | None = None) -> int:
    """Return how many permutations there may be in all, by the work of each, without labels."""
    budget = current_budget()
    n_columns = pool.tables.size if blocks is None else blocks.parts.builder.samples.n_columns
    n_features = pool.requests.n_features + (len(SINGLES) + N_DERIVED) * n_columns
    further = budget.further_products // max(pool.labels.n_bins * n_features, 1)
    return int(min(budget.most_permutations, pool.count - 1 + further))
