"""Several solvers on one problem, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from tellapart.arguments import check_choice
from tellapart.errors import InputError
from tellapart.strs.base import PLAIN_ONLY, is_plain
from tellapart.strs.problem import SparseTrustRegion
from tellapart.strs.ratio import SparseRatio
from tellapart.strs.solution import Solution
from tellapart.strs.solve import SOLVERS, solve

COLUMNS = ("solver", "value", "upper_bound", "gap", "seconds", "status")


@dataclass(frozen=True)
class Comparison:
    """One solution per solver, in the order asked for; `str` of it is a readable table."""

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
