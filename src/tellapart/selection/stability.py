"""Selection frequency: how often each variable is chosen when the choice is repeated on other rows.

The selection is repeated on random halves of the training rows: same kernel with its bandwidths,
same λ, same number of variables. The halves come in complementary pairs, so that every row is
used equally often; under a design they are halves of its pairs, clusters or strata. A half carries
less information than the whole, so a frequency below 1 is no flaw; and of two variables with the
same information either may be chosen.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tellapart.arguments import check_integer, check_n_jobs, check_random_state, check_time_limit
from tellapart.arrays import IntArray
from tellapart.data.samples import Samples
from tellapart.errors import ConstantColumnWarning, InputError
from tellapart.evidence.evidence import gather_evidence
from tellapart.interrupts import interruptible
from tellapart.kernels import FittedKernel, Linear
from tellapart.progress import Progress, check_progress, progress_reporter
from tellapart.search.choice import HEURISTICS
from tellapart.selection.by_evidence import HEURISTIC, best_of
from tellapart.selection.choose import choose
from tellapart.selection.selection import EVIDENCE, REGULARIZED
from tellapart.selection.settings import SelectionSettings
from tellapart.strs.contract import Control
from tellapart.text import safe

FEWEST_ROWS = 4
"""Rows of a sample that two halves of at least two rows need."""
MOST_ROWS = 20_000
"""Rows of a sample in one resample at most: beyond, a choice hardly changes but takes long."""
MOST_PAIRED_ROWS = 500
"""The same for a page, where a choice compares all pairs of rows."""
FEWEST_RESAMPLES, MOST_RESAMPLES = 10, 50
"""What a page shows."""
# The work of a page's resamples, in steps of some 20 ns: ten seconds where fewer than 50 fit. One
# pair of rows costs what it costs by itself and as much again for every 30 columns; one entry of
# a column, when sorted and summed, is 50 steps, and 300 where evidence is gathered from it.
MOST_WORK = 500_000_000
COLUMNS_OF_A_PAIR = 30
WORK_OF_AN_ENTRY = 50
WEIGHING = 300


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How often each variable was chosen in resamples of the training rows.

    Attributes
    ----------
    names : tuple of str
        Names of all columns.
    counts : int array of length D
        Resamples in which each column was chosen.
    n_resamples : int
        Resamples made.
    asked : int
        Resamples requested: more than were made if time ran out.
    n_rows : pair of int
        Rows of X and of Y in a resample, at most.
    halves : bool
        Whether a resample is half the training rows; False where that would be too many.
    support : int array
        The columns chosen on all training rows.
    """

    names: tuple[str, ...]
    counts: IntArray
    n_resamples: int
    asked: int
    n_rows: tuple[int, int]
    halves: bool
    support: IntArray

    @property
    def chosen(self) -> dict[str, int]:
        """Count of each variable chosen on all training rows, the most frequent first."""
        return self._ordered(self.support)

    @property
    def others(self) -> dict[str, int]:
        """Count of each other variable that was chosen at least once, the most frequent first."""
        others = np.setdiff1d(np.flatnonzero(self.counts), self.support)
        return self._ordered(others)

    def frequency(self, name: str) -> float:
        """Return the share of resamples in which a variable was chosen."""
        if name not in self.names:
            raise InputError(f"name must be the name of a column; got {name!r}")
        return float(self.counts[self.names.index(name)]) / self.n_resamples

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values, ready for JSON."""
        return {
            "n_resamples": self.n_resamples,
            "asked": self.asked,
            "n_rows": list(self.n_rows),
            "chosen": self.chosen,
            "others": self.others,
        }

    def summary(self) -> str:
        """Return the counts as plain text, one line per variable."""
        chosen = [(safe(name), count) for name, count in self.chosen.items()]
        others = [(f"{safe(name)} (not selected)", count) for name, count in self.others.items()]
        width = max(len(name) for name, _ in chosen + others)
        lines = [f"  {name:<{width}}  {count:>3}" for name, count in chosen + others]
        return "\n".join([f"Selection frequency in {self.n_resamples} resamples:", *lines])

    def __repr__(self) -> str:
        return f"<Stability of {self.support.size} variables over {self.n_resamples} resamples>"

    def _ordered(self, columns: IntArray) -> dict[str, int]:
        order = sorted(columns.tolist(), key=lambda s: (-self.counts[s], s))
        return {self.names[s]: int(self.counts[s]) for s in order}


@interruptible()
def measure_stability(
    train: Samples,
    kernel: FittedKernel,
    support: IntArray,
    *,
    n_variables: int,
    regularization: float,
    n_resamples: int,
    nonnegative: bool = False,
    objective: str = REGULARIZED,
    most_rows: int = MOST_ROWS,
    time_limit: float | None = None,
    random_state: int | np.random.Generator | None = 0,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
    clock: Callable[[], float] = time.monotonic,
) -> Stability:
    """Repeat the selection on random halves of the training rows, to heuristic quality.

    The sparse trust region problems are solved by thresholding, in milliseconds, and other
    kernels' searches stop at the first polish: nothing is proved about a resample, so no time
    goes into proofs.

    Parameters
    ----------
    train : Samples
        The training rows.
    kernel : FittedKernel
        The kernel with its bandwidths frozen on all of them.
    support : int array
        The columns chosen on all of them.
    n_variables, regularization, nonnegative, objective : int, float, bool, str
        The d and λ they were chosen with, whether with weights of at least 0 only, and by what.
    n_resamples, time_limit, random_state, n_jobs, progress
        See `tellapart.results.result.TestResult.stability`.
    most_rows : int
        Rows of each sample in a resample at most.
    clock : function
        Gives the seconds that `time_limit` is measured by.

    Returns
    -------
    Stability
    """
    requested = check_integer("n_resamples", n_resamples, 1)
    seconds = check_time_limit(time_limit)
    rng = check_random_state(random_state)
    threads = check_n_jobs(n_jobs)
    shown = check_progress(progress)
    settings = None
    if objective != EVIDENCE:
        settings = SelectionSettings(
            kernel=Linear.name, objective=objective, nonnegative=nonnegative, n_jobs=threads
        )
    n_x, n_y = train.n_units
    if min(n_x, n_y) < FEWEST_ROWS:
        units = "rows" if train.design is None else train.design.units_name
        raise InputError(
            f"stability needs at least {FEWEST_ROWS} training {units} of each sample; "
            f"got {n_x} and {n_y}"
        )
    started = clock()
    counts = np.zeros(train.n_columns, dtype=np.intp)
    largest = (0, 0)
    made = 0
    with progress_reporter(shown) as report, warnings.catch_warnings():
        # What is constant was said when the variables were chosen.
        warnings.simplefilter("ignore", ConstantColumnWarning)
        for resample in _halves(train, requested, most_rows, rng):
            left = None if seconds is None else seconds - (clock() - started)
            if made and left is not None and left < 0:
                break
            report("stability", f"resample {made + 1} of {requested}")
            # The first resample is always made.
            limit = None if left is None else max(0.1, left)
            if settings is None:
                again = _by_evidence(resample, n_variables, rng, limit, threads)
            else:
                again = choose(
                    resample,
                    kernel,
                    n_variables,
                    regularization,
                    settings,
                    rng=rng,
                    time_limit=limit,
                    solvers=HEURISTICS,
                ).support
            counts[again] += 1
            largest = (max(largest[0], resample.n_x), max(largest[1], resample.n_y))
            made += 1
    return Stability(
        names=train.names,
        counts=counts,
        n_resamples=made,
        asked=requested,
        n_rows=largest,
        halves=max(train.n_x, train.n_y) <= 2 * most_rows,
        support=support,
    )


def _by_evidence(
    resample: Samples, n_variables: int, rng: np.random.Generator, limit: float | None, n_jobs: int
) -> IntArray:
    """Return the columns chosen by evidence, none where no column varies in the resample."""
    evidence = gather_evidence(resample, n_variables, rng=rng, n_jobs=n_jobs)
    if evidence.n_columns == 0:
        return np.empty(0, dtype=np.intp)
    number = min(n_variables, evidence.n_columns)
    best = best_of(evidence, number, Control(time_limit=limit, rng=rng), HEURISTIC)
    return evidence.columns[np.flatnonzero(best.z)]


def plan_resamples(
    train: Samples, kernel: FittedKernel, objective: str = REGULARIZED
) -> tuple[int, int]:
    """Return how many resamples a page shows, and the rows of each sample in one at most.

    By the work of one choice, never by the clock: a page is the same on a slow machine.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.kernels import Gaussian, Linear
    >>> values = np.random.default_rng(0).normal(size=(2_000, 10))
    >>> samples = Samples(values, values, tuple("abcdefghij"), ("numeric",) * 10)
    >>> plan_resamples(samples, Linear().fit(samples))
    (50, 20000)
    >>> plan_resamples(samples, Gaussian().fit(samples))
    (12, 500)
    """
    weighed = objective == EVIDENCE
    pairs = not kernel.abilities.fast_sums and not weighed
    most_rows = MOST_PAIRED_ROWS if pairs else MOST_ROWS
    rows = sum(min((n + 1) // 2, most_rows) for n in (train.n_x, train.n_y))
    if pairs:
        work = rows**2 * (COLUMNS_OF_A_PAIR + train.n_columns)
    else:
        work = rows * train.n_columns * (WEIGHING if weighed else WORK_OF_AN_ENTRY)
    return min(max(MOST_WORK // work, FEWEST_RESAMPLES), MOST_RESAMPLES), most_rows


def _halves(
    train: Samples, n_resamples: int, most_rows: int, rng: np.random.Generator
) -> Iterator[Samples]:
    """Yield random halves, each followed by its complement; no more than `most_rows` rows."""
    if train.design is not None:
        yield from _halves_by_design(train, n_resamples, most_rows, rng)
        return
    for number in range(n_resamples):
        side = number % 2
        if side == 0:
            order_x, order_y = rng.permutation(train.n_x), rng.permutation(train.n_y)
        yield train.rows(order_x[side::2][:most_rows], order_y[side::2][:most_rows])


def _halves_by_design(
    train: Samples, n_resamples: int, most_rows: int, rng: np.random.Generator
) -> Iterator[Samples]:
    """Yield the same with no pair, and no other unit of the design, in both of two halves."""
    assert train.design is not None
    for number in range(n_resamples):
        if number % 2 == 0:
            try:
                halves = train.split(0.5, rng)
            except InputError as error:
                raise InputError(
                    f"stability needs {train.design.units_name} enough for two halves; got "
                    f"{train.design.n_units[0]} and {train.design.n_units[1]} in "
                    f"{train.design.n_blocks} blocks"
                ) from error
        yield halves[number % 2].informative().draw(most_rows, rng)
