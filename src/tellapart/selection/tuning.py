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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from tellapart.data.canonical_order import MOST_ENTRIES, MOST_SORTED, by_content
from tellapart.data.samples import Samples
from tellapart.kernels.base import Abilities
from tellapart.kernels.tuned import multipliers_to_try, with_multiplier
from tellapart.permutation.bins import rows_per_bin
from tellapart.progress import Progress
from tellapart.selection.binned_folds import BinnedRows, split_bins
from tellapart.selection.folds import MOST_ROWS, Split, make_folds, rescaled, split_in_halves
from tellapart.selection.prepared import Prepared
from tellapart.selection.tuning_scores import (
    Deadline,
    NumberScore,
    RegularizationScore,
    best_ratio,
    best_regularization,
    score_numbers,
    score_regularizations,
    smallest_good_number,
)
from tellapart.strs.control import Control

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
        Told how far the work is.
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
    halves = split_in_halves(samples, plan.n_splits, rng, plan.most_rows)
    folds = make_folds(with_multiplier(kernel, first), halves, n_jobs, nonnegative)

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
        some: Mapping[float, Sequence[Split]], grid: Sequence[float]
    ) -> tuple[RegularizationScore, ...]:
        return score_regularizations(some, n_variables, grid, seeds, progress, deadline)

    if regularization is not None:
        return scored(families, [regularization])
    if plan.number_first or len(families) == 1:
        return scored(families, plan.grid)
    first = scored(families, [MIDDLE_REGULARIZATION])
    if not first:
        return ()
    best = best_ratio(first).multiplier
    rest = [value for value in plan.grid if value != MIDDLE_REGULARIZATION]
    more = scored({best: families[best]}, rest)
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
