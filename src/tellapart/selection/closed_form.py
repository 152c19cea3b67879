"""The best choice of the linear kernel at λ = 0 with weights of at least 0, in closed form."""

from __future__ import annotations

import time

import numpy as np

from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.selection.choose import varying_columns
from tellapart.selection.selection import Selection
from tellapart.statistics.coefficients import linear_part


def choose_nonnegative(
    samples: Samples, kernel: FittedKernel, n_variables: int, n_jobs: int
) -> Selection:
    """Return z ≥ 0 with at most `n_variables` non-zeros that maximises aᵀz: z_s ∝ a_s > 0.

    Columns that `kernel` found constant are left out and named in a warning.
    """
    started = time.perf_counter()
    keep = varying_columns(samples, kernel)
    a = linear_part(samples, kernel, n_jobs)[keep]
    top = np.argsort(-a, kind="stable")[: min(n_variables, keep.size)]
    top = top[: max(np.count_nonzero(a[top] > 0), 1)]
    value, weights = float(a[top[0]]), np.ones(1)
    # Where no a_s is positive, the best is the largest of them alone.
    if value > 0:
        value = float(np.linalg.norm(a[top]))
        weights = a[top] / value
    z = np.zeros(samples.n_columns)
    z[keep[top]] = weights
    return Selection(
        support=np.flatnonzero(z),
        z=z,
        value=value,
        # A sum of n squares is off by less than n units in the last place.
        upper_bound=value + (top.size + 4) * np.finfo(np.float64).eps * abs(value),
        status="optimal",
        solver="closed form",
        seconds=time.perf_counter() - started,
        kernel=kernel.name,
        names=samples.names,
        regularization=0.0,
        constant=tuple(samples.names[s] for s in np.flatnonzero(kernel.constant)),
        nonnegative=True,
    )
