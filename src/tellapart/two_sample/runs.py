"""The two ways of a test, from checked samples to what was found: a scan, or a split."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from tellapart.arguments import check_random_state
from tellapart.arrays import IntArray
from tellapart.data.canonical_order import drawn_by_content, split_by_content
from tellapart.data.chunked_samples import ChunkedSamples, Halves, in_chunks
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.evidence.evidence import judged_by_draw
from tellapart.kernels import FittedKernel
from tellapart.permutation.labels import least_binned_pvalue
from tellapart.permutation.mmd import permutation_test, permutation_test_in_chunks
from tellapart.permutation.pvalues import PermutationNull, warn_of_few_rows, warn_of_few_units
from tellapart.progress import Progress
from tellapart.results.result import TestResult
from tellapart.results.settings import TestSettings
from tellapart.scan.cost import ScanCost
from tellapart.scan.scan import Scan, scan
from tellapart.selection.by_evidence import MOST_VARIABLES, weigh_evidence
from tellapart.selection.changes import Named, with_changes
from tellapart.selection.choose import choose, choose_nonnegative, sum_over_chunks, sums_add_up
from tellapart.selection.pipeline import tune_fit_choose
from tellapart.selection.selection import Selection
from tellapart.selection.settings import default_regularization
from tellapart.selection.tuning import Chosen, Tuning
from tellapart.threads import blas_threads

# The certified selection that follows a scan, made on all rows.
#
# The p-value is that of the scan and does not depend on any of this.


def choose_after(
    scan: Scan,
    samples: Samples,
    settings: TestSettings,
    rng: np.random.Generator,
    n_jobs: int,
    progress: Progress,
    *,
    chunks: ChunkedSamples,
    effort: float = 1.0,
) -> Chosen:
    """Choose the variables on all rows: by evidence, or by the kernel that was asked for.

    `chunks` are all the rows, of which `samples` may hold some, drawn at random. Where rows are
    many, the linear kernel's coefficients are summed over the chunks. Other kernels choose by what
    `samples` holds, and evidence judges single columns by all rows all the same.

    With a kernel, λ is 0 where a choice without it can be proved best, else the default of the
    kernel, unless the settings give it, and as many variables as the scan suggests, unless they
    are given. `effort` is the share of the usual work, for one test of many.
    """
    drawn = (samples.n_x, samples.n_y) != chunks.n_values
    if settings.by_evidence:
        known = scan.by_design or drawn or judged_by_draw(samples)
        return weigh_evidence(
            samples,
            settings,
            rng=rng,
            progress=progress,
            n_jobs=n_jobs,
            differences=scan.differences if known else None,
            effort=effort,
        )
    kernel = settings.fittable
    abilities = kernel.abilities
    number = settings.n_variables
    if number is None:
        number = min(suggested_number(scan, linear=abilities.closed_form), samples.n_columns)
    regularization = settings.fixed_regularization
    if regularization is None:
        exact = abilities.exact_unregularized
        regularization = 0.0 if exact else default_regularization(abilities)
    closed = abilities.closed_form and regularization == 0 and settings.nonnegative
    closed = closed and settings.solver == "auto"
    summed = None
    if not chunks.all_drawn and settings.estimator == "unbiased":
        summed = sum_over_chunks(
            chunks, kernel, n_jobs=n_jobs, progress=progress, with_variance=not closed
        )
    if summed is None:
        fitted, coefficients = kernel.fit(samples, n_jobs=n_jobs), None
    else:
        fitted, coefficients, drawn = summed.kernel, summed.coefficients, False
    tuning = Tuning(number, regularization)
    if closed:
        selection = choose_nonnegative(samples, fitted, number, n_jobs, coefficients)
        return Chosen(tuning, fitted, _told(selection, samples, drawn=drawn))
    selection = choose(
        samples,
        fitted,
        n_variables=number,
        regularization=regularization,
        solvers=settings.solvers,
        rng=rng,
        gap=settings.gap,
        time_limit=settings.time_limit,
        n_jobs=settings.threads,
        progress=progress,
        estimator=settings.estimator,
        known=(*scan.pairs, *scan.triples),
        nonnegative=settings.nonnegative,
        coefficients=coefficients,
    )
    return Chosen(tuning, fitted, _told(selection, samples, drawn=drawn))


def draws_rows(samples: Samples, settings: TestSettings) -> bool:
    """Say whether the choice would draw rows: then it takes those that the scan drew."""
    return settings.by_evidence and judged_by_draw(samples)


def _told(selection: Selection, samples: Samples, *, drawn: bool) -> Selection:
    """Return a selection that says which rows it was made on, where not on all."""
    if not drawn:
        return selection
    return replace(selection, drawn_rows=(samples.n_x, samples.n_y))


def suggested_number(scan: Scan, *, linear: bool) -> int:
    """Return how many variables carry the difference: those named, ten at most."""
    if scan.columns and linear:
        return min(len(scan.columns), MOST_VARIABLES)
    groups = scan.pairs or scan.triples
    if groups and not linear:
        members: set[int] = set()
        for group in groups:
            if len(members | set(group)) > MOST_VARIABLES:
                break
            members |= set(group)
        return len(members)
    return scan.n_variables


# Limits of a whole test: seconds and bytes, kept by fewer rows, or refused before work starts.


# The choice of variables, and what a prediction is off by, get the rest of the time.
SCAN_SHARE = 0.6
# Fewer rows of a sample are not worth a hurry: such a scan takes about a second.
FEWEST_ROWS = 1_000
# What is left when time is over is still enough for a first bound.
LEAST_SECONDS = 1e-3


@dataclass(frozen=True)
class Limits:
    """What a test may take; the clock starts when the limits are made.

    Attributes
    ----------
    time_limit : float or None
        Seconds for the whole test.
    memory_budget : float or None
        Bytes beyond the input.
    clock : callable
        The only one that the limit is measured by.
    effort : float
        The share of the usual work that pairs, triples and the choice may take, for one test of
        many.
    """

    time_limit: float | None = None
    memory_budget: float | None = None
    clock: Callable[[], float] = time.perf_counter
    started: float = field(default=0.0)
    effort: float = 1.0

    @classmethod
    def begin(
        cls,
        time_limit: float | None,
        memory_budget: float | None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> Limits:
        """Start the clock."""
        return cls(time_limit, memory_budget, clock, clock())

    @property
    def remaining(self) -> float | None:
        """Seconds that are left, or None where there is no limit."""
        if self.time_limit is None:
            return None
        return max(self.time_limit - (self.clock() - self.started), LEAST_SECONDS)

    def leaves(self, times: float) -> bool:
        """Say whether so many times what was taken so far are left.

        >>> moments = iter([0.0, 3.0, 5.0])
        >>> limits = Limits.begin(10.0, None, moments.__next__)
        >>> limits.leaves(2), limits.leaves(2)
        (True, False)
        """
        if self.time_limit is None:
            return True
        taken = self.clock() - self.started
        return times * taken <= self.time_limit - taken

    def rows_for_scan(self, cost: ScanCost, threads: int) -> int | None:
        """Return how many rows of each sample can be scanned in time; None for all of them.

        Raises
        ------
        InputError
            Where even few rows would take too long, or where memory does not suffice.
        """
        self._check_memory(cost)
        remaining = self.remaining
        if remaining is None:
            return None
        seconds = SCAN_SHARE * remaining
        if cost.seconds(threads) <= seconds:
            return None
        low, high = 0, max(cost.n_x, cost.n_y)
        while low < high:
            middle = (low + high + 1) // 2
            fits = _with_rows(cost, middle).seconds(threads) <= seconds
            low, high = (middle, high) if fits else (low, middle - 1)
        if low < min(FEWEST_ROWS, max(cost.n_x, cost.n_y)):
            least = _with_rows(cost, FEWEST_ROWS).seconds(threads) / SCAN_SHARE
            raise InputError(
                f"time_limit must be at least about {least:.2g} s for a scan of {cost.n_columns:,} "
                f"columns, which would take about {cost.seconds(threads) / SCAN_SHARE:.2g} s with "
                f"all {cost.n_rows:,} rows; got {self.time_limit:g}"
            )
        return low

    def _check_memory(self, cost: ScanCost) -> None:
        needed = cost.bytes_held
        if self.memory_budget is not None and needed > self.memory_budget:
            raise InputError(
                f"memory_budget must be at least {needed:.3g} bytes for a scan of "
                f"{cost.n_columns:,} columns with {cost.n_permutations:,} permutations; got "
                f"{self.memory_budget:.3g}; fewer columns or permutations need less"
            )


def _with_rows(cost: ScanCost, most: int) -> ScanCost:
    return replace(cost, n_x=max(min(cost.n_x, most), 2), n_y=max(min(cost.n_y, most), 2))


SPLIT_PASSES = 6
"""What a split of chunks takes, in multiples of reading them once: two passes choose, one tests."""
SPLIT_BYTES = 2_000_000_000
"""What the rows that are drawn from chunks for a split may take, where no budget is given."""


def seeds_of(settings: TestSettings) -> IntArray:
    """Return one seed per step: how much randomness one uses does not move the others."""
    return check_random_state(settings.random_state).integers(2**63, size=4)


def _run_scan(
    samples: Samples | ChunkedSamples, settings: TestSettings, limits: Limits, progress: Progress
) -> Found:
    """Test all rows for every kind of difference, and choose on all rows by what was found."""
    draw_seed, _, solve_seed, permute_seed = map(int, seeds_of(settings))
    if samples.design is None:
        warn_of_few_rows(samples.n_x, samples.n_y, settings.n_permutations, settings.alpha)
    else:
        warn_of_few_units(samples.design, settings.n_permutations, settings.alpha)
    n_jobs = blas_threads() if settings.n_jobs is None else settings.threads
    all_rows = samples.n_read if isinstance(samples, Samples) else (samples.n_x, samples.n_y)
    cost = ScanCost(*all_rows, samples.n_columns, settings.n_permutations)
    most = limits.rows_for_scan(cost, n_jobs)
    if most is not None:
        samples = _fewer_rows(samples, most, draw_seed)
    rows = in_chunks(samples, draw_seed)
    found = scan(
        rows,
        n_permutations=settings.n_permutations,
        alpha=settings.alpha,
        rng=np.random.default_rng(permute_seed),
        n_jobs=n_jobs,
        progress=progress,
        effort=limits.effort,
    )
    # Of samples in chunks the rows drawn while reading are those to choose by, and to show; the
    # same rows, where they are in memory and evidence would draw some.
    shown = by = rows.drawn
    if not isinstance(samples, ChunkedSamples):
        shown, by = samples, rows.drawn if draws_rows(samples, settings) else samples
    chosen = choose_after(
        found,
        by,
        replace(settings, time_limit=limits.remaining),
        np.random.default_rng(solve_seed),
        n_jobs,
        progress,
        chunks=rows,
        effort=limits.effort,
    )
    selection = with_changes(
        chosen.selection,
        rows,
        scanned=Named(found.findings, found.variable_pvalues, settings.alpha),
    )
    return Found(
        found.null,
        selection,
        chosen.tuning,
        chosen.kernel,
        by,
        shown,
        found,
        n_train=(0, 0),
        n_test=rows.n_values,
        drawn_from=None if most is None else all_rows,
    )


def _run_split(
    samples: Samples | ChunkedSamples, settings: TestSettings, limits: Limits, progress: Progress
) -> Found:
    """Choose on one part of the rows, test on the other."""
    draw_seed, tune_seed, solve_seed, permute_seed = map(int, seeds_of(settings))
    all_rows = samples.n_x, samples.n_y
    if isinstance(samples, ChunkedSamples):
        if _splits_chunks(samples, settings, limits):
            return _split_chunks(samples, settings, limits, progress)
        samples = samples.draw(_rows_for_split(samples.n_columns, limits), draw_seed)
    # The split is uniform and independent of the rows, so what is held out is as good as new to
    # what was chosen; and permutations may be drawn in any order of the rows. Rows by content make
    # both the same whatever the order of the table, and whichever sample comes first.
    train, held_out = split_by_content(
        samples, settings.test_size, np.random.default_rng(draw_seed)
    )
    _warn_of_tiny_halves(samples, held_out, settings)
    chosen = tune_fit_choose(
        train,
        replace(settings, time_limit=limits.remaining),
        tune_rng=np.random.default_rng(tune_seed),
        solve_rng=np.random.default_rng(solve_seed),
        progress=progress,
    )
    progress("test", f"{settings.n_permutations} permutations")
    rows, permute_rng = drawn_by_content(held_out, np.random.default_rng(permute_seed))
    null = permutation_test(
        rows,
        chosen.kernel,
        chosen.selection.z,
        n_permutations=settings.n_permutations,
        alpha=settings.alpha,
        rng=permute_rng,
        n_jobs=None if settings.n_jobs is None else settings.threads,
    )
    drawn_from = None if (samples.n_x, samples.n_y) == all_rows else all_rows
    selection = with_changes(
        chosen.selection,
        held_out,
        train=train,
        joint=not chosen.kernel.abilities.short_features,
    )
    return Found(
        null,
        selection,
        chosen.tuning,
        chosen.kernel,
        train,
        held_out,
        drawn_from=drawn_from,
    )


def _splits_chunks(samples: ChunkedSamples, settings: TestSettings, limits: Limits) -> bool:
    """Say whether all rows of chunks can choose and test: by sums over chunks, and in time."""
    usual = settings.estimator == "unbiased" and not samples.all_drawn
    return usual and limits.leaves(SPLIT_PASSES) and sums_add_up(samples, settings.fittable)


def _split_chunks(
    samples: ChunkedSamples, settings: TestSettings, limits: Limits, progress: Progress
) -> Found:
    """Choose on one part of the rows of chunks, test on the other, and hold neither."""
    draw_seed, tune_seed, solve_seed, permute_seed = map(int, seeds_of(settings))
    halves = Halves.of(samples, settings.test_size, draw_seed)
    train, held_out = (halves.part(samples, held_out=out) for out in (False, True))
    chosen = tune_fit_choose(
        train,
        replace(settings, time_limit=limits.remaining),
        tune_rng=np.random.default_rng(tune_seed),
        solve_rng=np.random.default_rng(solve_seed),
        progress=progress,
    )
    null = permutation_test_in_chunks(
        samples,
        halves,
        chosen.kernel,
        chosen.selection.z,
        n_permutations=settings.n_permutations,
        alpha=settings.alpha,
        rng=np.random.default_rng(permute_seed),
        n_jobs=settings.threads,
        progress=progress,
    )
    selection = with_changes(
        chosen.selection,
        held_out.drawn,
        train=train.drawn,
        joint=False,
    )
    return Found(
        null,
        selection,
        chosen.tuning,
        chosen.kernel,
        train.drawn,
        held_out.drawn,
        n_train=(train.n_x, train.n_y),
        n_test=(held_out.n_x, held_out.n_y),
    )


def _fewer_rows(samples: Samples | ChunkedSamples, most: int, seed: int) -> Samples:
    """Return rows drawn at random, as many of each sample as the time allows."""
    if isinstance(samples, ChunkedSamples):
        return samples.draw(most, seed)
    return samples.draw(most, np.random.default_rng(seed))


def _rows_for_split(n_columns: int, limits: Limits) -> int:
    """Return how many rows of each sample are held to choose and test by a split."""
    budget = SPLIT_BYTES if limits.memory_budget is None else int(limits.memory_budget)
    # Two samples in double precision, and as much again for their halves.
    return max(budget // (32 * n_columns), 1_000)


@dataclass(frozen=True)
class Found:
    """What the steps of a test found: `n_train` rows chose and no more, `n_test` tested."""

    null: PermutationNull
    selection: Selection
    tuning: Tuning
    kernel: FittedKernel
    train: Samples
    tested: Samples
    scan: Scan | None = None
    n_train: tuple[int, int] | None = None
    n_test: tuple[int, int] | None = None
    drawn_from: tuple[int, int] | None = None

    def result(self, settings: TestSettings, labels: tuple[str, str], seconds: float) -> TestResult:
        """Return what the user gets."""
        train, tested = self.train, self.tested
        return TestResult(
            pvalue=self.null.pvalue,
            statistic=self.null.statistic,
            threshold=self.null.threshold,
            alpha=settings.alpha,
            null_distribution=self.null.null_distribution,
            exact=self.null.exact,
            selection=self.selection.labelled(labels),
            n_train=(train.n_x, train.n_y) if self.n_train is None else self.n_train,
            n_test=self.n_test or (tested.n_x, tested.n_y),
            tuning=self.tuning,
            labels=labels,
            seconds=seconds,
            kernel=self.kernel,
            held_out=tested,
            settings=settings.to_dict(),
            train=train,
            scan=None if self.scan is None else self.scan.labelled(labels),
            drawn_from=self.drawn_from,
            rows_per_bin=(self.null if self.scan is None else self.scan).rows_per_bin,
            note=self.null.note,
        )


RUNS: dict[str, Callable[[Samples | ChunkedSamples, TestSettings, Limits, Progress], Found]] = {
    "scan": _run_scan,
    "split": _run_split,
}


def _warn_of_tiny_halves(samples: Samples, held_out: Samples, settings: TestSettings) -> None:
    if held_out.design is not None:
        warn_of_few_units(held_out.design, settings.n_permutations, settings.alpha)
        return
    least = least_binned_pvalue(samples.n_x, samples.n_y, settings.n_permutations)
    remedy = ""
    if least <= settings.alpha:
        remedy = f"method='scan', which tests with all rows (p-values down to {least:.3g})"
    warn_of_few_rows(
        held_out.n_x,
        held_out.n_y,
        settings.n_permutations,
        settings.alpha,
        held_out=True,
        remedy=remedy,
    )
