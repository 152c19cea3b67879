"""One door to all solvers: names, checks, and the choice that "auto" makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from math import comb, inf, nextafter

import numpy as np
from numpy.typing import ArrayLike

from tellapart.arguments import check_choice, check_number, check_random_state, check_time_limit
from tellapart.arrays import IntArray
from tellapart.errors import InputError
from tellapart.interrupts import interruptible
from tellapart.strs.contract import (
    PLAIN_ONLY,
    Control,
    Progress,
    Solution,
    Solver,
    check_plain,
    is_plain,
)
from tellapart.strs.domains import EPS
from tellapart.strs.incumbent import fill_up
from tellapart.strs.problem import SparseQuadratic, SparseRatio, SparseTrustRegion
from tellapart.strs.solvers.branch_and_bound import BranchAndBound
from tellapart.strs.solvers.brute_force import BruteForce
from tellapart.strs.solvers.convex_integer import ConvexInteger
from tellapart.strs.solvers.local_search import LocalSearch
from tellapart.strs.solvers.misdp import Misdp
from tellapart.strs.solvers.outer_approximation import OuterApproximation
from tellapart.strs.solvers.sdp import Sdp
from tellapart.strs.solvers.truncation import Truncation

SOLVERS: dict[str, Callable[[], Solver]] = {
    "truncation": Truncation,
    "local-search": LocalSearch,
    "sdp": Sdp,
    "convex-integer": ConvexInteger,
    "outer-approximation": OuterApproximation,
    "misdp": Misdp,
    "branch-and-bound": BranchAndBound,
    "brute-force": BruteForce,
}

SMALLEST_GAP = 1e-9
"""Floating-point arithmetic cannot prove less."""

EIGENVALUE_SECONDS = 0.4
"""About what all eigenvalues of a dense matrix of order 1,000 take."""


@interruptible()
def solve(
    problem: SparseTrustRegion | SparseRatio,
    solver: str | Solver = "auto",
    gap: float = 1e-4,
    time_limit: float | None = None,
    random_state: int | np.random.Generator | None = None,
    progress: Progress | None = None,
    start: ArrayLike | None = None,
    floor: float | None = None,
    resume: Solution | None = None,
) -> Solution:
    """Solve max zᵀAz + aᵀz over ‖z‖₂ = 1, ‖z‖₀ ≤ d, or max aᵀz/√(zᵀMz) over ‖z‖₀ ≤ d.

    Parameters
    ----------
    problem : SparseTrustRegion or SparseRatio
        The problem.
    solver : str or Solver
        A name in `SOLVERS`, "auto", or a solver object of your own.
    gap : float
        Relative gap at which an exact solver may stop, at least 1e-9: floating-point arithmetic
        cannot prove less.
    time_limit : float, optional
        Seconds after which the best point so far is returned, with its bound.
    random_state : int, Generator or None
        Used by randomised solvers only.
    progress : callable, optional
        Called as progress(iterations, best value, upper bound or None).
    start : array of length D, optional
        A point whose non-zeros the solver may start from.
    floor : float, optional
        A value that need not be beaten: a bound no higher than this is as good as a proof, and the
        point returned may then be far from the best.
    resume : Solution, optional
        An earlier solution of this problem, whose search goes on where it stopped, or, with a
        solver that cannot, begins from its point. Neither value nor bound get worse.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> problem = SparseTrustRegion(np.diag([1.0, 3.0, 2.0]), np.array([0.0, 0.0, 4.0]), d=1)
    >>> solution = solve(problem)
    >>> solution.support.tolist(), round(solution.value, 6), solution.status
    ([2], 6.0, 'optimal')
    """
    quadratic = check_problem(problem)
    if progress is not None and not callable(progress):
        raise InputError(f"progress must be callable or None; got {type(progress).__name__}")
    seconds = check_time_limit(time_limit)
    chosen = _resolve(solver, quadratic, seconds)
    control = Control(
        gap=check_number("gap", gap, SMALLEST_GAP, 1.0, open_high=True),
        time_limit=seconds,
        resolution=quadratic.resolution,
        floor=-inf if floor is None else check_number("floor", floor),
        rng=check_random_state(random_state),
        progress=progress,
    )
    support = _start_support(quadratic, start)
    if resume is not None:
        chosen = _Resumed(chosen, _checked_earlier(problem, resume))
    if isinstance(problem, SparseRatio):
        solution = solve_ratio(problem, chosen, control, support)
    else:
        solution = chosen.solve(problem, control, support)
    return solution if resume is None else _no_worse(solution, resume, control)


def check_problem(problem: object) -> SparseQuadratic:
    """Return the quadratic problem that is solved; raise unless it is one or a ratio."""
    if isinstance(problem, SparseRatio):
        return problem.squared
    if isinstance(problem, SparseTrustRegion):
        return problem
    raise InputError(
        f"problem must be a SparseTrustRegion or a SparseRatio; got {type(problem).__name__}"
    )


def _checked_earlier(problem: SparseTrustRegion | SparseRatio, earlier: object) -> Solution:
    """Raise unless this is a solution of a problem of this size."""
    expected = f"resume must be a Solution of a problem with {problem.n_columns} columns"
    if not isinstance(earlier, Solution):
        raise InputError(f"{expected}; got {type(earlier).__name__}")
    if earlier.z.shape != (problem.n_columns,):
        raise InputError(f"{expected}; got one of {earlier.z.shape[0]}")
    return earlier


@dataclass(frozen=True)
class _Resumed:
    """A solver that goes on from an earlier solution."""

    solver: Solver
    earlier: Solution

    @property
    def name(self) -> str:
        return self.solver.name

    def solve(
        self, problem: SparseQuadratic, control: Control, start: IntArray | None = None
    ) -> Solution:
        if self.earlier.search is not None:
            return self.earlier.search.resume(control)
        return self.solver.solve(problem, control, self.earlier.support if start is None else start)


def _no_worse(solution: Solution, earlier: Solution, control: Control) -> Solution:
    """Return the solution with the better point and the lower bound of both."""
    bounds = [s.upper_bound for s in (solution, earlier) if s.upper_bound is not None]
    best = earlier if earlier.value > solution.value else solution
    bound = max(min(bounds), best.value) if bounds else None
    return replace(
        solution,
        support=best.support,
        z=best.z,
        value=best.value,
        upper_bound=bound,
        status=control.status(best.value, bound),
        seconds=earlier.seconds + solution.seconds,
    )


TWICE = 2 * (1 - 1e-6)
"""Not quite 2: the root of a bound must be within the gap after rounding too."""


def solve_ratio(
    problem: SparseRatio, solver: Solver, control: Control, start: IntArray | None
) -> Solution:
    """Solve the squared problem, and return what that says of the ratio."""
    if solver.name in PLAIN_ONLY:
        check_plain(problem.squared, f"{solver.name!r}")
    single = problem.single_best()
    if single is not None:
        return _single_solution(problem, single, solver.name, control)
    squared = solver.solve(problem.squared, _squared_control(problem, control), start)
    z = squared.z * problem.units
    z = z / np.linalg.norm(z)
    value, bound = problem.value(z), squared.upper_bound
    if bound is not None:
        bound = max(_root(bound) / problem.scale, value)
    return replace(
        squared, z=z, value=value, upper_bound=bound, status=control.status(value, bound)
    )


def _squared_control(problem: SparseRatio, control: Control) -> Control:
    """Return the control of the squared problem: a gap of g in the ratio is 2g in its square."""
    progress = control.progress

    def in_ratios(iterations: int, value: float, bound: float | None) -> None:
        assert progress is not None
        root = None if bound is None else _root(bound) / problem.scale
        progress(iterations, _root(value) / problem.scale, root)

    # Rounded down, so that no root of a bound that is given up exceeds the floor.
    floor = (problem.scale * max(control.floor, 0.0)) ** 2 * (1 - 16 * EPS)
    return replace(
        control,
        gap=TWICE * control.gap,
        floor=floor if control.floor > 0 else -np.inf,
        progress=None if progress is None else in_ratios,
    )


def _single_solution(
    problem: SparseRatio, best: IntArray, solver: str, control: Control
) -> Solution:
    """Return the solution where one variable alone is best; proved (`single_best`)."""
    z = np.zeros(problem.n_columns)
    z[best] = 1.0
    value = problem.value(z)
    # Of the smallest numbers 8ε is nothing.
    bound = max(value + 8 * EPS * abs(value), nextafter(value, inf)) if value != 0.0 else 0.0
    return Solution(
        support=best,
        z=z,
        value=value,
        upper_bound=bound,
        status=control.status(value, bound),
        solver=solver,
        iterations=1,
        seconds=control.elapsed,
    )


def _root(square: float) -> float:
    """Return the square root, rounded up; 0 for the −∞ before the first point."""
    return float(np.sqrt(max(square, 0.0))) * (1 + 2 * EPS)


def choose(problem: SparseQuadratic, time_limit: float | None = None) -> str:
    """Return the name of the solver that fits the problem and the time there is.

    By D and d: brute force where it takes about a tenth of a second at most (d = D among them,
    one trust region step). By D and the time limit: local search, which proves nothing, where the
    limit would pass before branch and bound had the eigenvalues of a dense A, its first bound.
    Branch and bound otherwise: it closes small trees at once and, on large problems, returns the
    best point with the bound proved within the limit. The spectrum decides inside it: where A
    has large positive eigenvalues and the hull bound shows to be loose, semidefinite bounds take
    over.
    """
    given = problem.required.shape[0]
    supports = comb(problem.n_columns - given, problem.d - given)
    if supports == 1 or supports * (3_000 + problem.d**3) <= 5_000_000:
        return "brute-force"
    first_bound = EIGENVALUE_SECONDS * (problem.n_columns / 1_000) ** 3
    if time_limit is not None and problem.factor is None and first_bound > time_limit:
        return "local-search"
    return "branch-and-bound"


def _resolve(solver: str | Solver, problem: SparseQuadratic, time_limit: float | None) -> Solver:
    is_object = not isinstance(solver, str | type)
    if is_object and hasattr(solver, "solve") and hasattr(solver, "name"):
        return solver
    name = check_choice("solver", solver, ["auto", *SOLVERS])
    return SOLVERS[choose(problem, time_limit) if name == "auto" else name]()


def _start_support(problem: SparseQuadratic, start: ArrayLike | None) -> IntArray | None:
    if start is None:
        return None
    expected = f"start must be {problem.n_columns} finite numbers"
    try:
        point = np.asarray(start, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{expected}; got {type(start).__name__}") from None
    if point.shape != (problem.n_columns,) or not np.isfinite(point).all():
        raise InputError(f"{expected}; got shape {point.shape}")
    support = np.flatnonzero(point)
    if not 1 <= support.shape[0] <= problem.d:
        raise InputError(
            f"start must have between 1 and d = {problem.d} non-zeros; got {support.shape[0]}"
        )
    return support if problem.required.shape[0] == 0 else fill_up(problem, support)


# Several solvers on one problem, side by side.


COLUMNS = ("solver", "value", "upper_bound", "gap", "seconds", "status")


@dataclass(frozen=True)
class Comparison:
    """One solution per solver, in the order of the request; `str` of it is a readable table."""

    solutions: dict[str, Solution]

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions.values())

    def __getitem__(self, solver: str) -> Solution:
        return self.solutions[solver]

    @property
    def best_bound(self) -> float | None:
        """The lowest upper bound that any solver proved."""
        bounds = [s.upper_bound for s in self if s.upper_bound is not None]
        return min(bounds, default=None)

    def rows(self) -> list[dict[str, object]]:
        """Return the table as one dict a solver."""
        return [
            {"solver": name, **{key: getattr(solution, key) for key in COLUMNS[1:]}}
            for name, solution in self.solutions.items()
        ]

    def __str__(self) -> str:
        cells = [list(COLUMNS)] + [[_cell(row[key]) for key in COLUMNS] for row in self.rows()]
        widths = [max(len(line[i]) for line in cells) for i in range(len(COLUMNS))]
        return "\n".join(
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
            for line in cells
        )


def compare(
    problem: SparseTrustRegion | SparseRatio,
    solvers: Iterable[str] | None = None,
    gap: float = 1e-4,
    time_limit: float | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Comparison:
    """Solve one problem with several solvers and return their table.

    Parameters
    ----------
    problem : SparseTrustRegion or SparseRatio
        The problem.
    solvers : names, optional
        Which solvers; by default all that take the problem, but brute force.
    gap, time_limit, random_state
        See `solve`; the time limit is for each solver.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> problem = SparseTrustRegion(np.diag([1.0, 3.0, 2.0]), np.zeros(3), d=2)
    >>> table = compare(problem, ["truncation", "branch-and-bound"])
    >>> [(row["solver"], row["value"], row["status"]) for row in table.rows()]
    [('truncation', 3.0, 'feasible'), ('branch-and-bound', 3.0, 'optimal')]
    """
    if isinstance(solvers, str):
        raise InputError(f"solvers must be a list of names; got the string {solvers!r}")
    chosen = _default_names(problem) if solvers is None else solvers
    names = [check_choice("solvers", name, ["auto", *SOLVERS]) for name in chosen]
    solutions: dict[str, Solution] = {}
    for name in names:
        solutions[name] = solve(problem, name, gap, time_limit, random_state)
        if solutions[name].interrupted:
            # The solver stopped at Ctrl-C, and so must the table: the next would start afresh.
            raise KeyboardInterrupt
    return Comparison(solutions)


def _default_names(problem: SparseTrustRegion | SparseRatio) -> list[str]:
    plain = isinstance(problem, SparseTrustRegion) and is_plain(problem)
    left_out = {"brute-force"} if plain else {"brute-force", *PLAIN_ONLY}
    return [name for name in SOLVERS if name not in left_out]


def _cell(entry: object) -> str:
    if entry is None:
        return "–"
    return f"{entry:.6g}" if isinstance(entry, float) else str(entry)
