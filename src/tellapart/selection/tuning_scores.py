"""Scores of what tuning tries, split by split, and which of them is the best."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.progress import Progress
from tellapart.selection.folds import Split
from tellapart.strs.control import Control

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
        """Whether time is over; whoever asks gives up what comes next."""
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
    found = []
    for n_variables, regularization in settings:
        if deadline is not None and deadline.over:
            return None
        found.append(fold.weights(n_variables, regularization))
    return found


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
