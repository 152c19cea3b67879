"""λ and the number of variables, both chosen inside the training half.

The test half is never seen here, so whatever is chosen, the p-value stays valid; a poor choice
costs power only. That is why the sparse trust region problems are solved to heuristic quality
here, by thresholding: the certificate belongs to the final selection.

One split of a small training half says little, and a λ chosen by its noise costs power. So every
score is taken on the same few random splits, and scores within one standard error of the best
count as equal; the standard error is that of the difference, split by split. With the linear
kernel, D = 100, d = 20 and 50 + 50 training rows, the power with λ chosen by one split / five
splits / fixed at 0.1 is .87/.97/.99 in the paper's case I, .71/.81/.84 in case II, .90/.97/.98 in
case III and .98/1/1 in case IV (benchmarks/bench_tuning.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.row_order import MOST_ENTRIES, MOST_SORTED, by_content
from tellapart.data.samples import Samples
from tellapart.kernels import FittedKernel, Kernel
from tellapart.kernels.bandwidth import multipliers_to_try, with_multiplier
from tellapart.kernels.base import Abilities
from tellapart.permutation.draws import rows_per_bin
from tellapart.progress import Progress
from tellapart.selection.folds import (
    MOST_ROWS,
    BinnedRows,
    Split,
    make_folds,
    rescaled,
    split_bins,
    split_in_halves,
)
from tellapart.selection.selection import Selection
from tellapart.statistics.coefficients import LinearCoefficients, linear_coefficients
from tellapart.strs.contract import Control

# Scores of what tuning tries, split by split, and which of them is the best.


MOST_VARIABLES = 50
ROUNDING = 1e-9
"""Scores closer than this share of the largest are equal."""


@dataclass
class Deadline:
    """When tuning ends, and whether anything was given up for that."""

    control: Control
    passed: bool = False

    @property
    def over(self) -> bool:
        """Whether time is over; the caller then skips what comes next."""
        self.passed = self.passed or self.control.out_of_time
        return self.passed


@dataclass(frozen=True)
class NumberScore:
    """The held-out ratios √ñ·MMD²/σ̂ of one number of variables, one per split."""

    n_variables: int
    ratios: tuple[float, ...]


@dataclass(frozen=True)
class RegularizationScore:
    """The held-out p-values and ratios √ñ·MMD²/σ̂ of one λ (and bandwidth), one per split."""

    regularization: float
    pvalues: tuple[float, ...]
    ratios: tuple[float, ...]
    multiplier: float = 1.0


def score_numbers(
    folds: Sequence[Split],
    progress: Progress,
    regularization: float = 0.0,
    deadline: Deadline | None = None,
) -> tuple[NumberScore, ...]:
    """Score each number of variables on the path by its held-out ratio √ñ·MMD²/σ̂.

    When time is over, the splits that are done decide; nothing is returned where none is.
    """
    path = number_path(min(fold.keep.size for fold in folds))
    rows = []
    for number, fold in enumerate(folds, 1):
        progress("tune", f"number of variables, split {number} of {len(folds)}")
        candidates = _in_time(((d, regularization) for d in path), fold, deadline)
        if candidates is None:
            break
        rows.append(fold.ratios(candidates))
    if not rows:
        return ()
    return tuple(NumberScore(d, tuple(ratios)) for d, *ratios in zip(path, *rows, strict=True))


def smallest_good_number(scores: Sequence[NumberScore]) -> int:
    """Return the smallest number whose mean ratio is within one standard error of the best.

    Examples
    --------
    >>> ratios = {1: (2.0, 2.1), 2: (3.0, 2.8), 3: (2.9, 3.0)}
    >>> scores = [NumberScore(number, values) for number, values in ratios.items()]
    >>> smallest_good_number(scores)
    2
    """
    good = as_good_as_the_best([score.ratios for score in scores])
    return min(int(scores[i].n_variables) for i in good)


def score_regularizations(
    families: Mapping[float, Sequence[Split]],
    n_variables: int,
    grid: Sequence[float],
    seeds: Sequence[int],
    progress: Progress,
    deadline: Deadline | None = None,
) -> tuple[RegularizationScore, ...]:
    """Score each λ by its validation p-value and, for ties, its validation ratio.

    `families` are the same splits with the kernel's bandwidth times different multipliers; each
    split has one seed of permutations. When time is over, the splits that are done decide about
    the first multiplier, and others whose splits are not all done are left out.
    """
    scores: list[RegularizationScore] = []
    for multiplier, folds in families.items():
        pvalues, ratios = [], []
        for number, (fold, seed) in enumerate(zip(folds, seeds, strict=False), 1):
            bandwidth = f", bandwidth × {multiplier:g}" if len(families) > 1 else ""
            progress(
                "tune", f"λ for {n_variables} variables{bandwidth}, split {number} of {len(folds)}"
            )
            candidates = _in_time(((n_variables, value) for value in grid), fold, deadline)
            if candidates is None:
                break
            pvalues.append([fold.pvalue(z, seed) for z in candidates])
            ratios.append(fold.ratios(candidates))
        if not pvalues or (scores and len(pvalues) < len(scores[0].pvalues)):
            break
        columns = zip(grid, zip(*pvalues, strict=True), zip(*ratios, strict=True), strict=True)
        scores += [RegularizationScore(value, p, r, multiplier) for value, p, r in columns]
    return tuple(scores)


def _in_time(
    settings: Iterable[tuple[int, float]], fold: Split, deadline: Deadline | None
) -> list[FloatArray] | None:
    """Return the weights of each number of variables and λ; None if time is over before."""
    weights = []
    for n_variables, regularization in settings:
        if deadline is not None and deadline.over:
            return None
        weights.append(fold.weights(n_variables, regularization))
    return weights


def best_regularization(scores: Sequence[RegularizationScore]) -> RegularizationScore:
    """Return the λ of the least p-value; of ties the greatest ratio, of those the least λ.

    Examples
    --------
    >>> low = RegularizationScore(0.1, (0.005,), (3.0,))
    >>> scores = [low, RegularizationScore(1.0, (0.005,), (4.0,))]
    >>> best_regularization(scores).regularization
    1.0
    """
    tied = _least_pvalues(scores)
    good = as_good_as_the_best([score.ratios for score in tied])
    return tied[min(good.tolist(), key=lambda i: tied[i].regularization)]


def best_ratio(scores: Sequence[RegularizationScore]) -> RegularizationScore:
    """Return the λ and bandwidth of the least p-value, and of ties of the greatest mean ratio.

    Of ratios that are equal but for rounding, the first.
    """
    tied = _least_pvalues(scores)
    means = np.array([np.mean(score.ratios) for score in tied])
    return tied[int(np.argmax(means >= means.max() - ROUNDING * np.abs(means).max()))]


def _least_pvalues(scores: Sequence[RegularizationScore]) -> list[RegularizationScore]:
    return [scores[i] for i in as_good_as_the_best([[-p for p in s.pvalues] for s in scores])]


def as_good_as_the_best(scores: Sequence[Sequence[float]]) -> IntArray:
    """Return which candidates (rows) have a mean within one standard error of the best mean.

    The standard error is that of the difference from the best over the splits (columns).
    The splits overlap, so it is a yardstick and not a confidence statement.
    """
    table = np.asarray(scores, dtype=np.float64)
    short = table[table.mean(axis=1).argmax()] - table
    # Several λ often give one choice: which of them is best must not be left to rounding.
    short[np.abs(short) <= ROUNDING * np.abs(table).max()] = 0.0
    count = table.shape[1]
    spread = short.std(axis=1, ddof=1) if count > 1 else np.zeros(len(table))
    # Where one split differs and the others agree, mean and error are the same number.
    return np.flatnonzero(short.mean(axis=1) <= (1 + ROUNDING) * spread / math.sqrt(count))


def number_path(most: int) -> list[int]:
    """Return the numbers of variables to try: 1, 2, 3, 4, 5, 7, 10, 14, … up to `most` or 50.

    Examples
    --------
    >>> number_path(12)
    [1, 2, 3, 4, 5, 7, 10, 12]
    """
    last = min(most, MOST_VARIABLES)
    path = [1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 39, 50]
    return [*(d for d in path if d < last), last]


# What tuning and the final choice both need of the training rows, each made once.


@dataclass(frozen=True)
class Prepared:
    """A kernel fitted on the training rows by its multiplier, and the linear one's coefficients.

    Attributes
    ----------
    samples : Samples
        The training rows.
    kernel : Kernel
        The settings; its bandwidths are the rule times a multiplier.
    n_jobs : int
        Threads.
    """

    samples: Samples
    kernel: Kernel
    n_jobs: int
    _fitted: dict[float, FittedKernel] = field(default_factory=dict)
    _coefficients: dict[float, LinearCoefficients] = field(default_factory=dict)

    def fitted(self, multiplier: float) -> FittedKernel:
        """Return the kernel fitted on all the rows."""
        if multiplier not in self._fitted:
            kernel = with_multiplier(self.kernel, multiplier)
            self._fitted[multiplier] = kernel.fit(self.samples, n_jobs=self.n_jobs)
        return self._fitted[multiplier]

    def coefficients(self, multiplier: float) -> LinearCoefficients:
        """Return a and V of the columns that vary, of a kernel with fast sums."""
        if multiplier not in self._coefficients:
            fitted = self.fitted(multiplier)
            keep = np.flatnonzero(~fitted.constant)
            self._coefficients[multiplier] = linear_coefficients(
                self.samples.columns(keep), fitted.columns(keep), n_jobs=self.n_jobs
            )
        return self._coefficients[multiplier]

    def known(self, multiplier: float) -> LinearCoefficients | None:
        """Return the coefficients if they were computed before."""
        return self._coefficients.get(multiplier)


DEFAULT_REGULARIZATION = 0.1
DEFAULT_VARIABLES = 5


@dataclass(frozen=True)
class Tuning:
    """The chosen number of variables, λ and bandwidth, with the scores they were chosen by.

    The scores are empty for what the caller fixed, or where there were too few rows to tune.
    The bandwidth is that of the kernel's rule times `multiplier`. `drawn_rows` are the rows of each
    sample that it was tuned on, where there are more, and `stopped` says whether time was over
    before all splits were scored: what was left to score is decided by fewer of them, or is the
    default.
    """

    n_variables: int
    regularization: float
    numbers: tuple[NumberScore, ...] = ()
    regularizations: tuple[RegularizationScore, ...] = ()
    multiplier: float = 1.0
    drawn_rows: tuple[int, int] | None = None
    stopped: bool = False

    @property
    def scored(self) -> bool:
        """Whether anything was chosen by scores."""
        return bool(self.numbers or self.regularizations)


@dataclass(frozen=True)
class Chosen:
    """What was tuned, the kernel fitted with it, and the selection made with both."""

    tuning: Tuning
    kernel: FittedKernel
    selection: Selection


@dataclass(frozen=True)
class Plan:
    """How to tune a kernel.

    Attributes
    ----------
    grid : tuple of float
        The λ to try.
    n_splits : int
        Splits of the training half.
    most_rows : int or None
        Rows of a sample in either part of a split at most.
    number_first : bool
        Whether the number of variables is chosen before λ, at λ = 0.
    best : callable
        From the scores of λ to the one to take.
    """

    grid: tuple[float, ...]
    n_splits: int
    most_rows: int | None
    number_first: bool
    best: Callable[[Sequence[RegularizationScore]], RegularizationScore]

    @classmethod
    def of(cls, abilities: Abilities, n_rows: int, binned: bool = False) -> Plan:
        """Return the plan that the form of a kernel and the rows of the smaller sample call for.

        From few rows V is hardly known, and a large λ follows its noise. So many that they stand
        in bins are tuned on a coarser grid.
        """
        if abilities.closed_form and binned:
            return cls(COARSE_GRID, N_SPLITS, None, True, best_regularization)
        if abilities.closed_form:
            most = max(DEFAULT_REGULARIZATION, n_rows / ROWS_FOR_ONE)
            grid = tuple(value for value in GRID if value <= most)
            return cls(grid, N_SPLITS, None, True, best_regularization)
        return cls(COARSE_GRID, N_SEARCH_SPLITS, MOST_ROWS, False, best_ratio)


GRID = (0.0, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0)
# Rows of the smaller sample that λ = 1 takes; twice as many for λ = 2, and so on.
ROWS_FOR_ONE = 50
N_SPLITS = 5
# For kernels without a closed form, which take longer and whose weights change less with λ, and
# for many rows, whose power is flat between these values.
COARSE_GRID = (0.0, 0.1, 1.0, 5.0)
MIDDLE_REGULARIZATION = 1.0
N_SEARCH_SPLITS = 3
SEARCH_VARIABLES = 20


def tune(
    prepared: Prepared,
    *,
    n_variables: int | None,
    regularization: float | None,
    rng: np.random.Generator,
    progress: Progress,
    nonnegative: bool = False,
    control: Control | None = None,
) -> Tuning:
    """Choose what is None: the number of variables, λ, or both; and the bandwidth if left open.

    With the linear kernel the number of variables comes first, at λ = 0, where the best weights of
    every number are known in closed form and false discoveries are about as few as at any λ; then
    λ at that number. So tuning both costs one grid, not its product with a path.

    With the other kernels the best weights at λ = 0 lie on very few variables, whatever the number
    allowed: the bandwidth comes first, at λ = 1, then λ, for up to 20 variables, then their number.

    With fewer than 8 rows of a sample there is nothing to split again: λ = 0.1, the median
    bandwidth and min(D, 5) variables.

    Parameters
    ----------
    prepared : Prepared
        The training half and the kernel: fitted afresh on the first part of every split, and frozen
        for the other; where rows are many, fitted once on all of them.
    n_variables : int or None
        The number of variables, or None to choose it.
    regularization : float or None
        λ, or None to choose it.
    rng : numpy Generator
        Splits and permutations.
    progress : callable
        Called with the progress of the work.
    nonnegative : bool
        Whether weights must be at least 0.
    control : Control or None
        Says when time is over: tuning ends between two candidates, with what it has.

    Returns
    -------
    Tuning
        Both numbers and their scores.
    """
    samples, kernel = prepared.samples, prepared.kernel
    deadline = Deadline(Control() if control is None else control)
    multipliers = multipliers_to_try(kernel)
    first = multipliers[0] if len(multipliers) == 1 else 1.0
    default = min(samples.n_columns, DEFAULT_VARIABLES)
    start = Tuning(
        default if n_variables is None else n_variables,
        DEFAULT_REGULARIZATION if regularization is None else regularization,
        multiplier=first,
    )
    if n_variables is not None and regularization is not None and len(multipliers) == 1:
        return start
    plan = Plan.of(kernel.abilities, min(samples.n_x, samples.n_y), _binned(samples))
    splits = _splits(prepared, plan, first, rng, nonnegative)
    if deadline.over:
        return replace(start, stopped=True)
    folds = splits(first)
    if not folds:
        return start
    if n_variables is None and plan.number_first:
        start = _with_number(start, folds, 0.0, progress, deadline)
    elif n_variables is None:
        start = replace(start, n_variables=min(samples.n_columns, SEARCH_VARIABLES))
    if regularization is None or len(multipliers) > 1:
        families = {
            multiplier: splits(multiplier)
            for multiplier in multipliers
            if multiplier == first or not deadline.over
        }
        scores = _score(families, start.n_variables, regularization, plan, rng, progress, deadline)
        if scores:
            best = plan.best(scores)
            folds = families[best.multiplier]
            start = replace(
                start,
                regularization=best.regularization,
                multiplier=best.multiplier,
                regularizations=scores,
            )
    if n_variables is None and not plan.number_first:
        start = _with_number(start, folds, start.regularization, progress, deadline)
        if not start.numbers:
            start = replace(start, n_variables=default)
    return replace(start, stopped=deadline.passed)


def _splits(
    prepared: Prepared, plan: Plan, first: float, rng: np.random.Generator, nonnegative: bool
) -> Callable[[float], Sequence[Split]]:
    """Return the same splits for the bandwidths times any multiplier, `first` among them.

    Where rows are many and the kernel is a sum over columns, splits of bins of rows do: one pass
    over the rows serves them all. Splits without a varying column are left out.
    """
    samples, kernel, n_jobs = prepared.samples, prepared.kernel, prepared.n_jobs
    # Rows by content, not by number: the same rows fall into the same parts, whatever their order
    # and whichever sample comes first.
    samples = by_content(samples, MOST_SORTED if kernel.abilities.closed_form else MOST_ENTRIES)
    if kernel.abilities.closed_form and _binned(samples):
        seed = int(rng.integers(2**63))

        def of_bins(multiplier: float) -> Sequence[Split]:
            fitted = prepared.fitted(multiplier)
            if fitted.constant.all():
                return []
            same = np.random.default_rng(seed)
            coefficients = prepared.coefficients(multiplier)
            rows = BinnedRows.of(samples, fitted, coefficients, same, n_jobs)
            return split_bins(rows, plan.n_splits, same, nonnegative)

        return cache(of_bins)
    row_splits = split_in_halves(samples, plan.n_splits, rng, plan.most_rows)
    folds = make_folds(with_multiplier(kernel, first), row_splits, n_jobs, nonnegative)

    def of_rows(multiplier: float) -> Sequence[Split]:
        if multiplier == first:
            return folds
        return [rescaled(fold, with_multiplier(kernel, multiplier)) for fold in folds]

    return cache(of_rows)


def _binned(samples: Samples) -> bool:
    """Return whether rows are so many that they stand in bins; those of a design never do."""
    return samples.design is None and rows_per_bin(samples.n_x, samples.n_y) > 1


def _score(
    families: Mapping[float, Sequence[Split]],
    n_variables: int,
    regularization: float | None,
    plan: Plan,
    rng: np.random.Generator,
    progress: Progress,
    deadline: Deadline,
) -> tuple[RegularizationScore, ...]:
    """Score λ and the bandwidths; where that takes a search each, the bandwidths at one λ first."""
    # One set of permutations for each split: what is compared meets the same chance.
    n_splits = max(len(folds) for folds in families.values())
    seeds = [int(rng.integers(2**32)) for _ in range(n_splits)]

    def scored(
        compared: Mapping[float, Sequence[Split]], grid: Sequence[float]
    ) -> tuple[RegularizationScore, ...]:
        return score_regularizations(compared, n_variables, grid, seeds, progress, deadline)

    if regularization is not None:
        return scored(families, [regularization])
    if plan.number_first or len(families) == 1:
        return scored(families, plan.grid)
    first = scored(families, [MIDDLE_REGULARIZATION])
    if not first:
        return ()
    best = best_ratio(first).multiplier
    other_values = [value for value in plan.grid if value != MIDDLE_REGULARIZATION]
    more = scored({best: families[best]}, other_values)
    # Scores of fewer splits, for which time was over, compare with no others.
    return first + more if more and len(more[0].ratios) == len(first[0].ratios) else first


def _with_number(
    tuning: Tuning,
    folds: Sequence[Split],
    regularization: float,
    progress: Progress,
    deadline: Deadline,
) -> Tuning:
    scores = score_numbers(folds, progress, regularization, deadline)
    if not scores:
        return tuning
    return replace(tuning, n_variables=smallest_good_number(scores), numbers=scores)
