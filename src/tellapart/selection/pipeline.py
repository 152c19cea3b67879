"""Tune, fit, choose: the one way from samples to a selection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.data.samples import Samples
from tellapart.kernels import FittedKernel
from tellapart.kernels.tuned import with_multiplier
from tellapart.progress import Progress
from tellapart.selection.choose import choose
from tellapart.selection.selection import Selection
from tellapart.selection.settings import SelectionSettings
from tellapart.selection.tuning import Tuning, tune


@dataclass(frozen=True)
class Chosen:
    """What was tuned, the kernel fitted with it, and the selection made with both."""

    tuning: Tuning
    kernel: FittedKernel
    selection: Selection


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
        The rows to choose by.
    settings : SelectionSettings
        What is asked for, checked.
    tune_rng, solve_rng : numpy Generator
        One for each step, so that how much randomness one uses does not move the other.
    progress : callable
        Told how far the work is.
    """
    kernel, threads = settings.fittable, settings.threads
    tuning = tune(
        samples,
        kernel,
        n_variables=settings.n_variables,
        regularization=settings.fixed_regularization,
        rng=tune_rng,
        n_jobs=threads,
        progress=progress,
    )
    fitted = with_multiplier(kernel, tuning.multiplier).fit(samples, n_jobs=threads)
    selection = choose(
        samples,
        fitted,
        n_variables=tuning.n_variables,
        regularization=tuning.regularization,
        solvers=settings.solvers,
        rng=solve_rng,
        gap=settings.gap,
        time_limit=settings.time_limit,
        n_jobs=threads,
        progress=progress,
        estimator=settings.estimator,
    )
    return Chosen(tuning, fitted, selection)
