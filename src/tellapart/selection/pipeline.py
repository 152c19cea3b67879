"""Tune, fit, choose: the one way from samples to a selection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.evidence.evidence import gather_evidence
from tellapart.kernels import FittedKernel, Linear, resolve_kernel
from tellapart.kernels.tuned import with_multiplier
from tellapart.progress import Progress, solver_progress
from tellapart.search.choice import PROOF_SECONDS
from tellapart.selection.by_evidence import (
    MOST_VARIABLES,
    enough_variables,
    select_by_evidence,
)
from tellapart.selection.choose import choose, varying_columns
from tellapart.selection.selection import Selection
from tellapart.selection.settings import SelectionSettings
from tellapart.selection.tuning import Tuning, tune
from tellapart.strs.control import Control


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
    if settings.by_evidence:
        return weigh_evidence(samples, settings, rng=solve_rng, progress=progress)
    kernel, threads = settings.fittable, settings.threads
    tuning = tune(
        samples,
        kernel,
        n_variables=settings.n_variables,
        regularization=settings.fixed_regularization,
        rng=tune_rng,
        n_jobs=threads,
        progress=progress,
        nonnegative=settings.nonnegative,
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
        nonnegative=settings.nonnegative,
        objective=settings.kernel_objective,
    )
    return Chosen(tuning, fitted, selection)


def weigh_evidence(
    samples: Samples,
    settings: SelectionSettings,
    *,
    rng: np.random.Generator,
    progress: Progress,
    n_jobs: int | None = None,
) -> Chosen:
    """Choose by evidence; where the number of variables is open, as few as carry nearly all.

    The kernel has no part in the choice. It is what the samples are shown by: the linear one, or
    the Gaussian one where variables were chosen for how they depend on each other.
    """
    threads = settings.threads if n_jobs is None else n_jobs
    progress("select", "weighing the evidence")
    linear = Linear().fit(samples, n_jobs=threads)
    varying_columns(samples, linear)
    number = settings.n_variables
    evidence = gather_evidence(samples, number or MOST_VARIABLES, rng=rng, n_jobs=threads)
    if evidence.n_columns == 0:
        raise InputError(
            f"X and Y must have a column that varies in the {sum(evidence.n_rows):,} rows that "
            "evidence is drawn from; got none: rare values need kernel='linear', which takes all"
        )
    limit = PROOF_SECONDS if settings.time_limit is None else settings.time_limit
    control = Control(
        gap=settings.gap,
        time_limit=limit,
        rng=rng,
        progress=solver_progress(progress, "select"),
    )
    if number is None:
        number = enough_variables(evidence, control)
    selection = select_by_evidence(
        samples,
        evidence,
        number,
        constant=[samples.names[s] for s in np.flatnonzero(linear.constant)],
        control=control,
    )
    kernel = linear
    if selection.kernel != linear.name:
        kernel = resolve_kernel(selection.kernel).fit(samples, n_jobs=threads)
    return Chosen(Tuning(number, 0.0), kernel, selection)
