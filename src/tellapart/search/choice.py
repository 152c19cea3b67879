"""The choice of variables under any kernel, and what is proved of it.

For the linear kernel F itself is a sparse trust region problem, solved with a certificate. For the
quadratic kernel MMD²(z) = zᵀ𝒜z + 2c αᵀz exactly: with λ = 0 the choice is one such problem; with
λ > 0 its optimum is still an upper bound, since σ² ≥ 0 and so F ≤ MMD². For few columns and d ≤ 3
branch and bound over supports and weights proves the choice of the quadratic and the Gaussian
kernel at every λ (`tellapart.search.certificate`); for other kernels nothing is proved. The linear
kernel's weights may be chosen by the ratio aᵀz/√(zᵀMz) instead of F, with a certificate too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from tellapart.arguments import check_choice
from tellapart.arrays import FloatArray
from tellapart.budget import current_budget
from tellapart.compiling import compile_seconds
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.kernels import Abilities, FittedKernel
from tellapart.search.annealing import Trace
from tellapart.search.certificate import Certificate, Regions
from tellapart.search.gaussian_patches import GaussianPatches
from tellapart.search.many_rows import Goal
from tellapart.search.quadratic_patches import QuadraticPatches
from tellapart.search.solver import QUICK, Annealing
from tellapart.search.starts import Start, linear_problem, ratio_problem
from tellapart.statistics.coefficients import LinearCoefficients, linear_coefficients
from tellapart.statistics.objective import FittedObjective
from tellapart.strs import SOLVERS, Solver, solve
from tellapart.strs.contract import Control, Solution, Status, require
from tellapart.strs.problem import SparseRatio, SparseTrustRegion
from tellapart.strs.solve import choose as choose_solver
from tellapart.strs.solvers.thresholding import Thresholding

SEARCH = "annealing"
AUTO = "auto"
REGULARIZED, RATIO = "regularized", "ratio"


@dataclass(frozen=True)
class Solvers:
    """Who chooses: `exact` the sparse trust region problems, `search` what is none.

    `exact` is None where the search was requested although an exact solver would do.
    """

    exact: str | Solver | None = AUTO
    search: Annealing = field(default_factory=Annealing)


HEURISTICS = Solvers(Thresholding(), QUICK)
"""Milliseconds per choice and no proof: for choices that are made again and again."""


@dataclass(frozen=True, eq=False)
class OpenProblem:
    """A problem whose solution is not proved to be optimal yet, and who solves it."""

    problem: SparseTrustRegion | SparseRatio
    solution: Solution
    solver: str | Solver
    gap: float

    def resume(self, control: Control) -> OpenProblem:
        """Go on where the search stopped."""
        solution = solve(
            self.problem,
            solver=self.solver,
            gap=control.gap,
            time_limit=control.remaining,
            random_state=control.rng,
            progress=control.progress,
            resume=self.solution,
        )
        return replace(self, solution=solution)


@dataclass(frozen=True, eq=False)
class OpenCertificate:
    """A certificate whose gap is not closed yet."""

    certificate: Certificate[Any]
    solution: Solution
    gap: float
    n_jobs: int

    def resume(self, control: Control) -> OpenCertificate:
        """Go on where the search stopped."""
        certificate = self.certificate.copy()
        solution = certificate.resume(control, self.n_jobs)
        return replace(self, certificate=certificate, solution=solution)


@dataclass(frozen=True)
class Choice:
    """A point, its value, and what is proved about it, under the names that a selection has.

    `history` holds the annealed runs; it is empty where none was needed. `drawn_rows` and
    `n_features` describe what F is of where it is not of all pairs of rows: see `Goal`. `proof` is
    what is left to prove, of `problem`, which is kept where it is not too large.
    """

    z: FloatArray
    value: float
    upper_bound: float | None
    status: Status
    solver: str
    seconds: float
    history: tuple[Trace, ...] = ()
    drawn_rows: tuple[int, int] | None = None
    n_features: int | None = None
    proof: OpenProblem | OpenCertificate | None = None
    problem: SparseTrustRegion | SparseRatio | None = None


def resolve_solver(value: str | Solver | Annealing, abilities: Abilities) -> Solvers:
    """Return who chooses under a kernel of these abilities; raise if `value` does not serve it.

    The solvers of sparse trust region problems serve the linear kernel, and the quadratic one at
    λ = 0; `tellapart.search.Annealing` serves all kernels but the linear one.
    """
    if isinstance(value, Annealing) and not abilities.exact:
        return Solvers(None, value)
    is_solver = not isinstance(value, str | type) and hasattr(value, "solve")
    if is_solver and hasattr(value, "name") and abilities.exact_unregularized:
        require(value)
        return Solvers(value)  # type: ignore[arg-type]
    names = [
        AUTO,
        *(SOLVERS if abilities.exact_unregularized else ()),
        *(() if abilities.exact else (SEARCH,)),
    ]
    name = check_choice("solver", value, names)
    if name in SOLVERS:
        require(SOLVERS[name]())  # now, not after minutes of work
    return Solvers(None if name == SEARCH else name)


def choose_weights(
    samples: Samples,
    kernel: FittedKernel,
    n_variables: int,
    regularization: float,
    *,
    solvers: Solvers,
    control: Control,
    n_jobs: int = 1,
    estimator: str = "unbiased",
    known: tuple[Start, ...] = (),
    nonnegative: bool = False,
    objective: str = REGULARIZED,
    coefficients: LinearCoefficients | None = None,
) -> Choice:
    """Return good weights of at most `n_variables` variables.

    Parameters
    ----------
    samples : Samples
        The two samples; every column varies.
    kernel : FittedKernel
        The kernel of these columns.
    n_variables : int
        d.
    regularization : float
        λ, or the shrinkage of the ratio.
    solvers : Solvers
        Who chooses.
    control : Control
        Gap, time, randomness, progress.
    n_jobs : int
        Threads.
    estimator : str
        See `tellapart.statistics.linear_coefficients`; kernels without fast sums have one only.
    known : tuple of Start
        Points to search from beside those that the data suggest, where there is a search.
    nonnegative : bool
        Whether z ≥ 0: K_z is a kernel for such z only. Where ω(z) = z² it is no restriction.
    objective : {"regularized", "ratio"}
        F = MMD² − λσ², or the linear kernel's ratio, see `tellapart.search.starts.ratio_problem`.
    coefficients : LinearCoefficients or None
        Those of the linear kernel, where they are known already.
    """
    by_ratio = check_choice("objective", objective, (REGULARIZED, RATIO)) == RATIO
    if not kernel.abilities.exact:
        if by_ratio:
            raise InputError(
                "objective 'ratio' is for the linear kernel, whose MMD² is linear in z; "
                f"got the {kernel.name} kernel; use 'regularized'"
            )
        goal = Goal.of(
            samples,
            kernel,
            regularization,
            nonnegative=nonnegative,
            most_rows=solvers.search.most_rows,
            most_exact_rows=solvers.search.most_exact_rows,
            control=control,
        )
        choice = _searched_and_bounded(goal, n_variables, solvers, control, n_jobs, known)
        return replace(choice, drawn_rows=goal.drawn_rows, n_features=goal.n_features)
    if coefficients is None:
        coefficients = linear_coefficients(samples, kernel, estimator=estimator, n_jobs=n_jobs)
    problem: SparseTrustRegion | SparseRatio
    if by_ratio:
        problem = ratio_problem(coefficients, n_variables, regularization, nonnegative)
    else:
        problem = linear_problem(coefficients, regularization, n_variables, nonnegative)
    solution = _solved(problem, solvers.exact, control, _proof_limit(control), control.rng)
    return _as_choice(problem, solution, solvers.exact, control.gap)


def _searched_and_bounded(
    goal: Goal,
    n_variables: int,
    solvers: Solvers,
    control: Control,
    n_jobs: int,
    known: tuple[Start, ...],
) -> Choice:
    choice = _bounded_at_zero(goal, n_variables, solvers, control, n_jobs, known)
    is_searched = choice.solver == solvers.search.name and solvers.search.bound_seconds > 0
    if choice.status == "optimal" or not is_searched:
        return choice
    return _certified(choice, goal, n_variables, control, n_jobs)


def _bounded_at_zero(
    goal: Goal,
    n_variables: int,
    solvers: Solvers,
    control: Control,
    n_jobs: int,
    known: tuple[Start, ...],
) -> Choice:
    """Search; where MMD² is quadratic in z, its maximum is a bound, and at λ = 0 the choice."""
    search, objective = solvers.search, goal.objective
    form = None if search.bound_seconds == 0 else objective.quadratic_form()
    if form is None:
        return _searched(goal, n_variables, search, control, n_jobs, known)
    problem = SparseTrustRegion(*form, n_variables, nonnegative=objective.within_orthant)
    limit = _proof_limit(control)
    unregularized = objective.regularization == 0 and solvers.exact is not None
    if not unregularized:
        share = math.inf if control.time_limit is None else control.time_limit / 4
        limit = min(search.bound_seconds, share)
    seeded = np.random.default_rng(control.rng.integers(2**63))
    free = _solved(problem, solvers.exact, control, limit, seeded)
    if unregularized:
        choice = _as_choice(problem, free, solvers.exact, control.gap)
        return replace(choice, seconds=control.elapsed)
    if free.interrupted:
        # The solver gave up what was only a bound: Ctrl-C was meant for the search.
        raise KeyboardInterrupt
    start = Start("λ = 0", free.z)
    choice = _searched(goal, n_variables, search, control, n_jobs, (start, *known))
    if free.upper_bound is None:
        return choice
    bound = max(free.upper_bound, choice.value)
    return replace(choice, upper_bound=bound, status=control.status(choice.value, bound))


def _certified(
    choice: Choice, goal: Goal, n_variables: int, control: Control, n_jobs: int
) -> Choice:
    """Return a choice of few variables among few with what branch and bound proves of it.

    Without a time limit it may take as long as the search, and at least a second.
    """
    objective, budget = goal.objective, current_budget()
    whole = goal.drawn_rows is None and goal.n_features is None
    regions = regions_of(objective, n_variables) if whole else None
    if regions is None:
        return choice
    certificate = Certificate(
        objective, regions, n_variables, choice.z, choice.value, choice.solver
    )
    limit = control.remaining
    if limit is None:
        limit = min(max(choice.seconds, budget.least_proof_seconds), budget.proof_seconds)
        certificate.prepare()
    proving = replace(control, time_limit=limit, started=control.clock())
    solution = certificate.resume(proving, n_jobs)
    bounds = [b for b in (solution.upper_bound, choice.upper_bound) if b is not None]
    bound = max(min(bounds), solution.value) if bounds else None
    status = proving.status(solution.value, bound)
    proof = None
    if status != "optimal":
        proof = OpenCertificate(certificate, solution, control.gap, n_jobs)
    return replace(
        choice,
        z=solution.z,
        value=solution.value,
        upper_bound=bound,
        status=status,
        seconds=control.elapsed,
        proof=proof,
    )


def regions_of(objective: FittedObjective, n_variables: int) -> Regions[Any] | None:
    """Return how F is bounded over all choices; None where it cannot be, or would take too long."""
    samples, budget = objective.samples, current_budget()
    if samples.n_columns > budget.certified_columns or n_variables > budget.certified_variables:
        return None
    if objective.row_moments() is not None and objective.whole is None:
        return QuadraticPatches(objective)
    pairs = samples.n_columns * (samples.n_x + samples.n_y) ** 2 // 2
    if objective.kernel.exponent_variance is not None and pairs <= budget.certified_pairs:
        return GaussianPatches(objective)
    return None


def _proof_limit(control: Control) -> float:
    return current_budget().proof_seconds if control.time_limit is None else control.time_limit


def _searched(
    goal: Goal,
    n_variables: int,
    search: Annealing,
    control: Control,
    n_jobs: int,
    known: tuple[Start, ...],
) -> Choice:
    result = search.search(
        goal.objective,
        n_variables,
        control,
        n_jobs=n_jobs,
        known=known,
        scored=goal.scored,
        final=goal.final,
    )
    status = control.status(result.value, None)
    return Choice(result.z, result.value, None, status, search.name, control.elapsed, result.traces)


def _solved(
    problem: SparseTrustRegion | SparseRatio,
    solver: str | Solver | None,
    control: Control,
    limit: float,
    rng: np.random.Generator,
) -> Solution:
    budget = current_budget()
    unlimited = control.time_limit is None and solver in (None, AUTO)
    if unlimited:
        # How long a proof may take must not decide what is chosen.
        quadratic = problem.squared if isinstance(problem, SparseRatio) else problem
        solver = choose_solver(quadratic, budget.presumed_seconds)
    proving = partial(
        solve,
        problem,
        solver=AUTO if solver is None else solver,
        gap=control.gap,
        random_state=rng,
        progress=control.progress,
    )
    compiled = compile_seconds()
    solution = proving(time_limit=limit)
    compiled = compile_seconds() - compiled
    if unlimited and solution.status == "time_limit" and compiled > 0:
        # The first call on a machine proves as much as the second.
        solution = proving(time_limit=min(compiled, limit), resume=solution)
    is_proved = solution.status == "optimal" or solution.interrupted
    if is_proved or not unlimited or problem.n_columns > budget.resumed_columns:
        return solution
    found = solve(problem, "local-search", gap=control.gap)
    if found.value <= solution.value:
        return solution
    bound = None if solution.upper_bound is None else max(solution.upper_bound, found.value)
    return replace(solution, support=found.support, z=found.z, value=found.value, upper_bound=bound)


def _as_choice(
    problem: SparseTrustRegion | SparseRatio,
    solution: Solution,
    solver: str | Solver | None,
    gap: float,
) -> Choice:
    proof = None
    can_prove = solution.upper_bound is not None or solver in (None, AUTO)
    is_open = solution.status != "optimal" and can_prove
    is_kept = can_prove and problem.n_columns <= current_budget().resumed_columns
    if is_open and is_kept:
        proof = OpenProblem(problem, solution, AUTO if solver is None else solver, gap)
    return Choice(
        solution.z,
        solution.value,
        solution.upper_bound,
        solution.status,
        solution.solver,
        solution.seconds,
        proof=proof,
        problem=problem if is_kept else None,
    )
