"""Limits of a whole test: seconds and bytes, kept by fewer rows, or refused before work starts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tellapart.errors import InputError
from tellapart.scan.cost import ScanCost

# The choice of variables, and what a prediction is off by, get the rest of the time.
SCAN_SHARE = 0.6
# Fewer rows of a sample are not worth a hurry: such a scan takes about a second.
FEWEST_ROWS = 1_000
# What is left when time is over is still enough for a first bound.
LEAST_SECONDS = 1e-3


@dataclass(frozen=True)
class Limits:
    """What a test may take; the clock starts when the limits are made.

    Attributes
    ----------
    time_limit : float or None
        Seconds for the whole test.
    memory_budget : float or None
        Bytes beyond the input.
    clock : callable
        The only one that the limit is measured by.
    effort : float
        The share of the usual work that pairs, triples and the choice may take, for one test of
        many.
    """

    time_limit: float | None = None
    memory_budget: float | None = None
    clock: Callable[[], float] = time.perf_counter
    started: float = field(default=0.0)
    effort: float = 1.0

    @classmethod
    def begin(
        cls,
        time_limit: float | None,
        memory_budget: float | None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> Limits:
        """Start the clock."""
        return cls(time_limit, memory_budget, clock, clock())

    @property
    def remaining(self) -> float | None:
        """Seconds that are left, or None where there is no limit."""
        if self.time_limit is None:
            return None
        return max(self.time_limit - (self.clock() - self.started), LEAST_SECONDS)

    def leaves(self, times: float) -> bool:
        """Say whether so many times what was taken so far are left.

        >>> moments = iter([0.0, 3.0, 5.0])
        >>> limits = Limits.begin(10.0, None, moments.__next__)
        >>> limits.leaves(2), limits.leaves(2)
        (True, False)
        """
        if self.time_limit is None:
            return True
        taken = self.clock() - self.started
        return times * taken <= self.time_limit - taken

    def rows_for_scan(self, cost: ScanCost, threads: int) -> int | None:
        """Return how many rows of each sample can be scanned in time; None for all of them.

        Raises
        ------
        InputError
            Where even few rows would take too long, or where memory does not suffice.
        """
        self._check_memory(cost)
        remaining = self.remaining
        if remaining is None:
            return None
        seconds = SCAN_SHARE * remaining
        if cost.seconds(threads) <= seconds:
            return None
        low, high = 0, max(cost.n_x, cost.n_y)
        while low < high:
            middle = (low + high + 1) // 2
            fits = _with_rows(cost, middle).seconds(threads) <= seconds
            low, high = (middle, high) if fits else (low, middle - 1)
        if low < min(FEWEST_ROWS, max(cost.n_x, cost.n_y)):
            least = _with_rows(cost, FEWEST_ROWS).seconds(threads) / SCAN_SHARE
            raise InputError(
                f"time_limit must be at least about {least:.2g} s for a scan of {cost.n_columns:,} "
                f"columns, which would take about {cost.seconds(threads) / SCAN_SHARE:.2g} s with "
                f"all {cost.n_rows:,} rows; got {self.time_limit:g}"
            )
        return low

    def _check_memory(self, cost: ScanCost) -> None:
        needed = cost.bytes_held
        if self.memory_budget is not None and needed > self.memory_budget:
            raise InputError(
                f"memory_budget must be at least {needed:.3g} bytes for a scan of "
                f"{cost.n_columns:,} columns with {cost.n_permutations:,} permutations; got "
                f"{self.memory_budget:.3g}; fewer columns or permutations need less"
            )


def _with_rows(cost: ScanCost, most: int) -> ScanCost:
    return replace(cost, n_x=max(min(cost.n_x, most), 2), n_y=max(min(cost.n_y, most), 2))
