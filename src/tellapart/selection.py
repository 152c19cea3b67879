"""Which few variables tell two samples apart: checked samples in, Selection out."""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tellapart.arguments import (
    check_choice,
    check_number,
)
from tellapart.errors import ConstantColumnWarning, InputError
from tellapart.kernels import FittedIndex, FittedKernel, Kernel
from tellapart.objective import Objective
from tellapart.progress import Report, solver_progress
from tellapart.samples import FloatArray, IntArray, Samples
from tellapart.search import Annealing, Trace
from tellapart.search.choice import SEARCH, Choice, choose_weights
from tellapart.statistics import linear_coefficients
from tellapart.strs import SOLVERS, Solver, solve
from tellapart.strs.control import Control
from tellapart.strs.solution import Solution, Status, relative_gap
from tellapart.strs.solve import SMALLEST_GAP

NAMES_SHOWN = 10
ROUNDING = 1e-9
"""A relative gap this small is not worth a word."""


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The chosen variables, their weights, and what is proved about the choice.

    The weights z maximise F(z) = MMD²(z) − λ σ²(z) over ‖z‖₂ = 1, ‖z‖₀ ≤ d.

    Attributes
    ----------
    support : sorted int array
        Positions of the chosen columns.
    z : array of length D
        The weights: 0 outside the support.
    value : float
        F(z).
    upper_bound : float or None
        A proved bound on the best F of any choice; None if none is proved.
    status : "optimal", "feasible" or "time_limit"
        "optimal" only if the bound is within the gap asked for.
    solver : str
        The solver that ran.
    seconds : float
        Wall time of the solver.
    kernel : str
        Name of the kernel.
    names : tuple of str
        Names of all columns.
    regularization : float
        λ.
    constant : tuple of str
        Columns that never vary: weight 0.
    history : tuple of Trace
        How the annealed runs of the search went; empty where an exact solver did the work.
    method : str
        The baseline that chose, by an objective of its own; empty for tellapart's own choice.
    nonnegative : bool
        Whether only weights of at least 0 were allowed; the certificate is then for these.
    """

    support: IntArray
    z: FloatArray
    value: float
    upper_bound: float | None
    status: Status
    solver: str
    seconds: float
    kernel: str
    names: tuple[str, ...]
    regularization: float
    constant: tuple[str, ...] = ()
    history: tuple[Trace, ...] = ()
    method: str = ""
    nonnegative: bool = False

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the chosen columns, in the order of `support`."""
        return tuple(self.names[s] for s in self.support)

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each chosen variable, the heaviest first."""
        order = sorted(self.support.tolist(), key=lambda s: (-abs(self.z[s]), s))
        return {self.names[s]: float(self.z[s]) for s in order}

    @property
    def maker(self) -> str:
        """What chose the variables: kernel and λ, or the baseline."""
        return self.method or f"{self.kernel} kernel, λ = {self.regularization:g}"

    @property
    def gap(self) -> float | None:
        """Relative gap between `upper_bound` and `value`, or None without a bound."""
        return None if self.upper_bound is None else relative_gap(self.value, self.upper_bound)

    @property
    def certificate(self) -> str:
        """What is proved about the choice, in words."""
        chosen = f"{self.support.size} variable{'s' if self.support.size > 1 else ''}"
        by = f"{self.solver}, {self.seconds:.2f} s"
        if self.method:
            return self._certificate_of_method(chosen)
        if self.gap is None or not math.isfinite(self.gap):
            return f"a good choice of {chosen}, not proved to be the best ({by})"
        margin = _margin(self.gap)
        if self.nonnegative:
            chosen += " with weights of at least 0"
        better = f"do better{margin}"
        if self.status == "optimal":
            return f"proved: no other choice of at most {chosen} can {better} ({by})"
        return f"proved only that no other choice of at most {chosen} can {better} ({by})"

    def _certificate_of_method(self, chosen: str) -> str:
        if self.support.size + len(self.constant) == len(self.names):
            return f"none needed: {self.method} uses all variables that vary"
        if self.gap is None or not math.isfinite(self.gap):
            return f"none: {self.method} chose {chosen} and proves nothing about the choice"
        margin = _margin(self.gap)
        return (
            f"proved for the objective of {self.method} only: no other choice of at most "
            f"{chosen} can do better{margin}"
        )

    def summary(self) -> str:
        """Return the chosen variables and the certificate as plain text.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> Y = rng.normal(size=(60, 3)) + [0, 3, 0]
        >>> print(ta.select_variables(rng.normal(size=(50, 3)), Y, 1).summary())
        1 of 3 variables chosen (linear kernel, λ = 0.1):
          x1  1.000
        Certificate: proved: no other choice ...
        """
        head = f"{self.support.size} of {len(self.names)} variables chosen ({self.maker}):"
        return "\n".join([head, *weight_lines(self), f"Certificate: {self.certificate}."])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values, ready for JSON."""
        return {
            "variables": list(self.variables),
            "weights": self.weights,
            "support": self.support.tolist(),
            "z": self.z.tolist(),
            "value": self.value,
            "upper_bound": self.upper_bound,
            "gap": self.gap if self.gap is None or math.isfinite(self.gap) else None,
            "status": self.status,
            "solver": self.solver,
            "seconds": self.seconds,
            "kernel": self.kernel,
            "regularization": self.regularization,
            "names": list(self.names),
            "constant": list(self.constant),
            "history": [asdict(trace) for trace in self.history],
            "method": self.method or None,
            "nonnegative": self.nonnegative,
        }

    def _repr_html_(self) -> str:
        from tellapart.report.notebook import selection_card

        return selection_card(self)

    def __repr__(self) -> str:
        return f"<Selection of {self.support.size} of {len(self.names)} variables, {self.status}>"


def _margin(gap: float) -> str:
    if gap <= ROUNDING:
        return ""
    digits = ".2g" if gap < 1 else ".0f"
    return f" by more than {100 * gap:{digits}} %"


def weight_lines(selection: Selection) -> list[str]:
    """Return one aligned line per chosen variable, the heaviest first."""
    width = max(map(len, selection.weights), default=0)
    return [f"  {name:<{width}}  {weight: .3f}" for name, weight in selection.weights.items()]


def choose(
    samples: Samples,
    kernel: FittedKernel,
    *,
    n_variables: int,
    regularization: float,
    solver: str | Solver | Annealing,
    gap: float,
    time_limit: float | None,
    rng: np.random.Generator,
    n_jobs: int,
    report: Report,
    estimator: str = "unbiased",
) -> Selection:
    """Choose variables of checked samples with a fitted kernel; see `tellapart.select_variables`.

    Columns that `kernel` found constant are left out of the problem and named in a warning.
    """
    report("select", "computing coefficients")
    keep = varying_columns(samples, kernel)
    size = min(n_variables, keep.size)
    progress = solver_progress(report, "select")
    found: Solution | Choice
    if isinstance(kernel, FittedIndex):
        found = choose_weights(
            Objective.of_fitted(samples.columns(keep), restrict(kernel, keep), regularization),
            size,
            solver=solver,
            control=Control(gap=gap, time_limit=time_limit, rng=rng, progress=progress),
            n_jobs=n_jobs,
        )
    else:
        if isinstance(solver, Annealing):
            raise InputError(f"solver must be exact or a heuristic of its kind; got {solver!r}")
        coefficients = linear_coefficients(
            samples.columns(keep), restrict(kernel, keep), estimator=estimator, n_jobs=n_jobs
        )
        found = solve(
            coefficients.as_problem(regularization, size),
            solver=solver,
            gap=gap,
            time_limit=time_limit,
            random_state=rng,
            progress=progress,
        )
    z = np.zeros(samples.n_columns)
    z[keep] = found.z
    return Selection(
        support=np.flatnonzero(z),
        z=z,
        value=found.value,
        upper_bound=found.upper_bound,
        status=found.status,
        solver=found.solver,
        seconds=found.seconds,
        kernel=kernel.name,
        names=samples.names,
        regularization=regularization,
        constant=tuple(samples.names[s] for s in np.flatnonzero(kernel.constant)),
        history=found.history if isinstance(found, Choice) else (),
    )


def check_solver(value: object, kernel: Kernel) -> None:
    """Raise unless `value` is "auto", the name of a solver that serves the kernel, or a solver.

    The solvers of sparse trust region problems serve the linear kernel, and the quadratic one at
    λ = 0; `tellapart.search.Annealing` serves all kernels but the linear one.
    """
    linear = kernel.name == "linear"
    exact = linear or kernel.name == "quadratic"
    if isinstance(value, Annealing):
        fits = not linear
    elif isinstance(value, str | type) or not exact:
        fits = False
    else:
        fits = hasattr(value, "solve") and hasattr(value, "name")
    names = ["auto", *(SOLVERS if exact else ()), *(() if linear else (SEARCH,))]
    if not fits:
        check_choice("solver", value, names)


def check_gap(value: object) -> float:
    """Return the relative gap, at least what floating-point arithmetic can prove."""
    return check_number("gap", value, SMALLEST_GAP, 1.0, open_high=True)


def restrict(kernel: FittedKernel, columns: IntArray) -> FittedKernel:
    """Return the kernel of some columns only."""
    scalars = tuple(kernel.scalars[s] for s in columns)
    return replace(kernel, scalars=scalars, constant=kernel.constant[columns])


def varying_columns(samples: Samples, kernel: FittedKernel, *, warn: bool = True) -> IntArray:
    """Return the columns that vary; warn of the others, and raise if none is left."""
    keep = np.flatnonzero(~kernel.constant)
    if keep.size == 0:
        raise InputError(
            f"X and Y must have a column that varies; all {samples.n_columns} are constant "
            "in the rows that variables are chosen from"
        )
    constant = [samples.names[s] for s in np.flatnonzero(kernel.constant)]
    if constant and warn:
        shown = ", ".join(map(repr, constant[:NAMES_SHOWN]))
        more = len(constant) - NAMES_SHOWN
        rest = f" and {more} more" if more > 0 else ""
        warnings.warn(
            f"constant columns get weight 0: {shown}{rest}",
            ConstantColumnWarning,
            stacklevel=4,
        )
    return keep
