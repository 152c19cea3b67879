"""Tune, fit, choose: the one way from samples to a selection."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import BoolArray, IntArray
from tellapart.data.chunks.chunked_samples import ChunkedSamples
from tellapart.data.samples import Samples, extremes_of
from tellapart.errors import InputError
from tellapart.evidence.evidence import gather_evidence
from tellapart.evidence.shared_scores import KnownScores
from tellapart.kernels import FittedKernel, Linear, resolve_kernel
from tellapart.kernels.bandwidth import median_bandwidths
from tellapart.kernels.base import with_multiplier
from tellapart.progress import Progress, solver_progress
from tellapart.scan.differences import Differences
from tellapart.search.choice import PROOF_SECONDS
from tellapart.selection.by_evidence import (
    LEAST_SECONDS,
    MOST_VARIABLES,
    best_of,
    enough_variables,
    select_by_evidence,
)
from tellapart.selection.choose import check_varying, choose, sum_over_chunks
from tellapart.selection.runner_up import find_runner_up
from tellapart.selection.selection import Selection
from tellapart.selection.settings import SelectionSettings
from tellapart.selection.tuning import Prepared, Tuning, tune
from tellapart.strs.control import Control

TUNING_SHARE = 0.5
"""Of a time limit, what tuning may take: the choice gets the rest."""
SHOWN_ROWS = 20_000
"""Rows of each sample that give the kernel by which a choice by evidence is shown."""
MOST_SHOWN = 20_000
"""Columns of which all have a bandwidth in that kernel; of more, those that are chosen."""


@dataclass(frozen=True)
class Chosen:
    """What was tuned, the kernel fitted with it, and the selection made with both."""

    tuning: Tuning
    kernel: FittedKernel
    selection: Selection


def tune_fit_choose(
    samples: Samples | ChunkedSamples,
    settings: SelectionSettings,
    *,
    tune_rng: np.random.Generator,
    solve_rng: np.random.Generator,
    progress: Progress,
) -> Chosen:
    """Tune what the settings leave open, fit the kernel on the pooled rows, choose the variables.

    Parameters
    ----------
    samples : Samples or ChunkedSamples
        The rows to choose by. Of chunks, drawn rows tune, and the linear kernel chooses by all
        rows; other kernels choose by those drawn, and so does evidence.
    settings : SelectionSettings
        What is asked for, checked.
    tune_rng, solve_rng : numpy Generator
        One for each step, so that how much randomness one uses does not move the other.
    progress : callable
        Told how far the work is.
    """
    held = samples.drawn if isinstance(samples, ChunkedSamples) else samples
    if settings.by_evidence:
        return weigh_evidence(held, settings, rng=solve_rng, progress=progress)
    # The limit is that of tuning and choice together.
    control = Control(time_limit=settings.time_limit)
    threads = settings.threads
    prepared = Prepared(held, settings.fittable, threads)
    tuning = tune(
        prepared,
        n_variables=settings.n_variables,
        regularization=settings.fixed_regularization,
        rng=tune_rng,
        progress=progress,
        nonnegative=settings.nonnegative,
        control=replace(control, time_limit=_share_of_tuning(settings.time_limit)),
    )
    fitted, coefficients, drawn_rows = None, None, None
    usual = settings.estimator == "unbiased"
    if isinstance(samples, ChunkedSamples) and not samples.all_drawn:
        drawn_rows = held.n_x, held.n_y
        if tuning.scored:
            tuning = replace(tuning, drawn_rows=drawn_rows)
        kernel = with_multiplier(settings.fittable, tuning.multiplier)
        summed = None
        if usual:
            summed = sum_over_chunks(samples, kernel, n_jobs=threads, progress=progress)
        if summed is not None:
            fitted, coefficients, drawn_rows = summed.kernel, summed.coefficients, None
    if fitted is None:
        fitted = prepared.fitted(tuning.multiplier)
        coefficients = prepared.known(tuning.multiplier) if usual else None
    left = control.remaining
    selection = choose(
        held,
        fitted,
        n_variables=tuning.n_variables,
        regularization=tuning.regularization,
        solvers=settings.solvers,
        rng=solve_rng,
        gap=settings.gap,
        time_limit=None if left is None else max(left, LEAST_SECONDS),
        n_jobs=threads,
        progress=progress,
        estimator=settings.estimator,
        nonnegative=settings.nonnegative,
        objective=settings.kernel_objective,
        coefficients=coefficients,
    )
    if drawn_rows is not None:
        selection = replace(selection, drawn_rows=selection.drawn_rows or drawn_rows)
    return Chosen(tuning, fitted, selection)


def _share_of_tuning(time_limit: float | None) -> float | None:
    return None if time_limit is None else TUNING_SHARE * time_limit


def weigh_evidence(
    samples: Samples,
    settings: SelectionSettings,
    *,
    rng: np.random.Generator,
    progress: Progress,
    n_jobs: int | None = None,
    differences: Differences | None = None,
    effort: float = 1.0,
    known: KnownScores | None = None,
) -> Chosen:
    """Choose by evidence; where the number of variables is open, as few as carry nearly all.

    The kernel has no part in the choice. It is what the samples are shown by: the linear one, or
    the Gaussian one where variables were chosen for how they depend on each other, with bandwidths
    from `SHOWN_ROWS` rows of each sample at most. `differences` are those over all rows, where the
    samples are rows drawn from them, or evidence draws some. `effort` is the share of the usual
    candidates, for one choice of many. Where many choices share all rows, `known` are their scores.
    Then, and of more than `MOST_SHOWN` columns, the kernel has the bandwidths of the chosen
    variables: no others are shown.
    """
    threads = settings.threads if n_jobs is None else n_jobs
    progress("select", "weighing the evidence")
    shown = samples.draw(SHOWN_ROWS, rng)
    linear: FittedKernel | None = None
    if known is not None:
        constant = known.constant
    elif samples.n_columns > MOST_SHOWN:
        constant = _constant(shown)
    else:
        linear = Linear().fit(shown, n_jobs=threads)
        constant = linear.constant
    check_varying(samples, constant)
    number = settings.n_variables
    all_rows = samples.n_x, samples.n_y
    drawn_before = differences is not None and not differences.by_design
    evidence = gather_evidence(
        samples,
        number or MOST_VARIABLES,
        rng=rng,
        n_jobs=threads,
        differences=differences,
        effort=effort,
        known=known,
    )
    if evidence.n_columns == 0:
        raise InputError(
            f"X and Y must have a column that varies in the {sum(evidence.n_rows):,} rows that "
            "evidence is drawn from; got none: rare values need kernel='linear', which takes all"
        )
    control = Control(
        gap=settings.gap,
        time_limit=settings.time_limit,
        rng=rng,
        progress=solver_progress(progress, "select"),
    )
    if number is None:
        number = enough_variables(evidence, control)
    if control.time_limit is None:
        # Proofs end by the clock, the number of variables does not depend on it: a slow machine,
        # or one that compiles for the first time, selects as many.
        control = replace(control, time_limit=control.elapsed + PROOF_SECONDS)
    best, runner_up = best_of(evidence, min(number, evidence.n_columns), control), None
    if effort == 1.0:
        best, runner_up = find_runner_up(samples.names, evidence, best, number)
    selection = select_by_evidence(
        samples,
        evidence,
        best,
        number,
        constant=[samples.names[s] for s in np.flatnonzero(constant)],
        control=control,
        drawn=differences is not None and (drawn_before or evidence.n_rows != all_rows),
    )
    selection = replace(selection, runner_up=runner_up)
    if selection.kernel != Linear.name:
        kernel = resolve_kernel(selection.kernel).fit(shown, n_jobs=threads)
    else:
        kernel = linear or _fitted_to(shown, selection.support, constant)
    return Chosen(Tuning(number, 0.0), kernel, selection)


def _constant(samples: Samples) -> BoolArray:
    """Return which columns never vary."""
    (low_x, high_x), (low_y, high_y) = extremes_of(samples.x), extremes_of(samples.y)
    return np.asarray(np.minimum(low_x, low_y) == np.maximum(high_x, high_y))


def _fitted_to(samples: Samples, support: IntArray, constant: BoolArray) -> FittedKernel:
    """Return the linear kernel with the bandwidths of some columns, and 1 for the others."""
    bandwidths = np.ones(samples.n_columns)
    bandwidths[support], _ = median_bandwidths(samples.columns(support))
    return Linear().with_bandwidths(samples.kinds, bandwidths, constant)
