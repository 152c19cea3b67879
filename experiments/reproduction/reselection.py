"""The test without a split that the scan replaced, for reproduction only.

The variables are chosen on all rows, and again under every permutation.

For the linear kernel at λ = 0 the best choice is known in closed form,

    S_d = max {aᵀz : z ≥ 0, ‖z‖₂ = 1, ‖z‖₀ ≤ d} = (sum of the d largest a_s² with a_s > 0)^½,

with a_s the MMD² of column s, or the largest a_s where none is positive. A negative a_s speaks of
samples more alike than chance would have them, which is no difference: hence z ≥ 0. Under H₀ the
pooled rows are exchangeable and the bandwidths do not depend on the labels, so S_d of the true
labels is one of the values of S_d under random labels: its rank is a p-value that holds in finite
samples, though the same rows chose and tested.

With the number of variables left open, T = max_d (S_d − mean)/deviation over a path of numbers,
mean and deviation those of all *other* permutations. Every permutation is treated alike, so T is
exchangeable as well; and leaving a value out of its own scale keeps a strong difference from
hiding itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.baselines import FittedBaseline, SelectingBaseline
from tellapart.baselines.base import Permuting
from tellapart.data.samples import Samples
from tellapart.kernels import Linear
from tellapart.kernels.base import FittedKernel
from tellapart.permutation.forms import TIE, mmd_statistic, permute_rows, permuted_statistics
from tellapart.permutation.pvalues import PermutationNull, null_of
from tellapart.progress import Progress, silent
from tellapart.results.result import Method
from tellapart.selection.choose import choose_nonnegative
from tellapart.selection.settings import check_varying
from tellapart.selection.tuning import NumberScore, number_path

# Statistics of columns at a time, 128 MB, and columns: progress is told after each block.
TABLE_ENTRIES = 16_000_000
BLOCK_COLUMNS = 512
# Two values of S_d closer than this are a tie: the kernel is at most 1.
TIE_TOLERANCE = 1e-11
# Deviations below this share of the largest value are rounding.
ROUNDING = 1e-13
# The share of the best score that is nearly the best.
NEARLY = 0.95


@dataclass(frozen=True)
class Reselected:
    """The null distribution of the best choice, and how many variables the best choice has.

    Attributes
    ----------
    null : PermutationNull
        Of S_d, or of T where the number was left open.
    n_variables : int
        The number asked for, or the smallest one whose score is nearly the best.
    numbers : tuple of NumberScore
        (S_d − mean)/deviation of each number tried, the one score of each; empty where one was
        asked for.
    """

    null: PermutationNull
    n_variables: int
    numbers: tuple[NumberScore, ...] = ()


def reselection_test(
    samples: Samples,
    kernel: FittedKernel,
    n_variables: int | None,
    *,
    n_permutations: int,
    alpha: float,
    rng: np.random.Generator,
    n_jobs: int = 1,
    progress: Progress = silent,
) -> Reselected:
    """Test the best `n_variables` variables against the best ones of every permutation.

    Parameters
    ----------
    samples : Samples
        All rows.
    kernel : FittedKernel
        The linear kernel, its bandwidths fitted on the pooled rows of `samples`.
    n_variables : int or None
        d; None tries 1, 2, 3, 4, 5, 7, 10, … up to 50.
    n_permutations : int
        Permutations; all are enumerated where there are no more than that.
    alpha : float
        The level, for the critical value only.
    rng : numpy Generator
        Draws the permutations.
    n_jobs : int
        Threads over columns.
    progress : callable
        Told how far the work is.
    """
    keep = check_varying(samples, kernel.constant, warn=False)  # the selection that follows does
    path = number_path(keep.size) if n_variables is None else [min(n_variables, keep.size)]
    best = best_values(samples, kernel, keep, path, n_permutations, rng, n_jobs, progress)
    if n_variables is not None:
        tolerance = TIE_TOLERANCE * math.sqrt(n_variables)
        null = null_of(best.values[:, 0], tolerance, alpha, exact=best.exact)
        return Reselected(null, n_variables)
    scores = against_others(best.values)
    tolerance = TIE * max(1.0, float(np.abs(scores).max()))
    null = null_of(scores.max(axis=1), tolerance, alpha, exact=best.exact)
    mine = scores[0]
    numbers = tuple(NumberScore(d, (float(score),)) for d, score in zip(path, mine, strict=True))
    # A few variables that carry nearly all of the difference tell more than many that carry it all.
    enough = int(np.argmax(mine >= mine.max() - (1 - NEARLY) * abs(mine.max())))
    return Reselected(null, path[enough], numbers)


def against_others(values: FloatArray) -> FloatArray:
    """Return each entry less the mean of the others in its column, in their standard deviations.

    >>> against_others(np.array([[4.0], [1.0], [3.0]])).ravel().round(3).tolist()
    [2.0, -5.0, 0.333]
    """
    count = values.shape[0]
    centred: FloatArray = values - values.mean(axis=0)
    squares = np.square(centred)
    total = squares.sum(axis=0)
    mean = -centred / (count - 1)
    variance = (total - squares) / (count - 1) - np.square(mean)
    # What makes up most of a sum cannot be taken from it without loss: the others are summed again.
    for row, column in np.argwhere(squares > total / 2):
        variance[row, column] = np.var(np.delete(centred[:, column], row))
    flat = variance <= np.square(ROUNDING * np.abs(values).max(axis=0))
    scores = (centred - mean) / np.sqrt(np.where(flat, 1.0, variance))
    return np.asarray(np.where(flat, 0.0, scores))


@dataclass(frozen=True)
class BestValues:
    """S_d of each permutation (row, the true labels first) and number of variables (column)."""

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
    progress: Progress,
) -> BestValues:
    """Return S_d for every permutation and every d of an increasing path.

    Columns come in blocks; of each permutation only the largest a_s so far are held.
    """
    bins = permute_rows(samples.n_x, samples.n_y, n_permutations, rng)
    count = bins.count
    statistic = mmd_statistic(kernel.scalar_kernels)
    largest = np.zeros((count, 0))
    step = max(min(TABLE_ENTRIES // count, BLOCK_COLUMNS), 1)
    for start in range(0, columns.size, step):
        progress("test", f"column {start + 1:,} of {columns.size:,}, {count - 1:,} permutations")
        block = columns[start : start + step]
        table = permuted_statistics(samples, block, bins, statistic, n_jobs)
        largest = _largest(np.concatenate([largest, table], axis=1), path[-1])
    sums = np.cumsum(np.square(np.maximum(largest, 0.0)), axis=1)
    lengths = np.sqrt(sums[:, np.asarray(path) - 1])
    top = largest[:, :1]
    return BestValues(np.where(top > 0, lengths, top), bins.exact)


def _largest(values: FloatArray, count: int) -> FloatArray:
    """Return the largest entries of each row, in falling order.

    >>> _largest(np.array([[1.0, 5.0, 3.0]]), 2).tolist()
    [[5.0, 3.0]]
    """
    if values.shape[1] > count:
        values = np.partition(values, values.shape[1] - count, axis=1)[:, -count:]
    return np.asarray(np.sort(values, axis=1)[:, ::-1])


@dataclass(frozen=True, kw_only=True)
class FittedReselection(FittedBaseline):
    """The best few variables of whatever rows come: bandwidths and choice are theirs alone.

    `selection` holds the choice of the training rows, to be shown; no test uses it.
    """

    n_variables: int

    def test(self, held_out: Samples, how: Permuting) -> PermutationNull:
        """Choose on these rows, and again under every permutation of them."""
        kernel = Linear().fit(held_out, n_jobs=1)
        return reselection_test(held_out, kernel, self.n_variables, **vars(how)).null


@dataclass(frozen=True)
class Reselection(SelectingBaseline):
    """T = max {aᵀz : z ≥ 0, ‖z‖₂ = 1, ‖z‖₀ ≤ d}, reselected under every permutation.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 4)) + [0, 3, 0, 0]
    >>> Reselection(n_variables=1, random_state=0).test(X, Y).variables
    ('x1',)
    """

    has_own_rule = False
    use = "all"

    @property
    def method(self) -> Method:
        """The description of this test in results."""
        return Method(
            name="linear kernel, reselected",
            statistic="largest MMD²",
            validity="the variables were reselected under every permutation",
            call=self.call(),
        )

    def learn(self, train: Samples, rng: np.random.Generator) -> FittedReselection:  # noqa: ARG002
        """Note the best variables of these rows."""
        d = self.at_most(train.n_columns)
        kernel = Linear().fit(train, n_jobs=self.n_threads)
        chosen = choose_nonnegative(train, kernel, d, self.n_threads)
        return FittedReselection(selection=chosen, kernel=None, n_variables=d)
