"""A test without a split: the variables are chosen on all rows, and again under every relabelling.

For the linear kernel without a price of variance the best choice is known in closed form,

    S_d = max {aᵀz : ‖z‖₂ = 1, ‖z‖₀ ≤ d} = (sum of the d largest a_s²)^½,

with a_s the MMD² of column s. Under H₀ the pooled rows are exchangeable and the bandwidths do not
depend on the labels, so S_d of the true labels is one of the values of S_d under random labels:
its rank is a p-value that holds in finite samples, though the same rows chose and tested.

With the number of variables left open, T = max_d (S_d − mean)/deviation over a path of numbers,
mean and deviation over the relabellings: symmetric in them, so T is exchangeable as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.column_relabelling import TIE, mmd_statistic, relabelled, standardise
from tellapart.kernels.base import FittedKernel
from tellapart.permutation import PermutationNull, draw_relabellings, null_of
from tellapart.progress import Report
from tellapart.samples import FloatArray, IntArray, Samples
from tellapart.selection import varying_columns
from tellapart.tuning import SizeScore, size_path

# Statistics of columns at a time, 128 MB.
TABLE_ENTRIES = 16_000_000
# Two values of S_d closer than this are a tie: the kernel is at most 1.
TIE_TOLERANCE = 1e-11
ONE_DEVIATION = 1.0


@dataclass(frozen=True)
class Reselected:
    """The null distribution of the best choice, and how many variables the best choice has.

    Attributes
    ----------
    null : PermutationNull
        Of S_d, or of T where the number was left open.
    n_variables : int
        The number asked for, or the smallest one whose score lies within 1 of the best.
    sizes : tuple of SizeScore
        (S_d − mean)/deviation of each number tried; empty where one was asked for.
    """

    null: PermutationNull
    n_variables: int
    sizes: tuple[SizeScore, ...] = ()


def reselection_test(
    samples: Samples,
    kernel: FittedKernel,
    n_variables: int | None,
    *,
    n_permutations: int,
    alpha: float,
    rng: np.random.Generator,
    n_jobs: int = 1,
    report: Report = lambda *_: None,
) -> Reselected:
    """Test the best `n_variables` variables against the best ones of every relabelling.

    Parameters
    ----------
    samples : Samples
        All rows.
    kernel : FittedKernel
        The linear kernel, its bandwidths fitted on the pooled rows of `samples`.
    n_variables : int or None
        d; None tries 1, 2, 3, 4, 5, 7, 10, … up to 50.
    n_permutations : int
        Relabellings; all are enumerated where there are no more than that.
    alpha : float
        The level, for the critical value only.
    rng : numpy Generator
        Draws the relabellings.
    n_jobs : int
        Threads over columns.
    report : callable
        Told how far the work is.
    """
    keep = varying_columns(samples, kernel)
    path = size_path(keep.size) if n_variables is None else [min(n_variables, keep.size)]
    best = best_values(samples, kernel, keep, path, n_permutations, rng, n_jobs, report)
    if n_variables is not None:
        tolerance = TIE_TOLERANCE * math.sqrt(n_variables)
        null = null_of(best.values[:, 0], tolerance, alpha, exact=best.exact)
        return Reselected(null, n_variables)
    standardised = standardise(best.values)
    null = null_of(standardised.max(axis=1), TIE, alpha, exact=best.exact)
    scores = standardised[0]
    sizes = tuple(SizeScore(d, (float(score),)) for d, score in zip(path, scores, strict=True))
    # One standard deviation is noise: the fewest variables that are as good as the best number.
    enough = int(np.argmax(scores >= scores.max() - ONE_DEVIATION))
    return Reselected(null, path[enough], sizes)


@dataclass(frozen=True)
class BestValues:
    """S_d of each relabelling (row, the true labels first) and number of variables (column)."""

    values: FloatArray
    exact: bool


def best_values(
    samples: Samples,
    kernel: FittedKernel,
    columns: IntArray,
    path: Sequence[int],
    n_permutations: int,
    rng: np.random.Generator,
    n_jobs: int,
    report: Report,
) -> BestValues:
    """Return S_d for every relabelling and every d of an increasing path.

    Columns come in blocks; of each relabelling only the largest a_s² so far are held.
    """
    labels = draw_relabellings(samples.n_x, samples.n_y, n_permutations, rng)
    count = labels.bits.shape[0]
    statistic = mmd_statistic(kernel.scalars)
    largest = np.zeros((count, 0))
    step = max(TABLE_ENTRIES // count, 1)
    for start in range(0, columns.size, step):
        report("test", f"column {start + 1:,} of {columns.size:,}, {count - 1:,} relabellings")
        block = columns[start : start + step]
        squares = relabelled(samples, block, labels, statistic, n_jobs) ** 2
        largest = _largest(np.concatenate([largest, squares], axis=1), path[-1])
    sums = np.cumsum(largest, axis=1)
    return BestValues(np.sqrt(sums[:, np.asarray(path) - 1]), labels.exact)


def _largest(values: FloatArray, count: int) -> FloatArray:
    """Return the largest entries of each row, in falling order.

    >>> _largest(np.array([[1.0, 5.0, 3.0]]), 2).tolist()
    [[5.0, 3.0]]
    """
    if values.shape[1] > count:
        values = np.partition(values, values.shape[1] - count, axis=1)[:, -count:]
    return np.asarray(np.sort(values, axis=1)[:, ::-1])
