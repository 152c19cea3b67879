"""What a solver returns: a typed result with an honest status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

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
        "optimal" only if `upper_bound − value` is within the gap asked for.
    solver : str
        The solver that ran (what "auto" picked).
    iterations : int
        Nodes, sweeps or steps: the solver's own unit.
    seconds : float
        Wall time.
    interrupted : bool
        Whether Ctrl-C ended the work: a caller with more to do should stop too.
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
