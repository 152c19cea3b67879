"""Tune, fit, choose: the one way from samples to a selection."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tellapart.data.samples import Samples
from tellapart.kernels.bandwidth import with_multiplier
from tellapart.progress import Progress
from tellapart.selection.by_evidence import LEAST_SECONDS, weigh_evidence
from tellapart.selection.choose import choose, sum_over_chunks
from tellapart.selection.settings import SelectionSettings
from tellapart.selection.tuning import Chosen, Prepared, tune
from tellapart.strs.contract import Control

TUNING_SHARE = 0.5
"""Of a time limit, what tuning may take: the choice gets the rest."""


def tune_fit_choose(
    samples: Samples,
    settings: SelectionSettings,
    *,
    tune_rng: np.random.Generator,
    solve_rng: np.random.Generator,
    progress: Progress,
) -> Chosen:
    """Tune what the settings leave open, fit the kernel on the pooled rows, choose the variables.

    Parameters
    ----------
    samples : Samples
        The rows to choose by. Of chunks, drawn rows tune, and the linear kernel chooses by all
        rows; other kernels choose by those drawn, and so does evidence.
    settings : SelectionSettings
        The checked settings.
    tune_rng, solve_rng : numpy Generator
        One for each step, so that how much randomness one uses does not move the other.
    progress : callable
        Called with the progress of the work.
    """
    held = samples.held
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
    if (held.n_x, held.n_y) != samples.n_values:
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
        tuning.n_variables,
        tuning.regularization,
        settings,
        rng=solve_rng,
        time_limit=None if left is None else max(left, LEAST_SECONDS),
        progress=progress,
        coefficients=coefficients,
    )
    if drawn_rows is not None:
        selection = replace(selection, drawn_rows=selection.drawn_rows or drawn_rows)
    return Chosen(tuning, fitted, selection)


def _share_of_tuning(time_limit: float | None) -> float | None:
    return None if time_limit is None else TUNING_SHARE * time_limit
