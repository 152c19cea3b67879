"""The permutation test of any statistic of the labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.permutation.designed_groups import permute_samples
from tellapart.permutation.nulls import PermutationNull, null_of

LABEL_ENTRIES = 2_000_000
"""Labels that a statistic is given at a time: 16 MB."""


@dataclass(frozen=True)
class Permuting:
    """How many permutations to draw, from which generator, and the level of the critical value."""

    n_permutations: int
    alpha: float
    rng: np.random.Generator


def permutation_null(
    held_out: Samples,
    statistic: Callable[[FloatArray], FloatArray],
    how: Permuting,
    *,
    tolerance: float,
) -> PermutationNull:
    """Test a statistic of the labels against all, or many random, permutations of the rows.

    Where both samples are large, bins of rows are permuted, and with a design what it says moves
    together; the labels are those of the rows.

    Parameters
    ----------
    held_out : Samples
        Its rows are pooled, those of X first.
    statistic : callable
        From labels of shape (k, m + n), 1 for X and 0 for Y, to the k statistics; large values
        speak for a difference. With clusters the number of ones may change from row to row.
    how : Permuting
        The permutations.
    tolerance : float
        Statistics closer than this are a tie.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.data.samples import Samples
    >>> x, y = np.arange(8.0)[:, None] + 9, np.arange(8.0)[:, None]
    >>> pooled = np.concatenate([x, y])[:, 0]
    >>> null = permutation_null(
    ...     Samples(x, y, ("u",), ("numeric",)),
    ...     lambda labels: labels @ pooled,
    ...     Permuting(n_permutations=999, alpha=0.05, rng=np.random.default_rng(0)),
    ...     tolerance=1e-9,
    ... )
    >>> null.statistic, null.pvalue
    (100.0, 0.001)
    """
    bins = permute_samples(held_out, how.n_permutations, how.rng)
    entries = LABEL_ENTRIES * bins.n_groups // (held_out.n_x + held_out.n_y)
    parts = [statistic(bins.of_rows(labels)) for _, labels in bins.blocks(entries)]
    return null_of(
        np.concatenate(parts),
        tolerance,
        how.alpha,
        exact=bins.exact,
        rows_per_bin=bins.rows_per_bin,
    )


def permuted_means(
    held_out: Samples, scores: FloatArray, how: Permuting, *, tolerance: float
) -> PermutationNull:
    """Test mean_x − mean_y of a score per pooled row: sums over bins are all it needs.

    Under a design the scores are centred within its blocks.
    """
    bins = permute_samples(held_out, how.n_permutations, how.rng)
    sums = bins.sums(scores)
    return null_of(
        np.concatenate([bins.weights(labels) @ sums for _, labels in bins.blocks()]),
        tolerance,
        how.alpha,
        exact=bins.exact,
        rows_per_bin=bins.rows_per_bin,
    )
