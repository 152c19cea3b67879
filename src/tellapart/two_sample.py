"""Do two samples differ? Split, tune and select on one part, permutation test on the other.

Or, without a split, select on all rows, and again under every relabelling.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
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
from tellapart.kernels import FittedKernel, Kernel, Linear, resolve_kernel
from tellapart.kernels.tuned import with_multiplier
from tellapart.permutation import (
    PermutationNull,
    check_reach,
    least_pvalue,
    permutation_test,
)
from tellapart.progress import Report, check_progress, reporting
from tellapart.reselection import reselection_test
from tellapart.result import TestResult
from tellapart.samples import Samples
from tellapart.search import Annealing
from tellapart.selection import Selection, check_gap, check_solver, choose
from tellapart.strs import Solver
from tellapart.tables import read_samples
from tellapart.tuning import Tuning, tune


@dataclass(frozen=True)
class TestSettings:
    """The settings of a two-sample test, checked when made; see `two_sample_test`."""

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
    progress: bool | Report = False
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
        """Raise unless the best choice is known in closed form for every relabelling."""
        kernel = resolve_kernel(self.kernel)
        if not isinstance(kernel, Linear):
            raise InputError(
                "kernel must be 'linear' with split=False, where the variables are chosen again "
                f"under every relabelling; got {kernel.name!r}"
            )
        if self.price not in (None, 0.0):
            raise InputError(
                "regularization must be 'cv' or 0 with split=False, where there are no rows to "
                f"choose λ by and it is 0; got {self.regularization!r}"
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


def two_sample_test(
    X: object,
    Y: object,
    *,
    n_variables: int | None = None,
    kernel: str | Kernel = "linear",
    regularization: float | str = "cv",
    solver: str | Solver | Annealing = "auto",
    test_size: float = 0.5,
    n_permutations: int = 999,
    alpha: float = 0.05,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | Report = False,
    missing: str = "error",
    gap: float = 1e-4,
    time_limit: float | None = None,
    split: bool = True,
) -> TestResult:
    """Test whether two samples come from one distribution, by the few variables that differ most.

    Each sample is split. On the training rows the weights z maximise MMD²(z) − λ σ²(z) over
    at most `n_variables` variables. On the held-out rows, with kernel, bandwidths and z frozen,
    MMD²(z) is compared with its values under relabellings of the rows:
    p = (1 + #{T_i ≥ T})/(N_p + 1). So P(p ≤ α) ≤ α under H₀ for every sample size, whatever
    was chosen on the training rows.

    With `split=False` all rows choose and all rows test, and the p-value is as valid: T is the
    maximum of MMD²(z) over z, taken anew under every relabelling. It needs the linear kernel
    without a price of variance, where that maximum has a closed form. With few rows this test
    is the more powerful one, as no row is spent on the choice alone; its p-value speaks of the
    best choice of all, not of the chosen variables on rows of their own.

    Parameters
    ----------
    X, Y : array or table
        The two samples; row numbers may differ; columns are matched by name where there are
        names.
    n_variables : int or None
        The largest number of variables; None chooses it from the training rows.
    kernel : str or Kernel
        The kernel, or its name.
    regularization : "cv" or float
        λ ≥ 0, the price of variance; "cv" chooses it by cross-validation on the training rows.
    solver : str or Solver
        A name in `tellapart.strs.SOLVERS`, or "auto", which picks by the size of the problem.
    test_size : float
        Share of the rows held out for the p-value, in (0, 1).
    n_permutations : int
        Number of relabellings; all are enumerated where there are no more than that.
    alpha : float
        The level, in (0, 1).
    random_state : int, numpy Generator or None
        Seeds everything random: the same seed gives the same answer. None draws a seed,
        found in the `settings` of the result.
    n_jobs : int or None
        Threads; −1 is every core.
    progress : bool or callable
        True for a display on standard error, or a function of (stage, detail).
    missing : str
        What to do about missing values; see `tellapart.tables.read_samples`.
    gap : float
        The relative gap at which the proof of optimality may stop.
    time_limit : float or None
        Seconds after which the solver of the final selection stops.
    split : bool
        Whether rows are held out. False tests all rows, choosing anew under every relabelling;
        `test_size` is not used then, and λ is 0.

    Returns
    -------
    TestResult
        p-value, variables with weights and certificate, null distribution, plots.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 4))
    >>> Y = rng.normal(size=(120, 4)) * [1, 1, 3, 1]
    >>> result = two_sample_test(X, Y, n_variables=1, random_state=0)
    >>> result.reject, result.variables
    (True, ('x2',))
    """
    settings = TestSettings(
        n_variables=n_variables,
        kernel=kernel,
        regularization=regularization,
        solver=solver,
        test_size=test_size,
        n_permutations=n_permutations,
        alpha=alpha,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
        gap=gap,
        time_limit=time_limit,
        split=split,
    )
    return run_test(read_samples(X, Y, missing=missing), settings)


def run_test(
    samples: Samples, settings: TestSettings, labels: tuple[str, str] = ("X", "Y")
) -> TestResult:
    """Run the test on samples that were read already; see `two_sample_test`."""
    started = time.perf_counter()
    if settings.n_variables is not None:
        check_integer("n_variables", settings.n_variables, 1, samples.n_columns)
    if settings.random_state is None:
        # A seed of our own: whoever gave none can still repeat the answer.
        settings = replace(settings, random_state=int(np.random.default_rng().integers(2**32)))
    run = _run_split if settings.split else _run_unsplit
    return run(samples, settings, labels, started)


def _generators(settings: TestSettings) -> list[np.random.Generator]:
    """Return one generator per step: how much randomness one uses does not move the others."""
    seeds = check_random_state(settings.random_state).integers(2**63, size=4)
    return [np.random.default_rng(seed) for seed in seeds]


def _run_split(
    samples: Samples, settings: TestSettings, labels: tuple[str, str], started: float
) -> TestResult:
    """Choose on one part of the rows, test on the other."""
    split_rng, tune_rng, solve_rng, permute_rng = _generators(settings)
    threads = check_n_jobs(settings.n_jobs)
    kernel = resolve_kernel(settings.kernel)
    train, held_out = samples.split(settings.test_size, split_rng)
    _warn_of_tiny_halves(held_out, settings)
    with reporting(settings.progress) as report:
        tuning = tune(
            train,
            kernel,
            n_variables=settings.n_variables,
            regularization=settings.price,
            rng=tune_rng,
            n_jobs=threads,
            report=report,
        )
        fitted = with_multiplier(kernel, tuning.multiplier).fit(train, n_jobs=threads)
        selection = _select(train, fitted, tuning, settings, solve_rng, report)
        report("test", f"{settings.n_permutations} relabellings")
        null = permutation_test(
            held_out,
            fitted,
            selection.z,
            n_permutations=settings.n_permutations,
            alpha=settings.alpha,
            rng=permute_rng,
        )
    result = _result(null, selection, tuning, held_out, fitted, settings, labels)
    return replace(
        result,
        n_train=(train.n_x, train.n_y),
        train=train,
        seconds=time.perf_counter() - started,
    )


def _run_unsplit(
    samples: Samples, settings: TestSettings, labels: tuple[str, str], started: float
) -> TestResult:
    """Choose on all rows, and again under every relabelling of them."""
    _, _, solve_rng, permute_rng = _generators(settings)
    threads = check_n_jobs(settings.n_jobs)
    _warn_of_tiny_halves(samples, settings)
    with reporting(settings.progress) as report:
        fitted = resolve_kernel(settings.kernel).fit(samples, n_jobs=threads)
        found = reselection_test(
            samples,
            fitted,
            settings.n_variables,
            n_permutations=settings.n_permutations,
            alpha=settings.alpha,
            rng=permute_rng,
            n_jobs=threads,
            report=report,
        )
        tuning = Tuning(found.n_variables, 0.0, sizes=found.sizes)
        selection = _select(samples, fitted, tuning, settings, solve_rng, report)
    result = _result(found.null, selection, tuning, samples, fitted, settings, labels)
    return replace(result, train=samples, seconds=time.perf_counter() - started)


def _select(
    samples: Samples,
    fitted: FittedKernel,
    tuning: Tuning,
    settings: TestSettings,
    rng: np.random.Generator,
    report: Report,
) -> Selection:
    return choose(
        samples,
        fitted,
        n_variables=tuning.n_variables,
        regularization=tuning.regularization,
        solver=settings.solver,
        gap=settings.gap,
        time_limit=settings.time_limit,
        rng=rng,
        n_jobs=check_n_jobs(settings.n_jobs),
        report=report,
    )


def _result(
    null: PermutationNull,
    selection: Selection,
    tuning: Tuning,
    tested: Samples,
    fitted: FittedKernel,
    settings: TestSettings,
    labels: tuple[str, str],
) -> TestResult:
    return TestResult(
        pvalue=null.pvalue,
        statistic=null.statistic,
        threshold=null.threshold,
        alpha=settings.alpha,
        null_distribution=null.null_distribution,
        exact=null.exact,
        selection=selection,
        n_train=(0, 0),
        n_test=(tested.n_x, tested.n_y),
        tuning=tuning,
        labels=labels,
        seconds=0.0,
        kernel=fitted,
        held_out=tested,
        settings=settings.to_dict(),
    )


def _checked_price(value: object) -> float | str:
    if isinstance(value, str):
        if value != "cv":
            raise InputError(f"regularization must be 'cv' or a number ≥ 0; got {value!r}")
        return value
    return check_number("regularization", value, 0.0)


def _checked_share(name: str, value: object) -> float:
    return check_number(name, value, 0.0, 1.0, open_low=True, open_high=True)


def _warn_of_tiny_halves(held_out: Samples, settings: TestSettings) -> None:
    least = least_pvalue(held_out.n_x, held_out.n_y, settings.n_permutations)
    if least > settings.alpha:
        rows, remedy = "rows", "use more rows"
        if settings.split:
            rows, remedy = "held-out rows", "use more rows or a greater test_size"
        warnings.warn(
            f"{held_out.n_x} and {held_out.n_y} {rows} have so few relabellings that no "
            f"p-value can fall below {least:.3g}, so alpha = {settings.alpha:g} is never "
            f"reached: {remedy}",
            UserWarning,
            stacklevel=5,
        )
