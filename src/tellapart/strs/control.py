"""When a solver may stop: gap, time, and the caller's progress callback."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tellapart.interrupts import check_interrupts
from tellapart.strs.solution import Status, relative_gap

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
        """Return the honest status: "optimal" only within the relative gap asked for."""
        if upper_bound is not None and relative_gap(value, upper_bound) <= self.gap:
            return "optimal"
        return "time_limit" if self.out_of_time else "feasible"

    def tell_progress(self, iterations: int, value: float, upper_bound: float | None) -> None:
        """Tell the caller how far the work is, if it asked."""
        if self.progress is not None:
            self.progress(iterations, value, upper_bound)
