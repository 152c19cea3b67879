"""When a solver may stop: gap, time, and the caller's progress callback."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tellapart.strs.solution import Status

Progress = Callable[[int, float, float | None], None]
"""Called as progress(iterations, best value, upper bound or None)."""


@dataclass(frozen=True)
class Control:
    """Stopping rules handed to every solver; `started` is the moment it was made.

    `resolution` is the difference in value that rounding error hides: a gap below it is closed.
    """

    gap: float = 1e-4
    time_limit: float | None = None
    resolution: float = 0.0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    progress: Progress | None = None
    started: float = field(default_factory=time.perf_counter)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self.time_limit is not None and self.elapsed >= self.time_limit

    def closed(self, value: float, upper_bound: float) -> bool:
        """Whether upper_bound − value is within the relative gap asked for."""
        return upper_bound - value <= self.allowed(value)

    def allowed(self, value: float) -> float:
        """Return the distance to the bound at which `value` counts as optimal."""
        return max(self.gap * abs(value), self.resolution)

    def status(self, value: float, upper_bound: float | None) -> Status:
        """Return the honest status of a value with its bound."""
        if upper_bound is not None and self.closed(value, upper_bound):
            return "optimal"
        return "time_limit" if self.out_of_time else "feasible"

    def tell_progress(self, iterations: int, value: float, upper_bound: float | None) -> None:
        """Tell the caller how far the work is, if it asked."""
        if self.progress is not None:
            self.progress(iterations, value, upper_bound)
