"""The settings of a two-sample test, checked before any work is done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tellapart.arguments import check_integer, check_number
from tellapart.data.chunked_samples import ChunkedSamples
from tellapart.data.design_labels import DesignArguments
from tellapart.data.missing import FEWEST_ROWS
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.kernels import Kernel
from tellapart.permutation.draws import binned_sizes, check_memory, check_reach
from tellapart.selection.settings import AUTO, CROSS_VALIDATED, SelectionSettings

METHODS = ("scan", "split")


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
    memory_budget: float | None = None
    design: DesignArguments = field(default_factory=DesignArguments)

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise InputError(f"method must be 'scan' or 'split'; got {self.method!r}")
        super().__post_init__()
        self._keep("test_size", _checked_share("test_size", self.test_size))
        self._keep("n_permutations", check_integer("n_permutations", self.n_permutations, 1))
        self._keep("alpha", _checked_share("alpha", self.alpha))
        if self.memory_budget is not None:
            budget = check_number("memory_budget", self.memory_budget, 0.0, open_low=True)
            self._keep("memory_budget", budget)
        check_reach(self.n_permutations, self.alpha)
        if self.method == "scan" and self.test_size != TestSettings.test_size:
            raise InputError(
                "test_size must be left out with method='scan', where all rows test; "
                f"got {self.test_size!r}"
            )

    @property
    def by_evidence(self) -> bool:
        """Whether the choice is by evidence; with a split the kernel tests what it chose."""
        return self.method == "scan" and super().by_evidence

    @property
    def fewest_rows(self) -> int:
        """Rows that each sample needs: two, or two in each part of a split."""
        return 2 * FEWEST_ROWS if self.method == "split" else FEWEST_ROWS

    def check_against(self, samples: Samples | ChunkedSamples) -> None:
        """Raise where the samples cannot be tested as asked for."""
        super().check_against(samples)
        if samples.design is not None:
            return  # the units of a design are counted where they are permuted
        bins_x, bins_y, _ = binned_sizes(samples.n_x, samples.n_y)
        check_memory(bins_x, bins_y, self.n_permutations)

    def to_dict(self) -> dict[str, Any]:
        """Return what decides the answer as plain values: progress and threads do not."""
        seed = self.random_state
        return {
            "method": self.method,
            "n_variables": self.n_variables,
            "kernel": self.kernel if isinstance(self.kernel, str) else repr(self.kernel),
            "regularization": self.regularization,
            "solver": self.solver if isinstance(self.solver, str) else repr(self.solver),
            "test_size": self.test_size,
            "n_permutations": self.n_permutations,
            "alpha": self.alpha,
            "random_state": None if isinstance(seed, np.random.Generator) else seed,
            "nonnegative": self.nonnegative,
            "gap": self.gap,
            "time_limit": self.time_limit,
            "memory_budget": self.memory_budget,
            **self.design.told(),
        }


def _checked_share(name: str, value: object) -> float:
    return check_number(name, value, 0.0, 1.0, open_low=True, open_high=True)
