"""More permutations where only their number keeps a p-value above its level.

The first N₁ permutations gave p₁; if none reached the statistic, N₂ > N₁ new ones give p₂, and the
answer is p = min(p₁, p₂), or p₂ itself where the statistic stays the same. For t < 1/(N₁ + 1) only
p₂ can be so small: P(p ≤ t) ≤ P(p₂ ≤ t) ≤ t. For greater t, P(p ≤ t) ≤ P(p₁ ≤ t) ≤ t, since p₂ is
computed only where p₁ is at its smallest.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tellapart.budget import current_budget
from tellapart.data.samples import Samples
from tellapart.errors import warn_caller
from tellapart.permutation.draws import binned_sizes, rows_per_bin
from tellapart.permutation.mmd import permutation_test
from tellapart.permutation.pvalues import PermutationNull
from tellapart.results.result import TestResult
from tellapart.scan.family import BYTES_PER_COLUMN
from tellapart.scan.scan import BYTES_PER_BIN, scan


def refine_pvalue(
    result: TestResult,
    level: float,
    rng: np.random.Generator,
    *,
    n_jobs: int = 1,
    decides: bool = True,
) -> TestResult:
    """Draw more permutations where only their number keeps the p-value above the level.

    `decides` says whether only a p-value at the level raises an alarm. Where larger ones count too,
    as they do for bets, no warning is given if so many permutations cannot be drawn.

    A scan is run again as a whole. Its findings remain those of the first run, whose adjusted
    p-values are valid as they are.
    """
    count = result.null_distribution.size
    if result.exact or result.pvalue <= level or result.pvalue > 1 / (count + 1):
        return result
    needed = math.ceil(1 / level)  # 1/(needed + 1) is below the level, whatever the rounding
    most = _most_permutations(result)
    if needed > most and decides:
        warn_caller(
            f"the alarm level {level:.3g} of this check needs {needed} permutations, more than "
            f"the {most} that are drawn at most, so there can be no alarm however large the "
            "difference: plan n_checks, or start again with a new reference",
        )
    if min(needed, most) <= count:
        return result
    null = _null(result, min(needed, most), rng, n_jobs)
    # With more permutations a scan can afford fewer pairs and triples, and may see less.
    if result.scan is not None and null.pvalue > result.pvalue:
        return result
    return replace(
        result,
        pvalue=null.pvalue,
        statistic=null.statistic,
        threshold=null.threshold,
        null_distribution=null.null_distribution,
        exact=null.exact,
        rows_per_bin=null.rows_per_bin if result.scan is None else result.rows_per_bin,
        note=null.note,
        scan=None if result.scan is None else replace(result.scan, null=null),
    )


def _null(
    result: TestResult, n_permutations: int, rng: np.random.Generator, n_jobs: int
) -> PermutationNull:
    """Repeat the test with new permutations."""
    if result.scan is not None:
        again = scan(
            result.held_out,
            n_permutations=n_permutations,
            alpha=result.alpha,
            rng=rng,
            n_jobs=n_jobs,
        )
        return again.null
    assert result.kernel is not None
    return permutation_test(
        result.held_out,
        result.kernel,
        result.selection.z,
        n_permutations=n_permutations,
        alpha=result.alpha,
        rng=rng,
        n_jobs=n_jobs,
    )


def _most_permutations(result: TestResult) -> int:
    budget = current_budget()
    if result.scan is None:
        bins_x, bins_y, _ = binned_sizes(*result.n_test)
        most = 8 * budget.refined_label_bytes // (bins_x + bins_y)
    else:
        most = budget.refined_scan_bytes // _bytes_per_permutation(result.held_out) - 1
    return min(budget.refined_permutations, most)


def _bytes_per_permutation(samples: Samples) -> int:
    """Return what the statistics of one permutation of a scan take at most."""
    bins = (samples.n_x + samples.n_y) // rows_per_bin(samples.n_x, samples.n_y)
    return BYTES_PER_COLUMN * samples.n_columns + BYTES_PER_BIN * bins
