"""The settings of a two-sample test, checked before any work is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tellapart.arguments import (
    check_flag,
    check_integer,
    check_n_jobs,
    check_number,
    check_random_state,
    check_time_limit,
)
from tellapart.errors import InputError
from tellapart.kernels import Kernel, Linear, resolve_kernel
from tellapart.permutation.labels import check_reach
from tellapart.progress import Progress, check_progress
from tellapart.search import Annealing
from tellapart.selection.choose import check_gap, check_solver
from tellapart.strs import Solver


@dataclass(frozen=True)
class TestSettings:
    """The settings of a two-sample test, checked when made; see `tellapart.two_sample_test`."""

    __test__ = False  # not a test case for pytest either

    n_variables: int | None = None
    kernel: str | Kernel = "linear"
    regularization: float | str = "cv"
    solver: str | Solver | Annealing = "auto"
    test_size: float = 0.5
    n_permutations: int = 999
    alpha: float = 0.05
    random_state: int | np.random.Generator | None = None
    n_jobs: int | None = None
    progress: bool | Progress = False
    gap: float = 1e-4
    time_limit: float | None = None
    split: bool = True

    def __post_init__(self) -> None:
        if self.n_variables is not None:
            self._keep("n_variables", check_integer("n_variables", self.n_variables, 1))
        self._keep("regularization", _checked_price(self.regularization))
        check_solver(self.solver, resolve_kernel(self.kernel))
        self._keep("test_size", _checked_share("test_size", self.test_size))
        self._keep("n_permutations", check_integer("n_permutations", self.n_permutations, 1))
        self._keep("alpha", _checked_share("alpha", self.alpha))
        check_random_state(self.random_state)
        if self.random_state is not None and not isinstance(self.random_state, np.random.Generator):
            self._keep("random_state", int(self.random_state))
        check_n_jobs(self.n_jobs)
        check_progress(self.progress)
        self._keep("gap", check_gap(self.gap))
        self._keep("time_limit", check_time_limit(self.time_limit))
        check_reach(self.n_permutations, self.alpha)
        self._keep("split", check_flag("split", self.split))
        if not self.split:
            self._check_unsplit()

    def _check_unsplit(self) -> None:
        """Raise unless the best choice is known in closed form for every permutation."""
        kernel = resolve_kernel(self.kernel)
        if not isinstance(kernel, Linear):
            raise InputError(
                "kernel must be 'linear' with split=False, where the variables are chosen again "
                f"under every permutation; got {kernel.name!r}"
            )
        if self.price not in (None, 0.0):
            raise InputError(
                "regularization must be 'cv' or 0 with split=False, where there are no rows to "
                f"choose λ by and it is 0; got {self.regularization!r}"
            )
        if self.solver != TestSettings.solver:
            raise InputError(
                "solver must be 'auto' with split=False, where the best choice has a closed form; "
                f"got {self.solver!r}"
            )
        if self.test_size != TestSettings.test_size:
            raise InputError(
                "test_size must be left out with split=False, where no rows are held out; "
                f"got {self.test_size!r}"
            )

    def _keep(self, name: str, value: object) -> None:
        """Hold the checked value, as a plain Python number."""
        object.__setattr__(self, name, value)

    @property
    def price(self) -> float | None:
        """λ, or None for cross-validation."""
        return None if isinstance(self.regularization, str) else self.regularization

    def to_dict(self) -> dict[str, Any]:
        """Return what decides the answer as plain values: progress and threads do not."""
        seed = self.random_state
        return {
            "n_variables": self.n_variables,
            "kernel": self.kernel if isinstance(self.kernel, str) else repr(self.kernel),
            "regularization": self.regularization,
            "solver": self.solver if isinstance(self.solver, str) else repr(self.solver),
            "test_size": self.test_size,
            "n_permutations": self.n_permutations,
            "alpha": self.alpha,
            "random_state": None if isinstance(seed, np.random.Generator) else seed,
            "gap": self.gap,
            "time_limit": self.time_limit,
            "split": self.split,
        }


def _checked_price(value: object) -> float | str:
    if isinstance(value, str):
        if value != "cv":
            raise InputError(f"regularization must be 'cv' or a number ≥ 0; got {value!r}")
        return value
    return check_number("regularization", value, 0.0)


def _checked_share(name: str, value: object) -> float:
    return check_number(name, value, 0.0, 1.0, open_low=True, open_high=True)
