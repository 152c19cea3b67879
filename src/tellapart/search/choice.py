"""The choice of variables under a kernel other than the linear one, and what is proved of it.

For the quadratic kernel MMD²(z) = zᵀ𝒜z + 2c αᵀz exactly. With λ = 0 the choice is one sparse trust
region problem, solved with a certificate; with λ > 0 its optimum is still an upper bound, since
σ² ≥ 0 and so F ≤ MMD². For other kernels nothing is proved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.search.annealing import Trace
from tellapart.search.solver import Annealing
from tellapart.search.starts import Start
from tellapart.statistics.objective import Objective
from tellapart.strs import Solver, solve
from tellapart.strs.control import Control
from tellapart.strs.problem import SparseTrustRegion
from tellapart.strs.solution import Solution, Status

SEARCH = "annealing"


@dataclass(frozen=True)
class Choice:
    """A point, its value, and what is proved about it; as `tellapart.strs.Solution` has it.

    `history` tells how the annealed runs went; it is empty where none was needed.
    """

    z: FloatArray
    value: float
    upper_bound: float | None
    status: Status
    solver: str
    seconds: float
    history: tuple[Trace, ...] = ()


def choose_weights(
    objective: Objective,
    n_variables: int,
    *,
    solver: str | Solver | Annealing,
    control: Control,
    n_jobs: int = 1,
) -> Choice:
    """Return good weights of at most `n_variables` variables.

    Parameters
    ----------
    objective : Objective
        F, of a kernel other than the linear one.
    n_variables : int
        d.
    solver : str, Solver or Annealing
        "auto", "annealing" or settings of it. For the quadratic kernel also a solver of sparse
        trust region problems, which then solves the problem at λ = 0.
    control : Control
        Gap, time, randomness, progress.
    n_jobs : int
        Threads over the starts of the search.
    """
    search = solver if isinstance(solver, Annealing) else Annealing()
    form = None if search.bound_seconds == 0 else objective.quadratic_form()
    if form is None:
        return _searched(objective, n_variables, search, control, n_jobs)
    problem = SparseTrustRegion(*form, n_variables)
    exact = "auto" if solver == SEARCH or isinstance(solver, Annealing) else solver
    if objective.regularization == 0 and solver != SEARCH and not isinstance(solver, Annealing):
        found = _solved(problem, exact, control, control.time_limit)
        return Choice(
            found.z, found.value, found.upper_bound, found.status, found.solver, control.elapsed
        )
    limit = search.bound_seconds
    if control.time_limit is not None:
        limit = min(limit, control.time_limit / 4)
    free = _solved(problem, exact, control, limit)
    start = Start("λ = 0", free.z)
    choice = _searched(objective, n_variables, search, control, n_jobs, (start,))
    if free.upper_bound is None:
        return choice
    bound = max(free.upper_bound, choice.value)
    return replace(choice, upper_bound=bound, status=control.status(choice.value, bound))


def _searched(
    objective: Objective,
    n_variables: int,
    search: Annealing,
    control: Control,
    n_jobs: int,
    known: tuple[Start, ...] = (),
) -> Choice:
    found = search.search(objective, n_variables, control, n_jobs=n_jobs, known=known)
    status = control.status(found.value, None)
    return Choice(found.z, found.value, None, status, search.name, control.elapsed, found.traces)


def _solved(
    problem: SparseTrustRegion, solver: str | Solver, control: Control, limit: float | None
) -> Solution:
    return solve(
        problem,
        solver=solver,
        gap=control.gap,
        time_limit=limit,
        random_state=np.random.default_rng(control.rng.integers(2**63)),
        progress=control.progress,
    )
