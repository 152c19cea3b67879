"""The two methods of a test, from checked samples to an answer: a scan, or a split."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tellapart.arguments import check_random_state, with_checked
from tellapart.arrays import IntArray
from tellapart.budget import Budget, current_budget, using_budget
from tellapart.data.row_draws import Holdout
from tellapart.data.row_order import drawn_by_content, split_by_content
from tellapart.data.samples import Samples
from tellapart.evidence.evidence import judged_by_draw
from tellapart.kernels import FittedKernel
from tellapart.permutation.mmd import permutation_test, permutation_test_in_chunks
from tellapart.permutation.pvalues import (
    PermutationNull,
    attainable_pvalue,
    warn_of_few_permutations,
)
from tellapart.progress import Progress, Stage
from tellapart.results.columns_table import ColumnsSource, describe_columns
from tellapart.results.result import TestResult
from tellapart.results.without_named import RowsAtHand
from tellapart.scan.scan import Scan, ScanCost, scan
from tellapart.selection.by_evidence import MOST_VARIABLES, weigh_evidence
from tellapart.selection.changes import ScanFindings, with_changes
from tellapart.selection.choose import choose, choose_nonnegative, sum_over_chunks, sums_add_up
from tellapart.selection.pipeline import tune_fit_choose
from tellapart.selection.selection import Selection
from tellapart.selection.settings import default_regularization
from tellapart.selection.tuning import Chosen, Tuning
from tellapart.threads import blas_threads
from tellapart.two_sample.settings import Limits, TestSettings

SPLIT_PASSES = 6
"""What a split of chunks takes, in multiples of reading them once: two passes select, one tests."""


@dataclass(frozen=True)
class Outcome:
    """What the steps of a test gave: `n_train` rows selected and no more, `n_test` tested."""

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
    chunks: Samples | None = None

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
            table=None
            if self.chunks is None
            else ColumnsSource(partial(describe_columns, self.chunks)),
            rows=None if self.chunks is None else RowsAtHand(self.chunks),
        )


def step_seeds(settings: TestSettings) -> IntArray:
    """Return one seed per step, so that no step depends on how much randomness another uses.

    The steps are drawing rows, tuning, solving and permuting. A Generator gives other seeds at
    every call.
    """
    return check_random_state(settings.random_state).integers(2**63, size=4)


def _run_scan(
    samples: Samples, settings: TestSettings, limits: Limits, progress: Progress
) -> Outcome:
    """Test all rows for every kind of difference, then select variables on all rows."""
    draw_seed, _, solve_seed, permute_seed = map(int, step_seeds(settings))
    warn_of_few_permutations(samples, settings.n_permutations, settings.alpha)
    n_jobs = blas_threads() if settings.n_jobs is None else settings.threads
    all_rows = samples.n_read
    cost = ScanCost(*all_rows, samples.n_columns, settings.n_permutations)
    n_scanned = limits.rows_for_scan(cost, n_jobs)
    if samples.design is not None and samples.design.adjustment is not None:
        most = current_budget().adjusted_rows
        if n_scanned is None and sum(all_rows) > most:
            n_scanned = max(most - min(all_rows), most // 2)
    if n_scanned is not None:
        samples = samples.draw(n_scanned, np.random.default_rng(draw_seed))
    rows = replace(samples, seed=draw_seed)
    started = limits.clock()
    scanned = scan(
        rows,
        n_permutations=settings.n_permutations,
        alpha=settings.alpha,
        rng=np.random.default_rng(permute_seed),
        n_jobs=n_jobs,
        progress=progress,
        effort=limits.effort,
        keep_state=settings.by_evidence,
        families=settings.families,
        rate=settings.rate,
        keep_candidates=limits.joint,
        settle=limits.settle and limits.time_limit is None,
        smallest=settings.smallest,
    )
    # Samples in chunks are selected on, and shown, by the rows drawn while they were read; samples
    # in memory are selected on by drawn rows only where evidence would draw some anyway.
    shown = selected_on = samples.held
    if settings.by_evidence and judged_by_draw(samples):
        selected_on = rows.drawn
    with proof_after_scan(limits.clock() - started):
        chosen = select_after_scan(
            scanned,
            selected_on,
            with_checked(settings, time_limit=limits.remaining),
            np.random.default_rng(solve_seed),
            n_jobs,
            progress,
            chunks=rows,
            effort=limits.effort,
        )
    outcome = scan_outcome(scanned, chosen, rows, selected_on, shown, settings.alpha)
    return replace(
        outcome,
        drawn_from=None if n_scanned is None else all_rows,
        chunks=None if samples.all_rows is None else samples,
    )


def proof_after_scan(seconds: float) -> AbstractContextManager[Budget]:
    """Let a proof without a time limit take as long as the scan before it took, or a second."""
    budget = current_budget()
    return using_budget(replace(budget, proof_seconds=max(budget.least_proof_seconds, seconds)))


def scan_outcome(
    scanned: Scan,
    chosen: Chosen,
    rows: Samples,
    selected_on: Samples,
    shown: Samples,
    alpha: float,
) -> Outcome:
    """Return the outcome of a scan of all `rows` and of the selection after it."""
    named = ScanFindings(scanned.findings, scanned.variable_pvalues, alpha)
    return Outcome(
        scanned.null,
        with_changes(chosen.selection, rows, scanned=named),
        chosen.tuning,
        chosen.kernel,
        selected_on,
        shown,
        scanned,
        n_train=(0, 0),
        n_test=rows.n_values,
    )


def select_after_scan(
    scan: Scan,
    samples: Samples,
    settings: TestSettings,
    rng: np.random.Generator,
    n_jobs: int,
    progress: Progress,
    *,
    chunks: Samples,
    effort: float = 1.0,
) -> Chosen:
    """Select variables on all rows: by evidence, or by the kernel of the settings.

    The p-value is that of the scan and does not depend on this selection.

    `chunks` are all the rows, of which `samples` may hold some, drawn at random. Where rows are
    many, the linear kernel's coefficients are summed over the chunks. Other kernels select on the
    rows of `samples`, and evidence judges single columns by all rows all the same.

    With a kernel, λ is 0 where the optimum can then be proved, else the default of the kernel,
    unless the settings give it, and as many variables are selected as the scan suggests, unless
    the settings say how many. `effort` is the share of the usual work, for one test of many.
    """
    drawn = (samples.n_x, samples.n_y) != chunks.n_values
    if settings.by_evidence:
        reuses_scan = scan.by_design or drawn or judged_by_draw(samples)
        return weigh_evidence(
            samples,
            settings,
            rng=rng,
            progress=progress,
            n_jobs=n_jobs,
            differences=scan.differences if reuses_scan else None,
            effort=effort,
            state=scan.state,
            local=scan.local,
        )
    kernel = settings.fittable
    abilities = kernel.abilities
    n_variables = settings.n_variables
    if n_variables is None:
        suggested = suggested_n_variables(scan, linear=abilities.closed_form)
        n_variables = min(suggested, samples.n_columns)
    regularization = settings.fixed_regularization
    if regularization is None:
        exact = abilities.exact_unregularized
        regularization = 0.0 if exact else default_regularization(abilities)
    unregularized = regularization == 0 and settings.nonnegative and settings.solver == "auto"
    closed_form = abilities.closed_form and unregularized
    sums = None
    if not chunks.all_drawn and settings.estimator == "unbiased":
        sums = sum_over_chunks(
            chunks, kernel, n_jobs=n_jobs, progress=progress, with_variance=not closed_form
        )
    if sums is None:
        fitted, coefficients = kernel.fit(samples, n_jobs=n_jobs), None
    else:
        fitted, coefficients, drawn = sums.kernel, sums.coefficients, False
    if closed_form:
        selection = choose_nonnegative(samples, fitted, n_variables, n_jobs, coefficients)
    else:
        selection = choose(
            samples,
            fitted,
            n_variables,
            regularization,
            settings,
            rng=rng,
            time_limit=settings.time_limit,
            progress=progress,
            groups=(*scan.pairs, *scan.triples),
            coefficients=coefficients,
        )
    if drawn:
        selection = replace(selection, drawn_rows=(samples.n_x, samples.n_y))
    return Chosen(Tuning(n_variables, regularization), fitted, selection)


def suggested_n_variables(scan: Scan, *, linear: bool) -> int:
    """Return how many variables the findings of a scan are about, ten at most."""
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


def _run_split(
    samples: Samples, settings: TestSettings, limits: Limits, progress: Progress
) -> Outcome:
    """Select variables on one part of the rows, test on the other."""
    draw_seed, *seeds, permute_seed = map(int, step_seeds(settings))
    drawn_from = None
    if samples.all_rows is not None:
        if _can_split_chunks(samples, settings, limits):
            return _split_chunks(samples, settings, limits, progress)
        all_rows, most = samples.n_read, _rows_for_split(samples.n_columns, limits)
        samples = samples.draw(most, np.random.default_rng(draw_seed))
        drawn_from = None if (samples.n_x, samples.n_y) == all_rows else all_rows
    # The split is uniform and independent of the values, so the holdout is independent of the
    # selection; and permutations may be drawn in any order of the rows. Rows ordered by content
    # make both the same whatever the order of the table, and whichever sample comes first.
    train, held_out = split_by_content(
        samples, settings.test_size, np.random.default_rng(draw_seed)
    )
    _warn_of_few_held_out(samples, held_out, settings)
    chosen = _select_on(train, settings, limits, seeds, progress)
    progress("test", f"{settings.n_permutations} permutations")
    testing = Stage("test")
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
    testing.done(f"{rows.described_size}, {settings.n_permutations:,} permutations")
    selection = with_changes(
        chosen.selection,
        held_out,
        train=train,
        joint=not chosen.kernel.abilities.short_features,
    )
    return Outcome(
        null,
        selection,
        chosen.tuning,
        chosen.kernel,
        train,
        held_out,
        drawn_from=drawn_from,
    )


def _select_on(
    train: Samples,
    settings: TestSettings,
    limits: Limits,
    seeds: Sequence[int],
    progress: Progress,
) -> Chosen:
    """Tune, fit the kernel and select variables on the training rows."""
    tune_rng, solve_rng = map(np.random.default_rng, seeds)
    return tune_fit_choose(
        train,
        with_checked(settings, time_limit=limits.remaining),
        tune_rng=tune_rng,
        solve_rng=solve_rng,
        progress=progress,
    )


def _can_split_chunks(samples: Samples, settings: TestSettings, limits: Limits) -> bool:
    """Return whether all rows of chunks can select and test: by sums over chunks, and in time."""
    usual = settings.estimator == "unbiased" and not samples.all_drawn
    return usual and limits.leaves(SPLIT_PASSES) and sums_add_up(samples, settings.fittable)


def _split_chunks(
    samples: Samples, settings: TestSettings, limits: Limits, progress: Progress
) -> Outcome:
    """Select on one part of the rows of chunks, test on the other, and hold neither in memory."""
    draw_seed, *seeds, permute_seed = map(int, step_seeds(settings))
    holdout = Holdout.of(samples, settings.test_size, draw_seed)
    train, held_out = (holdout.part(samples, held_out=out) for out in (False, True))
    chosen = _select_on(train, settings, limits, seeds, progress)
    null = permutation_test_in_chunks(
        samples,
        holdout,
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
        held_out.held,
        train=train.held,
        joint=False,
    )
    return Outcome(
        null,
        selection,
        chosen.tuning,
        chosen.kernel,
        train.held,
        held_out.held,
        n_train=train.n_read,
        n_test=held_out.n_read,
        chunks=held_out,
    )


def _rows_for_split(n_columns: int, limits: Limits) -> int:
    """Return how many rows of each sample a split of chunks draws."""
    if limits.memory_budget is None:
        budget = current_budget().split_bytes
    else:
        budget = int(limits.memory_budget)
    # Two samples in double precision, and as much again for their two parts.
    return max(budget // (32 * n_columns), 1_000)


def _warn_of_few_held_out(samples: Samples, held_out: Samples, settings: TestSettings) -> None:
    """Warn where the holdout cannot reach the level, and say where a scan could."""
    least, remedy = attainable_pvalue(samples, settings.n_permutations), ""
    if least <= settings.alpha:
        remedy = f"method='scan', which tests with all rows (p-values down to {least:.3g})"
    warn_of_few_permutations(
        held_out, settings.n_permutations, settings.alpha, held_out=True, remedy=remedy
    )


RUNS: dict[str, Callable[[Samples, TestSettings, Limits, Progress], Outcome]] = {
    "scan": _run_scan,
    "split": _run_split,
}
