"""More permutations where their number alone stands between a p-value and its level."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tellapart.errors import warn_caller
from tellapart.permutation.mmd import permutation_test
from tellapart.testing.result import TestResult

MOST_PERMUTATIONS = 99_999
LABEL_BYTES = 500_000_000


def refine_pvalue(result: TestResult, level: float, rng: np.random.Generator) -> TestResult:
    """Draw more permutations where only their number keeps the p-value above the level.

    The first N₁ permutations gave p₁; if none reached the statistic, the answer becomes p₂ from
    N₂ > N₁ new ones. P(p ≤ t) ≤ P(p₂ ≤ t) ≤ t for t < 1/(N₁ + 1), and for greater t
    P(p ≤ t) ≤ P(p₁ ≤ t) ≤ t, since p₂ is used only where p₁ is at its least.
    """
    count = result.null_distribution.size
    if result.exact or result.pvalue <= level or result.pvalue > 1 / (count + 1):
        return result
    needed = math.ceil(1 / level)  # 1/(needed + 1) is below the level, whatever the rounding
    n_held_out = sum(result.n_test)
    most = min(MOST_PERMUTATIONS, 8 * LABEL_BYTES // n_held_out)
    if needed > most:
        warn_caller(
            f"the alarm level {level:.3g} of this check needs {needed} permutations, more than "
            f"the {most} that are drawn at most, so there can be no alarm however clear the "
            "difference: plan n_checks, or start again with a fresh reference",
        )
    if min(needed, most) <= count:
        return result
    assert result.kernel is not None
    null = permutation_test(
        result.held_out,
        result.kernel,
        result.selection.z,
        n_permutations=min(needed, most),
        alpha=result.alpha,
        rng=rng,
    )
    return replace(
        result,
        pvalue=null.pvalue,
        statistic=null.statistic,
        threshold=null.threshold,
        null_distribution=null.null_distribution,
        exact=null.exact,
    )
