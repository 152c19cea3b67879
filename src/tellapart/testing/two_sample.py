"""Do two samples differ? A scan of all rows, or a split: choose on one part, test on the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arguments import check_labels, check_random_state
from tellapart.data.samples import Samples
from tellapart.data.tables import read_samples
from tellapart.errors import warn_caller
from tellapart.interrupts import heeding_interrupts
from tellapart.kernels import FittedKernel, Kernel
from tellapart.permutation.labels import least_pvalue
from tellapart.permutation.mmd import permutation_test
from tellapart.permutation.nulls import PermutationNull
from tellapart.progress import Progress, showing
from tellapart.scan.scan import Scan, scan
from tellapart.search import Annealing
from tellapart.selection.pipeline import tune_fit_choose
from tellapart.selection.selection import Selection
from tellapart.selection.tuning import Tuning
from tellapart.strs import Solver
from tellapart.testing.after_scan import choose_after
from tellapart.testing.result import TestResult
from tellapart.testing.settings import TestSettings
from tellapart.threads import blas_threads


def two_sample_test(
    X: object,
    Y: object,
    *,
    method: str = "scan",
    n_variables: int | None = None,
    kernel: str | Kernel = "auto",
    regularization: float | str = "cv",
    nonnegative: bool = True,
    solver: str | Solver | Annealing = "auto",
    test_size: float = 0.5,
    n_permutations: int = 999,
    alpha: float = 0.05,
    labels: tuple[str, str] = ("X", "Y"),
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | Progress = False,
    missing: str = "error",
    gap: float = 1e-4,
    time_limit: float | None = None,
) -> TestResult:
    """Test whether two samples come from one distribution, and say what differs.

    With `method="scan"` all rows test. Seven families of statistics (location, shape, kernel,
    correlation, pair, triple, higher) are computed for the true labels and for permutations of
    them, the same for all families. C = Σ_f w_f/p_f combines the families' p-values, and
    p = #{e : C(e) ≥ C(e₀)}/(B + 1) compares the true labels e₀ with the B permutations. All of it
    treats the true labels like every other permutation, so P(p ≤ α) ≤ α under H₀ for every sample
    size. From the same permutations come the `findings`: columns, pairs and triples that differ,
    with adjusted p-values, sizes and intervals. The variables are then chosen on all rows; the
    p-value does not depend on that choice.

    With `method="split"` each sample is split. On the training rows the weights z maximise
    MMD²(z) − λ σ²(z) over at most `n_variables` variables. On the held-out rows, with kernel,
    bandwidths and z frozen, MMD²(z) is compared with its values under permutations of the rows:
    p = (1 + #{T_i ≥ T})/(N_p + 1). So P(p ≤ α) ≤ α under H₀ for every sample size, whatever
    was chosen on the training rows.

    Parameters
    ----------
    X, Y : array or table
        The two samples; row numbers may differ; columns are matched by name where there are
        names. Two rows of each are enough for a scan, four for a split.
    method : {"scan", "split"}
        "scan": all rows test, and all rows choose. "split": some rows choose the variables, the
        others test.
    n_variables : int or None
        The largest number of variables to choose. None: with a scan as few as carry 95 % of the
        evidence of ten; with a split the number is tuned on the training rows. It has no part in
        the p-value of a scan.
    kernel : str or Kernel
        The kernel of the choice, or its name; with a split, of the test too. "auto": with a scan
        the choice is by evidence (`tellapart.select_variables`); with a split "linear".
    regularization : "cv" or float
        With a kernel: λ ≥ 0, how much variance counts against a choice. "cv": with a scan 0 where
        a choice without it can be proved best (the linear and the quadratic kernel), else that of
        "auto" (`tellapart.select_variables`); with a split it is chosen by cross-validation on the
        training rows.
    nonnegative : bool
        Whether weights must be at least 0. K_z is a kernel only then, and a test with a negative
        weight can be blind to a difference; False gives the paper's signed weights.
    solver : str or Solver
        A name in `tellapart.strs.SOLVERS`, or "auto", which picks by the size of the problem.
        With a scan and `kernel="auto"` a name means the linear kernel.
    test_size : float
        With a split: the share of the rows held out for the p-value, in (0, 1).
    n_permutations : int
        Number of permutations; all are enumerated where there are no more than that.
    alpha : float
        The level, in (0, 1): of the test, and of all findings together.
    labels : pair of str
        What to call the two samples.
    random_state : int, numpy Generator or None
        Seeds everything random: the same seed gives the same answer. None draws a seed,
        found in the `settings` of the result.
    n_jobs : int or None
        Threads; −1 is every core.
    progress : bool or callable
        True for a display on standard error, or a function of (stage, detail).
    missing : str
        What to do about missing values; see `tellapart.data.tables.read_samples`.
    gap : float
        The relative gap at which the proof of optimality may stop.
    time_limit : float or None
        Seconds after which the solver of the final selection stops with the best choice so far.
        None gives a proof of optimality ten seconds; the result carries the gap reached.

    Returns
    -------
    TestResult
        p-value, findings, families, variables with weights and certificate, null distribution,
        plots.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 4))
    >>> Y = rng.normal(size=(120, 4)) * [1, 1, 3, 1]
    >>> result = two_sample_test(X, Y, random_state=0)
    >>> result.reject, result.variables
    (True, ('x2',))
    >>> for finding in result.findings:
    ...     print(finding.summary())
    x2: spread 0.38 times as large in X as in Y (...), p = 0.001
    """
    settings = TestSettings(
        method=method,
        n_variables=n_variables,
        kernel=kernel,
        regularization=regularization,
        nonnegative=nonnegative,
        solver=solver,
        test_size=test_size,
        n_permutations=n_permutations,
        alpha=alpha,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
        gap=gap,
        time_limit=time_limit,
    )
    names = check_labels(labels)
    return run_test(read_samples(X, Y, missing=missing), settings, names)


@heeding_interrupts()
def run_test(
    samples: Samples, settings: TestSettings, labels: tuple[str, str] = ("X", "Y")
) -> TestResult:
    """Run the test on samples that were read already; see `two_sample_test`."""
    started = time.perf_counter()
    settings.check_against(samples)
    if settings.random_state is None:
        # A seed of our own: whoever gave none can still repeat the answer.
        settings = replace(settings, random_state=int(np.random.default_rng().integers(2**32)))
    with showing(settings.progress) as progress:
        found = RUNS[settings.method](samples, settings, progress)
    return found.result(settings, labels, time.perf_counter() - started)


def _generators(settings: TestSettings) -> list[np.random.Generator]:
    """Return one generator per step: how much randomness one uses does not move the others."""
    seeds = check_random_state(settings.random_state).integers(2**63, size=4)
    return [np.random.default_rng(seed) for seed in seeds]


def _run_scan(samples: Samples, settings: TestSettings, progress: Progress) -> _Found:
    """Test all rows for every kind of difference, and choose on all rows by what was found."""
    _, _, solve_rng, permute_rng = _generators(settings)
    _warn_of_tiny_halves(samples, settings)
    n_jobs = blas_threads() if settings.n_jobs is None else settings.threads
    found = scan(
        samples,
        n_permutations=settings.n_permutations,
        alpha=settings.alpha,
        rng=permute_rng,
        n_jobs=n_jobs,
        progress=progress,
    )
    chosen = choose_after(found, samples, settings, solve_rng, n_jobs, progress)
    return _Found(
        found.null, chosen.selection, chosen.tuning, chosen.kernel, samples, samples, found
    )


def _run_split(samples: Samples, settings: TestSettings, progress: Progress) -> _Found:
    """Choose on one part of the rows, test on the other."""
    split_rng, tune_rng, solve_rng, permute_rng = _generators(settings)
    train, held_out = samples.split(settings.test_size, split_rng)
    _warn_of_tiny_halves(held_out, settings)
    chosen = tune_fit_choose(
        train, settings, tune_rng=tune_rng, solve_rng=solve_rng, progress=progress
    )
    progress("test", f"{settings.n_permutations} permutations")
    null = permutation_test(
        held_out,
        chosen.kernel,
        chosen.selection.z,
        n_permutations=settings.n_permutations,
        alpha=settings.alpha,
        rng=permute_rng,
    )
    return _Found(null, chosen.selection, chosen.tuning, chosen.kernel, train, held_out)


@dataclass(frozen=True)
class _Found:
    """What the steps of a test found; where all rows choose and test, `train` is `tested`."""

    null: PermutationNull
    selection: Selection
    tuning: Tuning
    kernel: FittedKernel
    train: Samples
    tested: Samples
    scan: Scan | None = None

    def result(self, settings: TestSettings, labels: tuple[str, str], seconds: float) -> TestResult:
        train, tested = self.train, self.tested
        return TestResult(
            pvalue=self.null.pvalue,
            statistic=self.null.statistic,
            threshold=self.null.threshold,
            alpha=settings.alpha,
            null_distribution=self.null.null_distribution,
            exact=self.null.exact,
            selection=self.selection,
            n_train=(0, 0) if train is tested else (train.n_x, train.n_y),
            n_test=(tested.n_x, tested.n_y),
            tuning=self.tuning,
            labels=labels,
            seconds=seconds,
            kernel=self.kernel,
            held_out=tested,
            settings=settings.to_dict(),
            train=train,
            scan=None if self.scan is None else self.scan.labelled(labels),
        )


RUNS: dict[str, Callable[[Samples, TestSettings, Progress], _Found]] = {
    "scan": _run_scan,
    "split": _run_split,
}


def _warn_of_tiny_halves(held_out: Samples, settings: TestSettings) -> None:
    least = least_pvalue(held_out.n_x, held_out.n_y, settings.n_permutations)
    if least > settings.alpha:
        rows, remedy = "rows", "use more rows"
        if settings.method == "split":
            rows, remedy = "held-out rows", "use more rows or a greater test_size"
        warn_caller(
            f"{held_out.n_x} and {held_out.n_y} {rows} have so few permutations that no "
            f"p-value can fall below {least:.3g}, so alpha = {settings.alpha:g} is never "
            f"reached: {remedy}",
        )
