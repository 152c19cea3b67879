"""The choice itself: checked samples and a fitted kernel in, Selection out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tellapart.arrays import BoolArray, IntArray
from tellapart.data.canonical_order import canonical_order, in_order
from tellapart.data.samples import Samples
from tellapart.errors import ConstantColumnWarning, InputError, warn_caller
from tellapart.kernels import FittedKernel
from tellapart.progress import Progress, silent, solver_progress
from tellapart.search.choice import Solvers, choose_weights
from tellapart.search.starts import Start, equal
from tellapart.selection.selection import REGULARIZED, Selection
from tellapart.statistics.coefficients import LinearCoefficients
from tellapart.strs.control import Control

NAMES_SHOWN = 10


def choose(
    samples: Samples,
    kernel: FittedKernel,
    *,
    n_variables: int,
    regularization: float,
    solvers: Solvers,
    rng: np.random.Generator,
    gap: float = 1e-4,
    time_limit: float | None = None,
    n_jobs: int = 1,
    progress: Progress = silent,
    estimator: str = "unbiased",
    known: Sequence[tuple[int, ...]] = (),
    nonnegative: bool = False,
    objective: str = REGULARIZED,
    coefficients: LinearCoefficients | None = None,
) -> Selection:
    """Choose variables of checked samples with a fitted kernel; see `tellapart.select_variables`.

    Columns that `kernel` found constant are left out of the problem and named in a warning.
    `known` are groups of columns to search from, beside those that the data suggest; `objective`
    is "regularized" or "ratio", see `tellapart.selection.selection.Selection`. `coefficients` are
    those of the columns that vary, where they are known already.
    """
    progress("select", "computing coefficients")
    keep = varying_columns(samples, kernel)
    part = samples.columns(keep)
    # A search draws rows and starts: by content, so that the order of the table says nothing.
    order = None if kernel.abilities.exact else canonical_order(part, n_jobs)
    if order is not None:
        keep = keep[order.columns]
        part = in_order(part, order).columns(order.columns)
    found = choose_weights(
        part,
        kernel.columns(keep),
        min(n_variables, keep.size),
        regularization,
        solvers=solvers,
        control=Control(
            gap=gap, time_limit=time_limit, rng=rng, progress=solver_progress(progress, "select")
        ),
        n_jobs=n_jobs,
        estimator=estimator,
        known=_starts(known, keep, n_variables),
        nonnegative=nonnegative,
        objective=objective,
        coefficients=coefficients,
    )
    z = np.zeros(samples.n_columns)
    z[keep] = found.z
    drawn_rows = found.drawn_rows
    if order is not None and order.swapped and drawn_rows is not None:
        drawn_rows = drawn_rows[1], drawn_rows[0]
    return Selection(
        support=np.flatnonzero(z),
        z=z,
        value=found.value,
        upper_bound=found.upper_bound,
        status=found.status,
        solver=found.solver,
        seconds=found.seconds,
        kernel=kernel.name,
        names=samples.names,
        regularization=regularization,
        constant=tuple(samples.names[s] for s in np.flatnonzero(kernel.constant)),
        history=found.history,
        nonnegative=nonnegative,
        objective=objective,
        n_variables=n_variables,
        drawn_rows=drawn_rows,
        n_features=found.n_features,
    )


def _starts(
    groups: Sequence[tuple[int, ...]], keep: IntArray, n_variables: int
) -> tuple[Start, ...]:
    """Return equal weights on each group of columns that all vary and are not too many."""
    starts = []
    for group in groups:
        places = np.flatnonzero(np.isin(keep, group))
        if 0 < places.size == len(group) <= n_variables:
            starts.append(Start(f"found {len(group)}", equal(places, keep.size)))
    return tuple(starts)


def varying_columns(samples: Samples, kernel: FittedKernel, *, warn: bool = True) -> IntArray:
    """Return the columns that vary; warn of the others, and raise if none is left."""
    return check_varying(samples, kernel.constant, warn=warn)


def check_varying(samples: Samples, constant: BoolArray, *, warn: bool = True) -> IntArray:
    """Return the columns that are not constant; warn of the others, and raise if none is left."""
    keep = np.flatnonzero(~constant)
    if keep.size == 0:
        raise InputError(
            f"X and Y must have a column that varies; all {samples.n_columns} are constant "
            "in the rows that variables are chosen from"
        )
    names = [samples.names[s] for s in np.flatnonzero(constant)]
    if names and warn:
        shown = ", ".join(map(repr, names[:NAMES_SHOWN]))
        more = len(names) - NAMES_SHOWN
        rest = f" and {more} more" if more > 0 else ""
        warn_caller(
            f"constant columns get weight 0: {shown}{rest}",
            ConstantColumnWarning,
        )
    return keep
