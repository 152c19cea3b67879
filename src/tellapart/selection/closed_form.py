"""The best choice of the linear kernel at λ = 0 with weights of at least 0, in closed form."""

from __future__ import annotations

import math
import time

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.selection.choose import varying_columns
from tellapart.selection.selection import Selection
from tellapart.statistics.coefficients import LinearCoefficients, linear_part


def best_linear_weights(a: FloatArray, n_variables: int, nonnegative: bool = True) -> FloatArray:
    """Return z of length 1 with at most `n_variables` non-zeros that maximises aᵀz: z ∝ a on top.

    With z ≥ 0 only positive a_s count; where none is, the largest of them alone is the best.

    Examples
    --------
    >>> import numpy as np
    >>> best_linear_weights(np.array([3.0, -9.0, 4.0, 1.0]), 2).tolist()
    [0.6, 0.0, 0.8, 0.0]
    """
    gains = a if nonnegative else np.abs(a)
    top = np.argsort(-gains, kind="stable")[:n_variables]
    if nonnegative:
        top = top[: max(np.count_nonzero(a[top] > 0), 1)]
    z = np.zeros(a.shape[0])
    length = float(np.linalg.norm(a[top]))
    if length > 0 and gains[top[0]] > 0:
        z[top] = a[top] / length
    else:
        z[top] = 1.0 / math.sqrt(top.size)
    return z


def choose_nonnegative(
    samples: Samples,
    kernel: FittedKernel,
    n_variables: int,
    n_jobs: int,
    coefficients: LinearCoefficients | None = None,
) -> Selection:
    """Return z ≥ 0 with at most `n_variables` non-zeros that maximises aᵀz: z_s ∝ a_s > 0.

    Columns that `kernel` found constant are left out and named in a warning. `coefficients` are
    those of the others, where they are known already.
    """
    started = time.perf_counter()
    keep = varying_columns(samples, kernel)
    a = linear_part(samples, kernel, n_jobs)[keep] if coefficients is None else coefficients.a
    weights = best_linear_weights(a, min(n_variables, keep.size))
    value = float(a @ weights)
    z = np.zeros(samples.n_columns)
    z[keep] = weights
    return Selection(
        support=np.flatnonzero(z),
        z=z,
        value=value,
        # A sum of n squares is off by less than n units in the last place.
        upper_bound=value + (keep.size + 4) * np.finfo(np.float64).eps * abs(value),
        status="optimal",
        solver="closed form",
        seconds=time.perf_counter() - started,
        kernel=kernel.name,
        names=samples.names,
        regularization=0.0,
        constant=tuple(samples.names[s] for s in np.flatnonzero(kernel.constant)),
        nonnegative=True,
        n_variables=n_variables,
    )
