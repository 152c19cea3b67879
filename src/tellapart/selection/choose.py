"""The choice itself: checked samples and a fitted kernel in, Selection out."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from tellapart.arguments import check_choice, check_number
from tellapart.arrays import IntArray
from tellapart.data.samples import Samples
from tellapart.errors import ConstantColumnWarning, InputError
from tellapart.kernels import FittedIndex, FittedKernel, Kernel
from tellapart.progress import Progress, solver_progress
from tellapart.search import Annealing
from tellapart.search.choice import SEARCH, Choice, choose_weights
from tellapart.search.linear import linear_problem
from tellapart.selection.selection import Selection
from tellapart.statistics.coefficients import linear_coefficients
from tellapart.statistics.objective import Objective
from tellapart.strs import SOLVERS, Solver, solve
from tellapart.strs.control import Control
from tellapart.strs.solution import Solution
from tellapart.strs.solve import SMALLEST_GAP

NAMES_SHOWN = 10


def choose(
    samples: Samples,
    kernel: FittedKernel,
    *,
    n_variables: int,
    regularization: float,
    solver: str | Solver | Annealing,
    gap: float,
    time_limit: float | None,
    rng: np.random.Generator,
    n_jobs: int,
    progress: Progress,
    estimator: str = "unbiased",
) -> Selection:
    """Choose variables of checked samples with a fitted kernel; see `tellapart.select_variables`.

    Columns that `kernel` found constant are left out of the problem and named in a warning.
    """
    progress("select", "computing coefficients")
    keep = varying_columns(samples, kernel)
    size = min(n_variables, keep.size)
    tell = solver_progress(progress, "select")
    found: Solution | Choice
    if isinstance(kernel, FittedIndex):
        found = choose_weights(
            Objective.of_fitted(samples.columns(keep), kernel.columns(keep), regularization),
            size,
            solver=solver,
            control=Control(gap=gap, time_limit=time_limit, rng=rng, progress=tell),
            n_jobs=n_jobs,
        )
    else:
        if isinstance(solver, Annealing):
            raise InputError(f"solver must be exact or a heuristic of its kind; got {solver!r}")
        coefficients = linear_coefficients(
            samples.columns(keep), kernel.columns(keep), estimator=estimator, n_jobs=n_jobs
        )
        found = solve(
            linear_problem(coefficients, regularization, size),
            solver=solver,
            gap=gap,
            time_limit=time_limit,
            random_state=rng,
            progress=tell,
        )
    z = np.zeros(samples.n_columns)
    z[keep] = found.z
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
        history=found.history if isinstance(found, Choice) else (),
    )


def check_solver(value: object, kernel: Kernel) -> None:
    """Raise unless `value` is "auto", the name of a solver that serves the kernel, or a solver.

    The solvers of sparse trust region problems serve the linear kernel, and the quadratic one at
    λ = 0; `tellapart.search.Annealing` serves all kernels but the linear one.
    """
    linear = kernel.name == "linear"
    exact = linear or kernel.name == "quadratic"
    if isinstance(value, Annealing):
        fits = not linear
    elif isinstance(value, str | type) or not exact:
        fits = False
    else:
        fits = hasattr(value, "solve") and hasattr(value, "name")
    names = ["auto", *(SOLVERS if exact else ()), *(() if linear else (SEARCH,))]
    if not fits:
        check_choice("solver", value, names)


def check_gap(value: object) -> float:
    """Return the relative gap, at least what floating-point arithmetic can prove."""
    return check_number("gap", value, SMALLEST_GAP, 1.0, open_high=True)


def restrict(kernel: FittedKernel, columns: IntArray) -> FittedKernel:
    """Return the kernel of some columns only."""
    scalars = tuple(kernel.scalars[s] for s in columns)
    return replace(kernel, scalars=scalars, constant=kernel.constant[columns])


def varying_columns(samples: Samples, kernel: FittedKernel, *, warn: bool = True) -> IntArray:
    """Return the columns that vary; warn of the others, and raise if none is left."""
    keep = np.flatnonzero(~kernel.constant)
    if keep.size == 0:
        raise InputError(
            f"X and Y must have a column that varies; all {samples.n_columns} are constant "
            "in the rows that variables are chosen from"
        )
    constant = [samples.names[s] for s in np.flatnonzero(kernel.constant)]
    if constant and warn:
        shown = ", ".join(map(repr, constant[:NAMES_SHOWN]))
        more = len(constant) - NAMES_SHOWN
        rest = f" and {more} more" if more > 0 else ""
        warnings.warn(
            f"constant columns get weight 0: {shown}{rest}",
            ConstantColumnWarning,
            stacklevel=4,
        )
    return keep
