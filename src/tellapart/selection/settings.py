"""What is asked of a selection, checked before any work is done."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tellapart.arguments import (
    check_choice,
    check_integer,
    check_n_jobs,
    check_number,
    check_random_state,
    check_time_limit,
)
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.kernels import Kernel, resolve_kernel
from tellapart.progress import Progress, check_progress
from tellapart.search import Annealing
from tellapart.search.choice import Solvers, resolve_solver
from tellapart.statistics.mmd import ESTIMATORS, check_rows
from tellapart.strs import Solver
from tellapart.strs.solve import SMALLEST_GAP


@dataclass(frozen=True, kw_only=True)
class SelectionSettings:
    """The settings of a selection, checked when made; see `tellapart.select_variables`.

    `n_variables=None` and `regularization="cv"` leave the number of variables and λ to tuning.
    """

    n_variables: int | None = None
    kernel: str | Kernel = "linear"
    regularization: float | str = "cv"
    solver: str | Solver | Annealing = "auto"
    gap: float = 1e-4
    time_limit: float | None = None
    random_state: int | np.random.Generator | None = None
    n_jobs: int | None = None
    progress: bool | Progress = False
    estimator: str = "unbiased"

    def __post_init__(self) -> None:
        if self.n_variables is not None:
            self._keep("n_variables", check_integer("n_variables", self.n_variables, 1))
        self._keep("regularization", _checked_regularization(self.regularization))
        _ = self.solvers
        check_random_state(self.random_state)
        if self.random_state is not None and not isinstance(self.random_state, np.random.Generator):
            self._keep("random_state", int(self.random_state))
        check_n_jobs(self.n_jobs)
        check_progress(self.progress)
        self._keep("gap", check_number("gap", self.gap, SMALLEST_GAP, 1.0, open_high=True))
        self._keep("time_limit", check_time_limit(self.time_limit))
        check_choice("estimator", self.estimator, ESTIMATORS)
        if self.estimator != "unbiased" and not self.fittable.abilities.fast_sums:
            raise InputError(
                f"estimator must be 'unbiased' for the {self.fittable.name} kernel; got "
                f"{self.estimator!r}, which only the linear one has"
            )

    def _keep(self, name: str, value: object) -> None:
        """Hold the checked value, as a plain Python number."""
        object.__setattr__(self, name, value)

    @cached_property
    def fittable(self) -> Kernel:
        """The kernel itself, where `kernel` may be its name."""
        return resolve_kernel(self.kernel)

    @cached_property
    def solvers(self) -> Solvers:
        """Who chooses."""
        return resolve_solver(self.solver, self.fittable.abilities)

    @property
    def fixed_regularization(self) -> float | None:
        """λ, or None for cross-validation."""
        return None if isinstance(self.regularization, str) else self.regularization

    @property
    def threads(self) -> int:
        """How many threads to use."""
        return check_n_jobs(self.n_jobs)

    def check_against(self, samples: Samples) -> None:
        """Raise where the samples do not allow what is asked for."""
        if self.n_variables is not None:
            check_integer("n_variables", self.n_variables, 1, samples.n_columns)
        check_rows(samples.n_x, samples.n_y, self.estimator)


def _checked_regularization(value: object) -> float | str:
    if isinstance(value, str):
        if value != "cv":
            raise InputError(f"regularization must be 'cv' or a number ≥ 0; got {value!r}")
        return value
    return check_number("regularization", value, 0.0)
