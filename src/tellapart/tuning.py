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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tellapart.kernels.base import FittedKernel, Kernel
from tellapart.permutation import permutation_test
from tellapart.progress import Report
from tellapart.samples import FloatArray, IntArray, Samples
from tellapart.selection import restrict
from tellapart.statistics import LinearCoefficients, linear_coefficients
from tellapart.strs import solve
from tellapart.strs.thresholding import Thresholding

GRID = (0.0, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0)
DEFAULT_REGULARIZATION = 0.1
DEFAULT_VARIABLES = 5
MOST_VARIABLES = 50
FEWEST_ROWS = 8
N_SPLITS = 5
N_PERMUTATIONS = 199
VARIANCE_FLOOR = 1e-8


@dataclass(frozen=True)
class SizeScore:
    """The held-out ratios √ñ·MMD²/σ̂ of one number of variables, one per split."""

    n_variables: int
    ratios: tuple[float, ...]


@dataclass(frozen=True)
class PriceScore:
    """The held-out p-values and ratios √ñ·MMD²/σ̂ of one λ, one per split."""

    regularization: float
    pvalues: tuple[float, ...]
    ratios: tuple[float, ...]


@dataclass(frozen=True)
class Tuning:
    """The chosen number of variables and λ, with the scores they were chosen by.

    The scores are empty for what the caller fixed, or where there were too few rows to tune.
    """

    n_variables: int
    regularization: float
    sizes: tuple[SizeScore, ...] = ()
    prices: tuple[PriceScore, ...] = ()


@dataclass(frozen=True)
class Fold:
    """One split of the training half: weights come from one part, scores from the other."""

    train: Samples
    held_out: Samples
    kernel: FittedKernel
    n_jobs: int

    @cached_property
    def keep(self) -> IntArray:
        """The columns that vary in the training part."""
        return np.flatnonzero(~self.kernel.constant)

    @cached_property
    def coefficients(self) -> LinearCoefficients:
        """The coefficients of those columns."""
        return linear_coefficients(
            self.train.columns(self.keep), restrict(self.kernel, self.keep), n_jobs=self.n_jobs
        )

    def heaviest(self, n_variables: int) -> FloatArray:
        """Return the best weights at λ = 0, z ∝ the n largest |a_s|."""
        a = self.coefficients.a
        top = np.argsort(-np.abs(a), kind="stable")[:n_variables]
        length = float(np.linalg.norm(a[top]))
        z = np.zeros(self.train.n_columns)
        z[self.keep[top]] = a[top] / length if length > 0 else 1.0 / math.sqrt(top.size)
        return z

    def weights(self, n_variables: int, regularization: float) -> FloatArray:
        """Return good weights of all columns, by a heuristic on the training part."""
        if regularization == 0.0:
            return self.heaviest(n_variables)
        problem = self.coefficients.as_problem(regularization, min(n_variables, self.keep.size))
        z = np.zeros(self.train.n_columns)
        z[self.keep] = solve(problem, solver=Thresholding()).z
        return z

    def ratios(self, candidates: Sequence[FloatArray]) -> list[float]:
        """Return √ñ·MMD²/σ̂ of each candidate on the held-out part."""
        used = np.flatnonzero(np.any(candidates, axis=0))
        coefficients = linear_coefficients(
            self.held_out.columns(used), restrict(self.kernel, used), n_jobs=self.n_jobs
        )
        m, n = self.held_out.n_x, self.held_out.n_y
        scale = math.sqrt(2.0 * m * n / (m + n))
        return [scale * _ratio(coefficients, z[used]) for z in candidates]

    def pvalue(self, z: FloatArray, seed: int) -> float:
        """Return the p-value of z on the held-out part; one seed, one set of relabellings."""
        used = np.flatnonzero(z)
        return permutation_test(
            self.held_out.columns(used),
            restrict(self.kernel, used),
            z[used],
            n_permutations=N_PERMUTATIONS,
            alpha=0.5,
            rng=np.random.default_rng(seed),
        ).pvalue


def tune(
    samples: Samples,
    kernel: Kernel,
    *,
    n_variables: int | None,
    regularization: float | None,
    rng: np.random.Generator,
    n_jobs: int,
    report: Report,
) -> Tuning:
    """Choose what is None: the number of variables, λ, or both.

    The number of variables comes first, at λ = 0, where the best weights of every number are
    known in closed form and false discoveries are about as few as at any λ; then λ at that
    number. So tuning both costs one grid, not its product with a path.

    With fewer than 8 rows of a sample there is nothing to split again: λ = 0.1 and
    min(D, 5) variables.

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
        Splits and relabellings.
    n_jobs : int
        Threads.
    report : callable
        Told how far the work is.

    Returns
    -------
    Tuning
        Both numbers and their scores.
    """
    price = DEFAULT_REGULARIZATION if regularization is None else regularization
    if n_variables is not None and regularization is not None:
        return Tuning(n_variables, regularization)
    folds = make_folds(samples, kernel, rng, n_jobs)
    if not folds:
        size = min(samples.n_columns, DEFAULT_VARIABLES) if n_variables is None else n_variables
        return Tuning(size, price)
    sizes: tuple[SizeScore, ...] = ()
    prices: tuple[PriceScore, ...] = ()
    if n_variables is None:
        sizes = score_sizes(folds, report)
        n_variables = smallest_good_size(sizes)
    if regularization is None:
        prices = score_prices(folds, n_variables, GRID, rng, report)
        price = best_price(prices)
    return Tuning(n_variables, price, sizes, prices)


def score_sizes(folds: Sequence[Fold], report: Report) -> tuple[SizeScore, ...]:
    """Score each number of variables on the path by its held-out ratio √ñ·MMD²/σ̂ at λ = 0."""
    path = size_path(min(fold.keep.size for fold in folds))
    rows = []
    for number, fold in enumerate(folds, 1):
        report("tune", f"number of variables, split {number} of {len(folds)}")
        rows.append(fold.ratios([fold.heaviest(d) for d in path]))
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
    folds: Sequence[Fold],
    n_variables: int,
    grid: Sequence[float],
    rng: np.random.Generator,
    report: Report,
) -> tuple[PriceScore, ...]:
    """Score each λ by its validation p-value and, for ties, its validation ratio."""
    pvalues, ratios = [], []
    for number, fold in enumerate(folds, 1):
        report("tune", f"λ for {n_variables} variables, split {number} of {len(folds)}")
        seed = int(rng.integers(2**32))
        candidates = [fold.weights(n_variables, price) for price in grid]
        pvalues.append([fold.pvalue(z, seed) for z in candidates])
        ratios.append(fold.ratios(candidates))
    return tuple(
        PriceScore(price, tuple(p), tuple(r))
        for price, p, r in zip(
            grid, zip(*pvalues, strict=True), zip(*ratios, strict=True), strict=True
        )
    )


def best_price(prices: Sequence[PriceScore]) -> float:
    """Return the λ of the least p-value; of ties the greatest ratio, of those the least λ.

    Examples
    --------
    >>> best_price([PriceScore(0.1, (0.005,), (3.0,)), PriceScore(1.0, (0.005,), (4.0,))])
    1.0
    """
    small = as_good_as_the_best([[-p for p in score.pvalues] for score in prices])
    tied = [prices[i] for i in small]
    good = as_good_as_the_best([score.ratios for score in tied])
    return min(float(tied[i].regularization) for i in good)


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


def make_folds(
    samples: Samples, kernel: Kernel, rng: np.random.Generator, n_jobs: int
) -> list[Fold]:
    """Split the training half in two, several times; splits without a varying column are left."""
    if min(samples.n_x, samples.n_y) < FEWEST_ROWS:
        return []
    halves = [samples.split(0.5, rng) for _ in range(N_SPLITS)]
    folds = [Fold(train, rest, kernel.fit(train, n_jobs=n_jobs), n_jobs) for train, rest in halves]
    return [fold for fold in folds if fold.keep.size > 0]


def _ratio(coefficients: LinearCoefficients, z: FloatArray) -> float:
    """Return MMD²/σ̂; a small floor under σ̂² keeps perfect separation finite (k ≤ 1)."""
    variance = max(coefficients.variance_at(z), 0.0)
    return coefficients.statistic(z) / math.sqrt(variance + VARIANCE_FLOOR)
