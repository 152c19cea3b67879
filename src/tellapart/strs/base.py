"""What all solvers share: their contract, and the one way from a support to a Solution."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.errors import InputError
from tellapart.interrupts import interrupt_handled, is_interrupted
from tellapart.strs.control import Control
from tellapart.strs.problem import SparseQuadratic
from tellapart.strs.solution import Solution
from tellapart.strs.trust_region import polish
from tellapart.threads import one_blas_thread


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


def check_columns(problem: SparseQuadratic, largest: int, who: str) -> None:
    """Refuse a problem with more variables than a solver takes."""
    if problem.n_columns > largest:
        raise InputError(
            f"solver {who} takes at most {largest:,} variables; got D = {problem.n_columns:,}; "
            "use 'branch-and-bound'"
        )


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


def truncate(vector: FloatArray, d: int) -> IntArray:
    """Return the sorted indices of the d largest entries by size; ties go to the lower index."""
    order = np.argsort(-np.abs(vector), kind="stable")
    return np.sort(order[:d])


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
