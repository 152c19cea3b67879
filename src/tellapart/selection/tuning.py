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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import IntArray
from tellapart.data.samples import Samples
from tellapart.kernels.base import Kernel
from tellapart.kernels.tuned import multipliers_to_try, with_multiplier
from tellapart.progress import Progress
from tellapart.selection.folds import MOST_ROWS, Fold, make_folds, rescaled, split_in_halves

GRID = (0.0, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0)
N_SPLITS = 5
# Kernels other than the linear one take longer, and their weights change less with λ.
SEARCH_GRID = (0.0, 0.1, 1.0, 5.0)
MIDDLE_PRICE = 1.0
N_SEARCH_SPLITS = 3
SEARCH_VARIABLES = 20
DEFAULT_REGULARIZATION = 0.1
DEFAULT_VARIABLES = 5
MOST_VARIABLES = 50


@dataclass(frozen=True)
class SizeScore:
    """The held-out ratios √ñ·MMD²/σ̂ of one number of variables, one per split.

    Without a split, the one score of `tellapart.testing.reselection`.
    """

    n_variables: int
    ratios: tuple[float, ...]


@dataclass(frozen=True)
class PriceScore:
    """The held-out p-values and ratios √ñ·MMD²/σ̂ of one λ (and bandwidth), one per split."""

    regularization: float
    pvalues: tuple[float, ...]
    ratios: tuple[float, ...]
    multiplier: float = 1.0


@dataclass(frozen=True)
class Tuning:
    """The chosen number of variables, λ and bandwidth, with the scores they were chosen by.

    The scores are empty for what the caller fixed, or where there were too few rows to tune.
    The bandwidth is that of the kernel's rule times `multiplier`.
    """

    n_variables: int
    regularization: float
    sizes: tuple[SizeScore, ...] = ()
    prices: tuple[PriceScore, ...] = ()
    multiplier: float = 1.0


def tune(
    samples: Samples,
    kernel: Kernel,
    *,
    n_variables: int | None,
    regularization: float | None,
    rng: np.random.Generator,
    n_jobs: int,
    progress: Progress,
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
    samples : Samples
        The training half.
    kernel : Kernel
        Fitted afresh on the training part of every split, and frozen for its other part.
    n_variables : int or None
        The number of variables, or None to choose it.
    regularization : float or None
        λ, or None to choose it.
    rng : numpy Generator
        Splits and permutations.
    n_jobs : int
        Threads.
    progress : callable
        Told how far the work is.

    Returns
    -------
    Tuning
        Both numbers and their scores.
    """
    price = DEFAULT_REGULARIZATION if regularization is None else regularization
    multipliers = multipliers_to_try(kernel)
    plain = with_multiplier(kernel, multipliers[0] if len(multipliers) == 1 else 1.0)
    start = Tuning(
        min(samples.n_columns, DEFAULT_VARIABLES) if n_variables is None else n_variables,
        price,
        multiplier=multipliers[0] if len(multipliers) == 1 else 1.0,
    )
    if n_variables is not None and regularization is not None and len(multipliers) == 1:
        return start
    linear = kernel.name == "linear"
    halves = split_in_halves(
        samples,
        N_SPLITS if linear else N_SEARCH_SPLITS,
        rng,
        None if linear else MOST_ROWS,
    )
    folds = make_folds(plain, halves, n_jobs)
    if not folds:
        return start
    size_first = n_variables is None and linear
    if size_first:
        start = _with_size(start, folds, 0.0, progress)
    elif n_variables is None:
        start = replace(start, n_variables=min(samples.n_columns, SEARCH_VARIABLES))
    if regularization is None or len(multipliers) > 1:
        fitted = start.multiplier
        families = {
            multiplier: [rescaled(fold, with_multiplier(kernel, multiplier)) for fold in folds]
            if multiplier != fitted
            else folds
            for multiplier in multipliers
        }
        given = None if regularization is None else price
        prices = _prices(families, start.n_variables, given, linear, rng, progress)
        best = best_price(prices) if linear else best_ratio(prices)
        folds = families[best.multiplier]
        start = replace(
            start, regularization=best.regularization, multiplier=best.multiplier, prices=prices
        )
    if n_variables is None and not size_first:
        start = _with_size(start, folds, start.regularization, progress)
    return start


def _prices(
    families: Mapping[float, Sequence[Fold]],
    n_variables: int,
    price: float | None,
    linear: bool,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[PriceScore, ...]:
    """Score λ and the bandwidths; where that takes a search each, the bandwidths at one λ first."""
    # One set of permutations for each split: what is compared meets the same chance.
    n_splits = max(len(folds) for folds in families.values())
    seeds = [int(rng.integers(2**32)) for _ in range(n_splits)]
    if price is not None:
        return score_prices(families, n_variables, [price], seeds, progress)
    if linear or len(families) == 1:
        grid = GRID if linear else SEARCH_GRID
        return score_prices(families, n_variables, grid, seeds, progress)
    first = score_prices(families, n_variables, [MIDDLE_PRICE], seeds, progress)
    best = best_ratio(first).multiplier
    rest = [price for price in SEARCH_GRID if price != MIDDLE_PRICE]
    return first + score_prices({best: families[best]}, n_variables, rest, seeds, progress)


def _with_size(
    tuning: Tuning, folds: Sequence[Fold], regularization: float, progress: Progress
) -> Tuning:
    sizes = score_sizes(folds, progress, regularization)
    return replace(tuning, n_variables=smallest_good_size(sizes), sizes=sizes)


def score_sizes(
    folds: Sequence[Fold], progress: Progress, regularization: float = 0.0
) -> tuple[SizeScore, ...]:
    """Score each number of variables on the path by its held-out ratio √ñ·MMD²/σ̂."""
    path = size_path(min(fold.keep.size for fold in folds))
    rows = []
    for number, fold in enumerate(folds, 1):
        progress("tune", f"number of variables, split {number} of {len(folds)}")
        rows.append(fold.ratios([fold.weights(d, regularization) for d in path]))
    return tuple(SizeScore(d, tuple(ratios)) for d, *ratios in zip(path, *rows, strict=True))


def smallest_good_size(sizes: Sequence[SizeScore]) -> int:
    """Return the smallest number whose mean ratio is within one standard error of the best.

    Examples
    --------
    >>> sizes = [SizeScore(1, (2.0, 2.1)), SizeScore(2, (3.0, 2.8)), SizeScore(3, (2.9, 3.0))]
    >>> smallest_good_size(sizes)
    2
    """
    good = as_good_as_the_best([score.ratios for score in sizes])
    return min(int(sizes[i].n_variables) for i in good)


def score_prices(
    families: Mapping[float, Sequence[Fold]],
    n_variables: int,
    grid: Sequence[float],
    seeds: Sequence[int],
    progress: Progress,
) -> tuple[PriceScore, ...]:
    """Score each λ by its validation p-value and, for ties, its validation ratio.

    `families` are the same splits with the kernel's bandwidth times different multipliers; each
    split has one seed of permutations.
    """
    scores = []
    for multiplier, folds in families.items():
        pvalues, ratios = [], []
        for number, (fold, seed) in enumerate(zip(folds, seeds, strict=False), 1):
            bandwidth = f", bandwidth × {multiplier:g}" if len(families) > 1 else ""
            progress(
                "tune", f"λ for {n_variables} variables{bandwidth}, split {number} of {len(folds)}"
            )
            candidates = [fold.weights(n_variables, price) for price in grid]
            pvalues.append([fold.pvalue(z, seed) for z in candidates])
            ratios.append(fold.ratios(candidates))
        columns = zip(grid, zip(*pvalues, strict=True), zip(*ratios, strict=True), strict=True)
        scores += [PriceScore(price, p, r, multiplier) for price, p, r in columns]
    return tuple(scores)


def best_price(prices: Sequence[PriceScore]) -> PriceScore:
    """Return the λ of the least p-value; of ties the greatest ratio, of those the least λ.

    Examples
    --------
    >>> scores = [PriceScore(0.1, (0.005,), (3.0,)), PriceScore(1.0, (0.005,), (4.0,))]
    >>> best_price(scores).regularization
    1.0
    """
    tied = _least_pvalues(prices)
    good = as_good_as_the_best([score.ratios for score in tied])
    return tied[min(good.tolist(), key=lambda i: tied[i].regularization)]


def best_ratio(prices: Sequence[PriceScore]) -> PriceScore:
    """Return the λ and bandwidth of the least p-value, and of ties of the greatest mean ratio."""
    return max(_least_pvalues(prices), key=lambda score: float(np.mean(score.ratios)))


def _least_pvalues(prices: Sequence[PriceScore]) -> list[PriceScore]:
    return [prices[i] for i in as_good_as_the_best([[-p for p in s.pvalues] for s in prices])]


def as_good_as_the_best(scores: Sequence[Sequence[float]]) -> IntArray:
    """Return which candidates (rows) have a mean within one standard error of the best mean.

    The standard error is that of the difference from the best over the splits (columns).
    The splits overlap, so it is a yardstick and not a confidence statement.
    """
    table = np.asarray(scores, dtype=np.float64)
    short = table[table.mean(axis=1).argmax()] - table
    count = table.shape[1]
    spread = short.std(axis=1, ddof=1) if count > 1 else np.zeros(len(table))
    return np.flatnonzero(short.mean(axis=1) <= spread / math.sqrt(count))


def size_path(most: int) -> list[int]:
    """Return the numbers of variables to try: 1, 2, 3, 4, 5, 7, 10, 14, … up to `most` or 50.

    Examples
    --------
    >>> size_path(12)
    [1, 2, 3, 4, 5, 7, 10, 12]
    """
    last = min(most, MOST_VARIABLES)
    path = [1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 39, 50]
    return [*(d for d in path if d < last), last]
