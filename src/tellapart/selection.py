"""Which few variables tell two samples apart: samples, kernel and solver in, Selection out."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tellapart.arguments import (
    check_choice,
    check_integer,
    check_n_jobs,
    check_number,
    check_random_state,
    check_time_limit,
)
from tellapart.errors import ConstantColumnWarning, InputError
from tellapart.kernels import Kernel, resolve_kernel
from tellapart.kernels.base import FittedKernel
from tellapart.progress import Report, check_progress, reporting, solver_progress
from tellapart.samples import FloatArray, IntArray, Samples
from tellapart.statistics import ESTIMATORS, linear_coefficients
from tellapart.strs import SOLVERS, Solver, solve
from tellapart.strs.solution import Status, relative_gap
from tellapart.strs.solve import SMALLEST_GAP
from tellapart.tables import read_samples

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
    method : str
        The baseline that chose, by an objective of its own; empty for tellapart's own choice.
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
    method: str = ""

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
        margin = f" by more than {100 * self.gap:.2g} %" if self.gap > ROUNDING else ""
        better = f"do better{margin}"
        if self.status == "optimal":
            return f"proved: no other choice of at most {chosen} can {better} ({by})"
        return f"proved only that no other choice of at most {chosen} can {better} ({by})"

    def _certificate_of_method(self, chosen: str) -> str:
        if self.support.size + len(self.constant) == len(self.names):
            return f"none needed: {self.method} uses all variables that vary"
        if self.gap is None or not math.isfinite(self.gap):
            return f"none: {self.method} chose {chosen} and proves nothing about the choice"
        margin = f" by more than {100 * self.gap:.2g} %" if self.gap > ROUNDING else ""
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
            "method": self.method or None,
        }

    def __repr__(self) -> str:
        return f"<Selection of {self.support.size} of {len(self.names)} variables, {self.status}>"


def weight_lines(selection: Selection) -> list[str]:
    """Return one aligned line per chosen variable, the heaviest first."""
    width = max(map(len, selection.weights), default=0)
    return [f"  {name:<{width}}  {weight: .3f}" for name, weight in selection.weights.items()]


def select_variables(
    X: object,
    Y: object,
    n_variables: int,
    *,
    kernel: str | Kernel = "linear",
    regularization: float = 0.1,
    solver: str | Solver = "auto",
    gap: float = 1e-4,
    time_limit: float | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | Report = False,
    missing: str = "error",
    estimator: str = "unbiased",
) -> Selection:
    """Choose the variables whose distributions differ most between two samples.

    Maximises F(z) = MMD²(z) − λ σ²(z) over weights with ‖z‖₂ = 1 and at most `n_variables`
    non-zeros, and says how far from the best the choice can be. All rows are used, so a test
    on the same rows would be too optimistic: for a p-value use `two_sample_test`.

    Parameters
    ----------
    X, Y : array or table
        The two samples; columns are matched by name where there are names.
    n_variables : int
        The largest number of variables, d.
    kernel : str or Kernel
        The kernel, or its name.
    regularization : float
        λ ≥ 0: the price of variance.
    solver : str or Solver
        A name in `tellapart.strs.SOLVERS`, or "auto", which picks by the size of the problem.
    gap : float
        The relative gap at which the proof of optimality may stop.
    time_limit : float or None
        Seconds after which the solver stops with the best choice so far.
    random_state : int, numpy Generator or None
        Seeds the solver's random starts.
    n_jobs : int or None
        Threads; −1 is every core.
    progress : bool or callable
        True for a display on standard error, or a function of (stage, detail).
    missing : str
        What to do about missing values; see `tellapart.tables.read_samples`.
    estimator : "unbiased" or "paired"
        "paired" is the paper's form, for samples with the same number of rows.

    Returns
    -------
    Selection
        Variables, weights, objective, bound and status.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> Y = rng.normal(size=(80, 5)) + [0, 2, 0, 0, 2]
    >>> select_variables(X, Y, 2, random_state=0).support.tolist()
    [1, 4]
    """
    fitted_by = check_kernel(kernel)
    price = check_number("regularization", regularization, 0.0)
    check_solver(solver)
    check_choice("estimator", estimator, ESTIMATORS)
    check_integer("n_variables", n_variables, 1)
    tolerance = check_gap(gap)
    seconds = check_time_limit(time_limit)
    rng = check_random_state(random_state)
    threads = check_n_jobs(n_jobs)
    shown = check_progress(progress)
    samples = read_samples(X, Y, missing=missing)
    check_integer("n_variables", n_variables, 1, samples.n_columns)
    with reporting(shown) as report:
        return choose(
            samples,
            fitted_by.fit(samples, n_jobs=threads),
            n_variables=n_variables,
            regularization=price,
            solver=solver,
            gap=tolerance,
            time_limit=seconds,
            rng=rng,
            n_jobs=threads,
            estimator=estimator,
            report=report,
        )


def choose(
    samples: Samples,
    kernel: FittedKernel,
    *,
    n_variables: int,
    regularization: float,
    solver: str | Solver,
    gap: float,
    time_limit: float | None,
    rng: np.random.Generator,
    n_jobs: int,
    report: Report,
    estimator: str = "unbiased",
) -> Selection:
    """Choose variables of checked samples with a fitted kernel; see `select_variables`.

    Columns that `kernel` found constant are left out of the problem and named in a warning.
    """
    report("select", "computing coefficients")
    keep = varying_columns(samples, kernel)
    coefficients = linear_coefficients(
        samples.columns(keep), restrict(kernel, keep), estimator=estimator, n_jobs=n_jobs
    )
    solution = solve(
        coefficients.as_problem(regularization, min(n_variables, keep.size)),
        solver=solver,
        gap=gap,
        time_limit=time_limit,
        random_state=rng,
        progress=solver_progress(report, "select"),
    )
    z = np.zeros(samples.n_columns)
    z[keep] = solution.z
    return Selection(
        support=np.asarray(keep[solution.support], dtype=np.intp),
        z=z,
        value=solution.value,
        upper_bound=solution.upper_bound,
        status=solution.status,
        solver=solution.solver,
        seconds=solution.seconds,
        kernel=kernel.name,
        names=samples.names,
        regularization=regularization,
        constant=tuple(samples.names[s] for s in np.flatnonzero(kernel.constant)),
    )


def check_kernel(value: str | Kernel) -> Kernel:
    """Return the kernel; variables can be chosen with the linear one only so far."""
    kernel = resolve_kernel(value)
    if kernel.name != "linear":
        raise InputError(
            f"kernel must be linear to choose variables; got {value!r}, which so far serves "
            "tellapart.objective.Objective only"
        )
    return kernel


def check_solver(value: object) -> None:
    """Raise unless `value` is "auto", the name of a solver, or a solver."""
    if isinstance(value, str) or not (hasattr(value, "solve") and hasattr(value, "name")):
        check_choice("solver", value, ["auto", *SOLVERS])


def check_gap(value: object) -> float:
    """Return the relative gap, at least what floating-point arithmetic can prove."""
    return check_number("gap", value, SMALLEST_GAP, 1.0, open_high=True)


def restrict(kernel: FittedKernel, columns: IntArray) -> FittedKernel:
    """Return the kernel of some columns only."""
    scalars = tuple(kernel.scalars[s] for s in columns)
    return replace(kernel, scalars=scalars, constant=kernel.constant[columns])


def varying_columns(samples: Samples, kernel: FittedKernel) -> IntArray:
    """Return the columns that vary; warn of the others, and raise if none is left."""
    keep = np.flatnonzero(~kernel.constant)
    if keep.size == 0:
        raise InputError(
            f"X and Y must have a column that varies; all {samples.n_columns} are constant "
            "in the rows that variables are chosen from"
        )
    constant = [samples.names[s] for s in np.flatnonzero(kernel.constant)]
    if constant:
        shown = ", ".join(map(repr, constant[:NAMES_SHOWN]))
        more = len(constant) - NAMES_SHOWN
        rest = f" and {more} more" if more > 0 else ""
        warnings.warn(
            f"constant columns get weight 0: {shown}{rest}",
            ConstantColumnWarning,
            stacklevel=4,
        )
    return keep
