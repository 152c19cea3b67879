"""The two ways of a test, from checked samples to what was found: a scan, or a split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arguments import check_random_state
from tellapart.arrays import IntArray
from tellapart.data.canonical_order import drawn_by_content, split_by_content
from tellapart.data.chunks.chunked_samples import (
    ChunkedSamples,
    in_chunks,
)
from tellapart.data.chunks.halves import Halves
from tellapart.data.samples import Samples
from tellapart.kernels import FittedKernel
from tellapart.permutation.bins import least_binned_pvalue
from tellapart.permutation.chunked_mmd import permutation_test_in_chunks
from tellapart.permutation.mmd import permutation_test
from tellapart.permutation.nulls import PermutationNull
from tellapart.permutation.reach import warn_of_few_rows, warn_of_few_units
from tellapart.progress import Progress
from tellapart.scan.cost import ScanCost
from tellapart.scan.scan import Scan, scan
from tellapart.selection.changes import Named, with_changes
from tellapart.selection.over_chunks import sums_add_up
from tellapart.selection.pipeline import tune_fit_choose
from tellapart.selection.selection import Selection
from tellapart.selection.tuning import Tuning
from tellapart.testing.after_scan import choose_after, draws_rows
from tellapart.testing.limits import Limits
from tellapart.testing.result import TestResult
from tellapart.testing.settings import TestSettings
from tellapart.threads import blas_threads

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
