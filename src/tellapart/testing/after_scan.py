"""The certified selection that follows a scan, made on all rows.

The p-value is that of the scan and does not depend on any of this.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tellapart.data.chunks.chunked_samples import ChunkedSamples
from tellapart.data.samples import Samples
from tellapart.evidence.evidence import judged_by_draw
from tellapart.progress import Progress
from tellapart.scan.scan import Scan
from tellapart.selection.by_evidence import MOST_VARIABLES
from tellapart.selection.choose import choose
from tellapart.selection.closed_form import choose_nonnegative
from tellapart.selection.over_chunks import sum_over_chunks
from tellapart.selection.pipeline import Chosen, weigh_evidence
from tellapart.selection.selection import Selection
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
