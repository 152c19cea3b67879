"""The certified selection that follows a scan: what was found decides kernel and number.

The p-value is that of the scan and does not depend on any of this.
"""

from __future__ import annotations

import numpy as np

from tellapart.data.samples import Samples
from tellapart.kernels import Gaussian, Kernel, Linear
from tellapart.progress import Progress
from tellapart.scan.scan import Scan
from tellapart.search.choice import resolve_solver
from tellapart.selection.choose import choose
from tellapart.selection.closed_form import choose_nonnegative
from tellapart.selection.pipeline import Chosen
from tellapart.selection.tuning import MIDDLE_REGULARIZATION, Tuning
from tellapart.testing.settings import AUTO, TestSettings

# Variables at most where the number is left open and many were found.
MOST_VARIABLES = 10


def choose_after(
    scan: Scan,
    samples: Samples,
    settings: TestSettings,
    rng: np.random.Generator,
    n_jobs: int,
    progress: Progress,
) -> Chosen:
    """Choose the variables on all rows, by the kernel and in the number that the scan suggests.

    λ is 0 where a choice without it can be proved best, else 1, unless the settings give it.
    """
    kernel = settings.fittable
    # Whoever names a solver means the problems it solves: those of the linear kernel.
    if settings.kernel == AUTO and settings.solver == AUTO:
        kernel = suggested_kernel(scan)
    abilities = kernel.abilities
    solvers = resolve_solver(settings.solver, abilities)
    number = settings.n_variables
    if number is None:
        number = min(suggested_number(scan, linear=abilities.closed_form), samples.n_columns)
    regularization = settings.fixed_regularization
    if regularization is None:
        regularization = 0.0 if abilities.exact_unregularized else MIDDLE_REGULARIZATION
    fitted = kernel.fit(samples, n_jobs=n_jobs)
    tuning = Tuning(number, regularization)
    if abilities.closed_form and regularization == 0 and settings.solver == AUTO:
        selection = choose_nonnegative(samples, fitted, number, n_jobs)
        return Chosen(tuning, fitted, selection)
    selection = choose(
        samples,
        fitted,
        n_variables=number,
        regularization=regularization,
        solvers=solvers,
        rng=rng,
        gap=settings.gap,
        time_limit=settings.time_limit,
        n_jobs=settings.threads,
        progress=progress,
        estimator=settings.estimator,
        known=(*scan.pairs, *scan.triples),
    )
    return Chosen(tuning, fitted, selection)


def suggested_kernel(scan: Scan) -> Kernel:
    """Return the kernel that sees what was found.

    Linear where single columns carry the difference, or nothing was named; Gaussian where only
    dependence does. The quadratic kernel sees correlations, too, but prefers columns with heavy
    tails to correlated ones.
    """
    if scan.columns or not (scan.pairs or scan.triples):
        return Linear()
    return Gaussian()


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
