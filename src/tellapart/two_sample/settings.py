"""The settings of a two-sample test, checked before any work is done, and its limits.

A limit of time is kept by testing fewer rows, one of memory by an error before work starts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tellapart.arguments import check_integer, check_number
from tellapart.budget import current_budget
from tellapart.data.design_labels import DesignArguments
from tellapart.data.missing import FEWEST_ROWS
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.kernels import Kernel
from tellapart.permutation.draws import binned_sizes, check_attainable, check_memory
from tellapart.scan.error_rates import FWER, ErrorRate
from tellapart.scan.families import AskedFamilies, check_families
from tellapart.scan.scan import ScanCost
from tellapart.scan.smallest_effect import SmallestEffect
from tellapart.selection.settings import AUTO, CROSS_VALIDATED, SelectionSettings

METHODS = ("scan", "split")

SCAN_SHARE = 0.6
"""The scan's share of the time: the selection, and errors of the prediction, get the rest."""
LEAST_SECONDS = 1e-3
"""What is left after the time limit: enough for a first bound."""


@dataclass(frozen=True, kw_only=True)
class TestSettings(SelectionSettings):
    """The settings of a two-sample test, checked when made; see `tellapart.two_sample_test`."""

    __test__ = False  # not a test case for pytest either

    method: str = "scan"
    kernel: str | Kernel = AUTO
    regularization: float | str = CROSS_VALIDATED
    test_size: float = 0.5
    n_permutations: int = 999
    alpha: float = 0.05
    error_rate: str = FWER
    false_proportion: float = 0.1
    memory_budget: float | None = None
    families: AskedFamilies | None = None
    smallest_effect: float | Mapping[str, Any] | None = None
    design: DesignArguments = field(default_factory=DesignArguments)

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise InputError(f"method must be 'scan' or 'split'; got {self.method!r}")
        super().__post_init__()
        self._keep("test_size", _check_proportion("test_size", self.test_size))
        self._keep("n_permutations", check_integer("n_permutations", self.n_permutations, 1))
        self._keep("alpha", _check_proportion("alpha", self.alpha))
        rate = ErrorRate(self.error_rate, self.false_proportion)
        self._keep("false_proportion", float(rate.gamma))
        if self.method == "split" and self.error_rate != FWER:
            raise InputError(
                "error_rate must be left out with method='split', which has no findings; "
                f"got {self.error_rate!r}"
            )
        if self.memory_budget is not None:
            budget = check_number("memory_budget", self.memory_budget, 0.0, open_low=True)
            self._keep("memory_budget", budget)
        if self.smallest_effect is not None:
            self._keep("smallest_effect", SmallestEffect.of(self.smallest_effect))
            if self.method != "scan":
                raise InputError(
                    "smallest_effect must be left out with method='split', which has no findings; "
                    f"got {SmallestEffect.of(self.smallest_effect).to_plain()!r}"
                )
        self._check_weights()
        check_attainable(self.n_permutations, self.alpha)
        if self.method == "scan" and self.test_size != TestSettings.test_size:
            raise InputError(
                "test_size must be left out with method='scan', where all rows test; "
                f"got {self.test_size!r}"
            )
        if self.method == "split" and self.design.adjust is not None:
            raise InputError(
                "adjust must be left out with method='split', which permutes rows freely; use "
                "method='scan'"
            )
        self._keep("families", check_families(self.families))
        if self.method == "split" and self.families is not None:
            raise InputError(
                "families must be left out with method='split', which has no families; "
                f"got {self.families!r}"
            )

    def _check_weights(self) -> None:
        """Raise where weights come with what has no weighted form."""
        if self.design.weights is None:
            return
        if not self.by_evidence:
            raise InputError(
                "weights need method='scan' with kernel, solver and nonnegative left out: the "
                "scan and the selection by evidence have a weighted form, kernels have none; "
                f"got method={self.method!r}, kernel={self.kernel!r}, solver={self.solver!r}"
            )

    @property
    def smallest(self) -> SmallestEffect | None:
        """The size that effects must exceed to be findings; None for any size."""
        return None if self.smallest_effect is None else SmallestEffect.of(self.smallest_effect)

    @property
    def by_evidence(self) -> bool:
        """Whether variables are selected by evidence; a split tests with the kernel it selects."""
        return self.method == "scan" and super().by_evidence

    @property
    def rate(self) -> ErrorRate:
        """The error rate of findings."""
        return ErrorRate(self.error_rate, self.false_proportion)

    @property
    def fewest_rows(self) -> int:
        """Rows that each sample needs: two, or two in each part of a split."""
        return 2 * FEWEST_ROWS if self.method == "split" else FEWEST_ROWS

    def check_against(self, samples: Samples) -> None:
        """Raise where these settings cannot be applied to the samples."""
        super().check_against(samples)
        if self.smallest is not None:
            self.smallest.check_columns(samples.names)
        if samples.design is not None:
            return  # the units of a design are counted where they are permuted
        bins_x, bins_y, _ = binned_sizes(*samples.n_values)
        check_memory(bins_x, bins_y, self.n_permutations)

    def to_dict(self) -> dict[str, Any]:
        """Return what decides the answer as plain values: progress and threads do not."""
        seed, families = self.random_state, self.families
        return {
            "method": self.method,
            "families": list(families) if isinstance(families, tuple) else families,
            "n_variables": self.n_variables,
            "kernel": self.kernel if isinstance(self.kernel, str) else repr(self.kernel),
            "regularization": self.regularization,
            "solver": self.solver if isinstance(self.solver, str) else repr(self.solver),
            "test_size": self.test_size,
            "n_permutations": self.n_permutations,
            "alpha": self.alpha,
            "error_rate": self.error_rate,
            "false_proportion": self.false_proportion,
            "random_state": None if isinstance(seed, np.random.Generator) else seed,
            "nonnegative": self.nonnegative,
            "gap": self.gap,
            "time_limit": self.time_limit,
            "memory_budget": self.memory_budget,
            **({} if self.smallest is None else {"smallest_effect": self.smallest.to_plain()}),
            **self.design.to_dict(),
        }


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
        Gives the time in seconds; no other clock is read.
    started : float
        The time when the clock was started.
    effort : float
        The share of the usual work that pairs, triples and the selection may take, for one test of
        many.
    joint : bool
        Whether findings share one error rate with those of other tests.
    settle : bool
        Whether a scan draws further permutations while its verdict is open.
    """

    time_limit: float | None = None
    memory_budget: float | None = None
    clock: Callable[[], float] = time.perf_counter
    started: float = 0.0
    effort: float = 1.0
    joint: bool = False
    settle: bool = False

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
        """Return whether at least so many times the elapsed time is left.

        >>> moments = iter([0.0, 3.0, 5.0])
        >>> limits = Limits.begin(10.0, None, moments.__next__)
        >>> limits.leaves(2), limits.leaves(2)
        (True, False)
        """
        if self.time_limit is None:
            return True
        elapsed = self.clock() - self.started
        return times * elapsed <= self.time_limit - elapsed

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
        largest = max(cost.n_x, cost.n_y)
        low, high = 0, largest
        while low < high:
            middle = (low + high + 1) // 2
            fits = _with_rows(cost, middle).seconds(threads) <= seconds
            low, high = (middle, high) if fits else (low, middle - 1)
        fewest = current_budget().fewest_scanned_rows
        if low < min(fewest, largest):
            least = _with_rows(cost, fewest).seconds(threads) / SCAN_SHARE
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


def _check_proportion(name: str, value: object) -> float:
    return check_number(name, value, 0.0, 1.0, open_low=True, open_high=True)
