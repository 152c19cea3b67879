"""The settings of a selection, checked before any work is done."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tellapart.arguments import (
    check_choice,
    check_flag,
    check_integer,
    check_n_jobs,
    check_number,
    check_random_state,
    check_time_limit,
)
from tellapart.arrays import BoolArray, IntArray
from tellapart.data.column_store import extremes_of
from tellapart.data.samples import Samples
from tellapart.errors import ConstantColumnWarning, InputError, warn_caller
from tellapart.kernels import Abilities, Kernel, Linear, resolve_kernel
from tellapart.progress import Progress, check_progress
from tellapart.search import Annealing
from tellapart.search.choice import Solvers, resolve_solver
from tellapart.selection.selection import EVIDENCE, RATIO, REGULARIZED
from tellapart.statistics.mmd import ESTIMATORS, check_rows
from tellapart.strs import Solver
from tellapart.strs.contract import PLAIN_ONLY
from tellapart.strs.solve import SMALLEST_GAP
from tellapart.text import listed

AUTO = "auto"
CROSS_VALIDATED = "cv"
OBJECTIVES = (AUTO, EVIDENCE, REGULARIZED, RATIO)
DEFAULT_REGULARIZATION = 0.1
"""λ by default…"""
AVERAGE_REGULARIZATION = 1.0
"""…and for kernels of a weighted average, which use too few variables with less…"""
RATIO_SHRINKAGE = 3.0
"""…and r for the ratio."""
NAMES_SHOWN = 10
"""Constant columns that a warning names."""


@dataclass(frozen=True, kw_only=True)
class SelectionSettings:
    """The settings of a selection, checked when made; see `tellapart.select_variables`.

    `n_variables=None` and `regularization="cv"` leave the number of variables and λ to tuning.
    """

    n_variables: int | None = None
    kernel: str | Kernel = AUTO
    regularization: float | str = AUTO
    objective: str = AUTO
    nonnegative: bool = True
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
        self._keep("nonnegative", check_flag("nonnegative", self.nonnegative))
        check_choice("objective", self.objective, OBJECTIVES)
        if not self.by_evidence:
            self._check_kernel()
        check_random_state(self.random_state)
        if self.random_state is not None and not isinstance(self.random_state, np.random.Generator):
            self._keep("random_state", int(self.random_state))
        check_n_jobs(self.n_jobs)
        check_progress(self.progress)
        self._keep("gap", check_number("gap", self.gap, SMALLEST_GAP, 1.0, open_high=True))
        self._keep("time_limit", check_time_limit(self.time_limit))
        check_choice("estimator", self.estimator, ESTIMATORS)
        if self.estimator != "unbiased" and self.by_evidence:
            raise InputError(
                f"estimator must be 'unbiased' for a choice by evidence; got {self.estimator!r}; "
                "name a kernel"
            )
        if self.estimator != "unbiased" and not self.fittable.abilities.fast_sums:
            raise InputError(
                f"estimator must be 'unbiased' for the {self.fittable.name} kernel; got "
                f"{self.estimator!r}, which only the linear one has"
            )

    def _keep(self, name: str, value: object) -> None:
        """Hold the checked value, as a plain Python number."""
        object.__setattr__(self, name, value)

    def _check_kernel(self) -> None:
        """Raise where the kernel, the solver or the objective do not go together."""
        if self.objective == EVIDENCE:
            raise InputError(
                "objective='evidence' has a kernel, λ, solver and weights of its own: leave "
                "kernel, regularization, solver and nonnegative out, or name another objective"
            )
        signed = isinstance(self.solver, str) and self.solver in PLAIN_ONLY
        if signed and (self.nonnegative or self.objective == RATIO):
            raise InputError(
                f"solver {self.solver!r} takes neither weights of at least 0 nor ratios: use "
                "'branch-and-bound', 'brute-force', 'local-search' or 'truncation', or give "
                "nonnegative=False for the paper's signed weights"
            )
        if self.objective == RATIO and not self.fittable.abilities.exact:
            raise InputError(
                "objective='ratio' needs the linear kernel; got the "
                f"{self.fittable.name} kernel; leave kernel out"
            )
        if self.objective == RATIO and self.regularization == CROSS_VALIDATED:
            raise InputError("regularization must be 'auto' or a number ≥ 0 with objective='ratio'")
        _ = self.solvers

    @property
    def by_evidence(self) -> bool:
        """Whether the choice is by evidence: the default, unless another is requested."""
        return (
            isinstance(self.kernel, str)
            and self.kernel == AUTO
            and self.objective in (AUTO, EVIDENCE)
            and isinstance(self.solver, str)
            and self.solver == AUTO
            and isinstance(self.regularization, str)
            and self.nonnegative
        )

    @property
    def kernel_objective(self) -> str:
        """What a choice by a kernel maximises."""
        return RATIO if self.objective == RATIO else REGULARIZED

    @cached_property
    def fittable(self) -> Kernel:
        """The kernel itself: the linear one where only a λ or a solver is given."""
        return resolve_kernel(self.kernel, auto=Linear())

    @cached_property
    def solvers(self) -> Solvers:
        """The solvers that choose."""
        return resolve_solver(self.solver, self.fittable.abilities)

    @property
    def fixed_regularization(self) -> float | None:
        """λ (or r, for the ratio); None for cross-validation."""
        if not isinstance(self.regularization, str):
            return self.regularization
        if self.regularization == CROSS_VALIDATED:
            return None
        if self.objective == RATIO:
            return RATIO_SHRINKAGE
        return default_regularization(self.fittable.abilities)

    @property
    def threads(self) -> int:
        """How many threads to use."""
        return check_n_jobs(self.n_jobs)

    def check_against(self, samples: Samples) -> None:
        """Raise where the samples do not allow these settings."""
        if self.n_variables is not None:
            check_integer("n_variables", self.n_variables, 1, samples.n_columns)
        if self.estimator != "unbiased":
            check_rows(*samples.n_values, self.estimator)


def constant_columns(samples: Samples) -> BoolArray:
    """Return which columns never vary."""
    (low_x, high_x), (low_y, high_y) = extremes_of(samples.x), extremes_of(samples.y)
    return np.asarray(np.minimum(low_x, low_y) == np.maximum(high_x, high_y))


def check_varying(samples: Samples, constant: BoolArray, *, warn: bool = True) -> IntArray:
    """Return the columns that are not constant; warn of the others, and raise if none is left."""
    varying = np.flatnonzero(~constant)
    if varying.size == 0:
        raise InputError(
            f"X and Y must have a column that varies; all {samples.n_columns} are constant "
            "in the rows that variables are chosen from"
        )
    if warn and constant.any():
        names = [repr(samples.names[s]) for s in np.flatnonzero(constant)]
        shown = listed(names, NAMES_SHOWN)
        warn_caller(f"constant columns get weight 0: {shown}", ConstantColumnWarning)
    return varying


def default_regularization(abilities: Abilities) -> float:
    """Return λ for a kernel of these abilities where it is left open and not tuned."""
    return AVERAGE_REGULARIZATION if abilities.averages else DEFAULT_REGULARIZATION


def _checked_regularization(value: object) -> float | str:
    if isinstance(value, str):
        if value not in (AUTO, CROSS_VALIDATED):
            raise InputError(f"regularization must be 'auto', 'cv' or a number ≥ 0; got {value!r}")
        return value
    return check_number("regularization", value, 0.0)
