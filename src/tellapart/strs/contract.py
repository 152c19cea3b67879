"""The contract of solvers: a Control says when to stop, a Solution what is found and proved."""

from __future__ import annotations

import math
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module, metadata
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import IntArray
from tellapart.compiling import working_time
from tellapart.errors import InputError, MissingDependencyError
from tellapart.interrupts import check_interrupts, interrupt_handled, is_interrupted
from tellapart.optional import importing
from tellapart.strs.problem import SparseQuadratic, polish
from tellapart.threads import one_blas_thread

# What a solver returns.


Status = Literal["optimal", "feasible", "time_limit"]

WHAT_NEXT: dict[Status, str] = {
    "optimal": "proved: no other point is better by more than the gap",
    "feasible": "a feasible point; its distance to the optimum is not proved to be within the gap",
    "time_limit": "stopped early; raise time_limit or gap to close the proof",
}


@dataclass(frozen=True)
class Solution:
    """A feasible point of a sparse trust region or ratio problem and what is proved about it.

    Attributes
    ----------
    support : sorted int array
        The non-zeros of z, at most d.
    z : array of length D
        The point; on its support it is the exact maximiser.
    value : float
        zᵀAz + aᵀz; of a ratio, aᵀz/√(zᵀMz).
    upper_bound : float or None
        A proved bound on the optimal value, rounding error allowed for; None if none is proved.
    status : "optimal", "feasible" or "time_limit"
        "optimal" only if `upper_bound − value` is within the requested gap.
    solver : str
        The solver that ran (what "auto" picked).
    iterations : int
        Nodes, sweeps or steps: the solver's own unit.
    seconds : float
        Wall time.
    interrupted : bool
        Whether Ctrl-C ended the work: a caller with more to do should stop too.
    search : OpenSearch or None
        What `tellapart.strs.solve(problem, resume=solution)` goes on with; None where the proof is
        complete, or where the solver begins again.
    """

    support: NDArray[np.intp]
    z: NDArray[np.float64]
    value: float
    upper_bound: float | None
    status: Status
    solver: str
    iterations: int
    seconds: float
    interrupted: bool = False
    search: OpenSearch | None = field(default=None, repr=False, compare=False)

    @property
    def gap(self) -> float | None:
        """Relative gap (upper_bound − value)/max(|value|, tiny), or None without a bound."""
        return None if self.upper_bound is None else relative_gap(self.value, self.upper_bound)

    @property
    def message(self) -> str:
        """The status in words, with what to try next."""
        return WHAT_NEXT[self.status]


def relative_gap(value: float, upper_bound: float) -> float:
    """Return (upper_bound − value)/|value|, at least 0; infinite at value 0 with a gap left."""
    distance = max(upper_bound - value, 0.0)
    if distance == 0.0:
        return 0.0
    return distance / abs(value) if value != 0.0 else float("inf")


# When it may stop.


Progress = Callable[[int, float, float | None], None]
"""Called as progress(iterations, best value, upper bound or None)."""


@dataclass(frozen=True)
class Control:
    """Stopping rules handed to every solver.

    `resolution` is the difference in value that rounding error hides: a search whose gap is
    below it may end, but only the relative gap decides whether its end is "optimal".
    `floor` is a value that need not be beaten: branch and bound gives up what cannot exceed it.
    `clock` is the only one that limits are measured by, and `started` what it said when the
    control was made.
    """

    gap: float = 1e-4
    time_limit: float | None = None
    resolution: float = 0.0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    progress: Progress | None = None
    clock: Callable[[], float] = time.perf_counter
    started: float = math.nan
    floor: float = -math.inf

    def __post_init__(self) -> None:
        # `dataclasses.replace` hands `started` on: a changed copy has no more time than the first.
        if math.isnan(self.started):
            object.__setattr__(self, "started", self.clock())

    def allowing(self, seconds: float) -> Control:
        """Return a control that ends after so many further seconds, compilation not counted.

        For limits that nobody has set: those of the user count every second.
        """
        now, elapsed = working_time(), self.elapsed
        return replace(
            self, clock=working_time, started=now - elapsed, time_limit=elapsed + seconds
        )

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self.clock() - self.started

    @property
    def remaining(self) -> float | None:
        """Seconds until the time limit, at least 0; None without a limit."""
        return None if self.time_limit is None else max(self.time_limit - self.elapsed, 0.0)

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed; every long loop comes by, so Ctrl-C is seen here."""
        check_interrupts()
        return self.time_limit is not None and self.elapsed >= self.time_limit

    def closed(self, value: float, upper_bound: float) -> bool:
        """Whether a search may end: upper_bound − value is within the gap, or is rounding error."""
        return upper_bound - value <= self.allowed(value)

    def allowed(self, value: float) -> float:
        """Return the distance to the bound at which a search may end."""
        return max(self.gap * abs(value), self.resolution)

    def status(self, value: float, upper_bound: float | None) -> Status:
        """Return the honest status: "optimal" only within the requested relative gap."""
        if upper_bound is not None and relative_gap(value, upper_bound) <= self.gap:
            return "optimal"
        return "time_limit" if self.out_of_time else "feasible"

    def report_progress(self, iterations: int, value: float, upper_bound: float | None) -> None:
        """Report progress to the caller's callback, if there is one."""
        if self.progress is not None:
            self.progress(iterations, value, upper_bound)

    def tell_progress(self, iterations: int, value: float, upper_bound: float | None) -> None:
        """Call `report_progress`, under a deprecated name."""
        message = "tell_progress is deprecated: use report_progress"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        self.report_progress(iterations, value, upper_bound)


class OpenSearch(Protocol):
    """A search that was stopped before its proof was complete, with all that it left open."""

    def resume(self, control: Control) -> Solution:
        """Go on until the gap is closed or the limits of this control are reached."""


# What it is, and what it accepts.


class Solver(Protocol):
    """Immutable settings with one method; a solver is one file."""

    @property
    def name(self) -> str:
        """The name users pass as `solver=`."""
        ...

    def solve(
        self, problem: SparseQuadratic, control: Control, start: IntArray | None = None
    ) -> Solution:
        """Solve within the limits of `control`, perhaps starting from a support."""
        ...


@dataclass
class Interruption:
    """Whether Ctrl-C ended a piece of work."""

    caught: bool = False


@contextmanager
def until_interrupted(
    threads: AbstractContextManager[object] | None = None,
) -> Iterator[Interruption]:
    """Work until done, or until Ctrl-C; on one BLAS thread unless `threads` says otherwise.

    What is proved by then stands: the caller gets it, not a traceback, in a Solution that says
    that it was `interrupted`. Compiled code may turn the KeyboardInterrupt into another error,
    such as SystemError.
    """
    interruption = Interruption()
    try:
        with one_blas_thread() if threads is None else threads:
            yield interruption
    except (KeyboardInterrupt, Exception) as error:
        if not isinstance(error, KeyboardInterrupt) and not is_interrupted():
            raise
        interrupt_handled()
        interruption.caught = True


def is_plain(problem: SparseQuadratic) -> bool:
    """Whether z lies on the sphere, of any sign, with no variable required."""
    domain = problem.domain
    return domain.on_sphere and not domain.nonnegative and problem.required.shape[0] == 0


PLAIN_ONLY = frozenset({"sdp", "convex-integer", "outer-approximation", "misdp"})
"""The solvers that take no other problem."""


def check_plain(problem: SparseQuadratic, who: str) -> None:
    """Refuse a problem that only the solvers listed here take."""
    if not is_plain(problem):
        raise InputError(
            f"solver {who} takes ‖z‖₂ = 1 with entries of any sign and no required variables only; "
            "for nonnegative weights, required variables and ratios use 'branch-and-bound', "
            "'brute-force', 'local-search' or 'truncation'"
        )


def check_accepted(
    problem: SparseQuadratic, solver: Any, largest: int | None = None, who: str | None = None
) -> None:
    """Refuse what a solver for plain problems of limited size does not take.

    `largest` is its limit of variables and `who` its name in the message, where they are not
    those of its settings. Raises too if one of its
    `libraries` is not installed.
    """
    largest = solver.largest if largest is None else largest
    check_plain(problem, f"{solver.name!r}")
    if problem.n_columns > largest:
        raise InputError(
            f"solver {who or repr(solver.name)} takes at most {largest:,} variables; "
            f"got D = {problem.n_columns:,}; use 'branch-and-bound'"
        )
    require(solver)


def finish(
    problem: SparseQuadratic,
    support: IntArray,
    *,
    upper_bound: float | None,
    solver: str,
    iterations: int,
    control: Control,
    interrupted: bool = False,
) -> Solution:
    """Return the Solution whose z is the exact maximiser on `support`."""
    z, _ = polish(problem, support)
    value = problem.value(z)
    if upper_bound is not None:
        upper_bound = max(upper_bound, value)
    return Solution(
        support=np.flatnonzero(z),
        z=z,
        value=value,
        upper_bound=upper_bound,
        status=control.status(value, upper_bound),
        solver=solver,
        iterations=iterations,
        seconds=control.elapsed,
        interrupted=interrupted,
    )


# Libraries that are installed on request: imported when needed, with a hint when absent.


DISTRIBUTIONS = {"clarabel": "clarabel", "highspy": "highspy", "pyscipopt": "PySCIPOpt"}
"""Module name → what the package is called in messages."""

OLDEST = {"clarabel": "0.10", "highspy": "1.8", "pyscipopt": "5.4"}
"""Module name → the oldest version that has what is called here, as in pyproject.toml."""


def require(solver: Any) -> None:
    """Raise if a module that a solver names in its `libraries` is not installed."""
    for module in getattr(solver, "libraries", ()):
        load(module, solver.name)


def load(module: str, solver: str) -> Any:
    """Return an optional module, imported now; `solver` is who needs it.

    Raises
    ------
    MissingDependencyError
        If it is not installed, or too old; the message says what to install.
    """
    with importing(f"solver {solver!r}", DISTRIBUTIONS.get(module, module), "solvers"):
        library = import_module(module)
    _check_version(module, solver)
    return library


def _check_version(module: str, solver: str) -> None:
    """Refuse a library that lacks what is called: its errors would look like those of a problem."""
    try:
        version = metadata.version(module) if module in OLDEST else None
    except metadata.PackageNotFoundError:  # built by hand, from whatever source
        version = None
    if version is not None and _numbers(version) < _numbers(OLDEST[module]):
        raise MissingDependencyError(
            f"solver {solver!r} needs {DISTRIBUTIONS[module]} {OLDEST[module]} or newer; got "
            f'{version}; run: pip install --upgrade "tellapart[solvers]"'
        )


def _numbers(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version.

    >>> _numbers("5.10.1rc2")
    (5, 10)
    """
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])
