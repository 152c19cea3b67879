"""Per-variable tests with a correction for their number."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.stats import ks_2samp

from tellapart.arguments import check_choice
from tellapart.arrays import FloatArray, IntArray
from tellapart.baselines.base import (
    FittedBaseline,
    Generators,
    Permuting,
    SelectingBaseline,
    null_under,
)
from tellapart.budget import current_budget
from tellapart.data.samples import Samples, map_columns
from tellapart.errors import warn_caller
from tellapart.kernels import Linear
from tellapart.kernels.base import ScalarKernel
from tellapart.permutation.draws import count_permutations
from tellapart.permutation.forms import (
    TIE,
    ColumnStatistic,
    RowGroups,
    by_rows,
    mmd_statistic,
    permute_samples,
    permuted_statistics,
    standardise,
)
from tellapart.permutation.pvalues import PermutationNull, attainable_pvalue, holm
from tellapart.results.result import Method
from tellapart.selection.selection import Selection
from tellapart.selection.settings import check_varying, constant_columns


def ks_tests(samples: Samples, columns: IntArray, n_jobs: int) -> tuple[FloatArray, FloatArray]:
    """Return the Kolmogorov–Smirnov distance of each column, and its p-value.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.arange(6.0)[:, None], np.arange(6.0)[:, None] + 10
    >>> distance, pvalue = ks_tests(Samples(x, y, ("u",), ("numeric",)), np.array([0]), 1)
    >>> float(distance[0]), round(float(pvalue[0]), 6)
    (1.0, 0.002165)
    """
    how: Literal["exact", "asymp"]
    # Beyond, the exact law takes long to count and the limit is as good.
    few = samples.n_x * samples.n_y <= current_budget().exact_distance_pairs
    how = "exact" if few else "asymp"

    def of_column(s: int, x: FloatArray, y: FloatArray) -> tuple[float, float]:  # noqa: ARG001
        result = ks_2samp(x, y, method=how)
        return float(result.statistic), float(result.pvalue)

    pairs = map_columns(of_column, samples, columns, n_jobs)
    distances, pvalues = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return distances, np.clip(pvalues, 0.0, 1.0)


def ks_statistic(column: int, values: FloatArray, weights: FloatArray) -> FloatArray:  # noqa: ARG001
    """Return max_v |F_x(v) − F_y(v)| of one column for each row of weights."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    # Between tied values neither distribution function has arrived yet.
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    steps = weights[:, order]
    np.cumsum(steps, axis=1, out=steps)
    return np.asarray(np.abs(steps[:, ends]).max(axis=1))


def total_variation(column: int, values: FloatArray, weights: FloatArray) -> FloatArray:  # noqa: ARG001
    """Return max_A |P_x(A) − P_y(A)| = ½ Σ_v |p_x(v) − p_y(v)| for each row of weights.

    The Kolmogorov–Smirnov distance of values without an order: A is any set of them and not only
    those up to some value. With two values both are the same.
    """
    order = np.argsort(values, kind="stable")
    _, starts = np.unique(values[order], return_index=True)
    differences = np.add.reduceat(weights[:, order], starts, axis=1)
    return np.asarray(np.abs(differences).sum(axis=1) / 2)


def distance_statistic(unordered: IntArray) -> ColumnStatistic:
    """Return the distance of one column under weights, by whether its values have an order."""
    columns = frozenset(unordered.tolist())

    def distance_of(column: int, values: FloatArray, weights: FloatArray) -> FloatArray:
        distance = total_variation if column in columns else ks_statistic
        return distance(column, values, weights)

    return by_rows(distance_of)


def unordered_columns(samples: Samples) -> IntArray:
    """Return the columns of three or more categories: their codes have no order."""
    levels = [len(samples.categories.get(name, ())) for name in samples.names]
    return np.flatnonzero(np.array(levels) > 2)


def own_pvalues(standardised: FloatArray) -> FloatArray:
    """Return #{T_i ≥ T}/count of each column, the true labels counted: its unadjusted p-value."""
    return np.asarray((standardised + TIE >= standardised[0]).mean(axis=0))


def bonferroni(pvalues: FloatArray) -> FloatArray:
    """Return min(1, D p_s).

    >>> bonferroni(np.array([0.01, 0.04, 0.5])).tolist()
    [0.03, 0.12, 1.0]
    """
    return np.asarray(np.minimum(pvalues * pvalues.shape[0], 1.0))


def max_t(standardised: FloatArray) -> FloatArray:
    """Return the step-down max-T adjusted p-values of Westfall and Young.

    With the variables in order of their observed statistics, the j-th is compared with the
    largest statistic of the j-th and all later ones under each permutation.
    """
    order = np.argsort(-standardised[0], kind="stable")
    ordered = standardised[:, order]
    largest = np.maximum.accumulate(ordered[:, ::-1], axis=1)[:, ::-1]
    counts = (largest + TIE >= ordered[0]).mean(axis=0)
    adjusted = np.empty(order.shape[0])
    adjusted[order] = np.maximum.accumulate(counts)
    return adjusted


STATISTICS = ("ks", "mmd")
CORRECTIONS = ("holm", "bonferroni", "max-t")
# Permutations that a test raises itself to at most, where a correction needs more than were
# requested.
MOST_PERMUTATIONS = 100_000
# Statistics of permutations kept at a time: 32 MB.
TABLE_ENTRIES = 4_000_000
_TITLES = {"ks": "Kolmogorov–Smirnov", "mmd": "MMD"}
_METHODS = {"holm": "Holm", "bonferroni": "Bonferroni", "max-t": "max-T"}


@dataclass(frozen=True)
class VariableTests:
    """The test of every variable of two samples.

    Statistics of all variables under one shared set of permutations form a matrix T, one row per
    permutation, the true labels first. A variable's own p-value compares the entries of its column;
    the max-T method of Westfall and Young compares the largest entries of the rows, which keeps the
    dependence between variables and needs no more permutations for more variables.

    Attributes
    ----------
    columns : int array
        The columns that vary: only they are tested and counted.
    statistics : array of shape (|columns|,)
        Kolmogorov–Smirnov distances, or MMD²_u.
    pvalues, adjusted : arrays of shape (|columns|,)
        Each variable's own p-value, and the one corrected for the number of variables.
    null : PermutationNull
        The global test: its p-value is the smallest adjusted one.
    """

    columns: IntArray
    statistics: FloatArray
    pvalues: FloatArray
    adjusted: FloatArray
    null: PermutationNull


@dataclass(frozen=True)
class Bonferroni(SelectingBaseline):
    """Each variable is tested by itself, and the p-values are corrected for their number.

    The samples differ if any corrected p-value is at most α, and those variables are chosen. A
    difference that no single variable shows, such as a correlation, is never found.

    Parameters
    ----------
    n_variables : int or None
        Choose that many, those of the smallest p-values; None chooses the rejected ones, which
        may be none at all.
    statistic : {"ks", "mmd"}
        The Kolmogorov–Smirnov distance with SciPy's p-value (exact up to 10⁶ pairs of rows), or
        MMD²_u under a Gaussian kernel with permutations. Three or more categories have no order:
        "ks" takes their total variation distance, ½ Σ_v |p_x(v) − p_y(v)|, with permutations,
        whose p-values hold in finite samples, however rare a category is. So do all columns where
        there is a design: the distribution of the distance is known for independent rows only.
    correction : {"holm", "bonferroni", "max-t"}
        Holm's and Bonferroni's make p-values at least D times the smallest a permutation can
        give, D/(N_p + 1): where those could never reach α, N_p is raised to 2D/α, up to
        100,000, with a warning.
        "max-t" (Westfall and Young) takes the null distribution of the largest standardised
        statistic from permutations shared by all variables: N_p need not grow with D.
    use : {"all", "held-out"}
        Rows of the p-values. Nothing is learned, so by default all rows are used.
        "held-out" tests the rows that `two_sample_test` tests with the same seed, and chooses
        the variables by the other ones.
    test_size, n_permutations, alpha, random_state, n_jobs
        See `Baseline`; `test_size` counts with `use="held-out"` only.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(60, 4)), rng.normal(size=(80, 4)) + [0, 0, 2, 0]
    >>> result = Bonferroni().test(X, Y)
    >>> result.reject, result.variables
    (True, ('x2',))
    """

    statistic: str = "ks"
    correction: str = "holm"
    use: str = "all"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_choice("statistic", self.statistic, STATISTICS)
        check_choice("correction", self.correction, CORRECTIONS)
        super().__post_init__()

    @property
    def method(self) -> Method:
        """What results say about this test."""
        correction = _METHODS[self.correction]
        title = _TITLES[self.statistic]
        if self.correction == "max-t":
            statistic = f"largest standardised {title} statistic"
        else:
            statistic = "−log₁₀ of the smallest adjusted p-value"
        return Method(
            name=f"{title} tests per variable ({correction})",
            statistic=statistic,
            validity="each variable's p-value holds and they are corrected for their number",
            call=self.call(),
        )

    def learn(self, train: Samples, rng: np.random.Generator) -> FittedBonferroni:
        """Freeze the bandwidths, and choose variables by the training rows."""
        return self._tested(train, rng)[0]

    def fit_and_test(
        self, train: Samples, held_out: Samples, rngs: Generators
    ) -> tuple[FittedBaseline, PermutationNull]:
        """Test every variable; where all rows serve, one set of p-values answers and chooses."""
        if train is not held_out:
            return super().fit_and_test(train, held_out, rngs)
        started = time.perf_counter()
        fitted, tests = self._tested(train, rngs.permute)
        return fitted.timed(started), tests.null

    def warn_of_few_rows(self, held_out: Samples) -> None:
        """Warn where no p-value could reach the level; permuted tests do so themselves."""
        if self.correction == "max-t":
            super().warn_of_few_rows(held_out)
        elif (
            self.statistic == "ks"
            and held_out.design is None
            and unordered_columns(held_out).size == 0
        ):
            # The largest distance, 1, is that of two permutations only.
            count = count_permutations(held_out.n_x, held_out.n_y, 10**9)
            least = 0.0 if count is None else 2 * held_out.n_columns / count
            if least > self.alpha:
                _warn_of_reach("p-value", held_out.n_columns, least, self.alpha)

    def _tested(
        self, train: Samples, rng: np.random.Generator
    ) -> tuple[FittedBonferroni, VariableTests]:
        """Return the tests with bandwidths and choice of these rows, and what they found there."""
        scalars: tuple[ScalarKernel, ...] = ()
        if self.statistic == "mmd":
            scalars = Linear().fit(train, n_jobs=self.n_threads).scalar_kernels
        fitted = FittedBonferroni(selection=None, settings=self, scalars=scalars)
        tests = fitted.tests(train, self.permuting(rng))
        return replace(fitted, selection=self._chosen(train, tests)), tests

    def _chosen(self, samples: Samples, tests: VariableTests) -> Selection:
        if self.n_variables is None:
            chosen = np.flatnonzero(tests.adjusted <= self.alpha)
        else:
            # Ties of p-values go to the larger statistic.
            order = np.lexsort((-tests.statistics, tests.pvalues))
            chosen = order[: self.n_variables]
        z = np.zeros(samples.n_columns)
        z[tests.columns[chosen]] = tests.statistics[chosen]
        constant = np.ones(samples.n_columns, dtype=np.bool_)
        constant[tests.columns] = False
        return self.selection(
            samples,
            tests.columns[chosen],
            z,
            float(tests.statistics.max()),
            constant=constant,
        )


@dataclass(frozen=True, kw_only=True)
class FittedBonferroni(FittedBaseline):
    """The tests of all variables with bandwidths frozen."""

    settings: Bonferroni
    scalars: tuple[ScalarKernel, ...]

    def test(self, held_out: Samples, how: Permuting) -> PermutationNull:
        """Test all variables of the held-out rows, chosen or not."""
        return self.tests(held_out, how).null

    def tests(self, samples: Samples, how: Permuting) -> VariableTests:
        """Return the statistic and the p-values of every variable that varies."""
        settings = self.settings
        columns = check_varying(samples, constant_columns(samples), warn=False)
        if settings.correction == "max-t":
            bins = permute_samples(samples, how.n_permutations, how.rng)
            table = self._table(samples, columns, bins)
            statistics, table = table[0].copy(), standardise(table)
            null = null_under(bins, table.max(axis=1), TIE, how.alpha)
            return VariableTests(columns, statistics, own_pvalues(table), max_t(table), null)
        statistics, pvalues = np.empty(columns.size), np.empty(columns.size)
        permuted, size = np.ones(columns.size, dtype=np.bool_), 1
        # The distribution of the distance is known for independent rows only.
        if settings.statistic == "ks" and samples.design is None:
            permuted = np.isin(columns, unordered_columns(samples))
            distances = ks_tests(samples, columns[~permuted], settings.n_threads)
            statistics[~permuted], pvalues[~permuted] = distances
        if permuted.any():
            n_permutations = _enough(samples, columns.size, how.n_permutations, how.alpha)
            bins = permute_samples(samples, n_permutations, how.rng)
            size = bins.rows_per_bin
            # A variable's own p-value needs its own column only: a few of them at a time.
            positions = np.flatnonzero(permuted)
            step = max(TABLE_ENTRIES // bins.count, 1)
            for start in range(0, positions.size, step):
                block = positions[start : start + step]
                table = self._table(samples, columns[block], bins)
                statistics[block], pvalues[block] = table[0], own_pvalues(standardise(table))
        adjusted = (
            bonferroni(pvalues) if settings.correction == "bonferroni" else holm(pvalues.tolist())
        )
        null = _null_of_pvalue(float(adjusted.min()), how.alpha, size)
        return VariableTests(columns, statistics, pvalues, adjusted, null)

    def _table(self, samples: Samples, columns: IntArray, bins: RowGroups) -> FloatArray:
        """Return the statistic of each column under each permutation."""
        statistic = (
            distance_statistic(unordered_columns(samples))
            if self.settings.statistic == "ks"
            else mmd_statistic(self.scalars)
        )
        return permuted_statistics(samples, columns, bins, statistic, self.settings.n_threads)


def _enough(samples: Samples, n_columns: int, n_permutations: int, alpha: float) -> int:
    """Return a number of permutations with which a corrected p-value can reach the level."""
    n_labels = n_permutations
    if n_columns / (n_permutations + 1) > alpha:
        # Twice the least number: with that itself, one permutation above the observed is too many.
        n_labels = math.ceil(2 * n_columns / alpha) - 1
        n_labels = n_labels if n_labels <= MOST_PERMUTATIONS else n_permutations
    least = n_columns * attainable_pvalue(samples, n_labels)
    if least > alpha:
        _warn_of_reach("p-value of permutations", n_columns, least, alpha)
    elif n_labels > n_permutations:
        warn_caller(
            f"n_permutations raised from {n_permutations} to {n_labels}, so that p-values "
            f"corrected for {n_columns} variables can reach alpha = {alpha:g}; "
            "correction='max-t' needs no more for more variables"
        )
    return n_labels


def _warn_of_reach(what: str, n_columns: int, least: float, alpha: float) -> None:
    warn_caller(
        f"no {what} corrected for {n_columns} variables can fall below {min(least, 1.0):.3g}, "
        f"so alpha = {alpha:g} is never reached: use more rows, or correction='max-t'"
    )


def _null_of_pvalue(pvalue: float, alpha: float, rows_per_bin: int) -> PermutationNull:
    """Return a test that has a p-value but no permuted statistics to show."""
    smallest = float(np.finfo(np.float64).tiny)
    return PermutationNull(
        statistic=-math.log10(max(pvalue, smallest)),
        null_distribution=np.zeros(0),
        pvalue=pvalue,
        # p ≤ α exactly when the statistic is above this.
        threshold=float(np.nextafter(-math.log10(alpha), -math.inf)),
        exact=False,
        n_permutations=0,
        rows_per_bin=rows_per_bin,
    )
