"""The certified selection that follows a scan, made on all rows.

The p-value is that of the scan and does not depend on any of this.
"""

from __future__ import annotations

import numpy as np

from tellapart.data.samples import Samples
from tellapart.progress import Progress
from tellapart.scan.scan import Scan
from tellapart.selection.by_evidence import MOST_VARIABLES
from tellapart.selection.choose import choose
from tellapart.selection.closed_form import choose_nonnegative
from tellapart.selection.pipeline import Chosen, weigh_evidence
from tellapart.selection.settings import default_regularization
from tellapart.selection.tuning import Tuning
from tellapart.testing.settings import TestSettings


def choose_after(
    scan: Scan,
    samples: Samples,
    settings: TestSettings,
    rng: np.random.Generator,
    n_jobs: int,
    progress: Progress,
) -> Chosen:
    """Choose the variables on all rows: by evidence, or by the kernel that was asked for.

    With a kernel, λ is 0 where a choice without it can be proved best, else the default of the
    kernel, unless the settings give it, and as many variables as the scan suggests, unless they
    are given.
    """
    if settings.by_evidence:
        return weigh_evidence(samples, settings, rng=rng, progress=progress, n_jobs=n_jobs)
    kernel = settings.fittable
    abilities = kernel.abilities
    number = settings.n_variables
    if number is None:
        number = min(suggested_number(scan, linear=abilities.closed_form), samples.n_columns)
    regularization = settings.fixed_regularization
    if regularization is None:
        exact = abilities.exact_unregularized
        regularization = 0.0 if exact else default_regularization(abilities)
    fitted = kernel.fit(samples, n_jobs=n_jobs)
    tuning = Tuning(number, regularization)
    closed = abilities.closed_form and regularization == 0 and settings.nonnegative
    if closed and settings.solver == "auto":
        return Chosen(tuning, fitted, choose_nonnegative(samples, fitted, number, n_jobs))
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
    )
    return Chosen(tuning, fitted, selection)


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
