"""Keep a reference, check batch after batch: one valid p-value each, one error for all of them.

A scan compares all rows of the batch with rows of the reference drawn without a look at their
values: under H₀ they are exchangeable, so every check's p-value is valid by itself. With a split
the reference's rows are split once, into rows to choose variables from and rows to hold out, and
each batch when it comes; under H₀ the held-out rows of both are exchangeable whatever was chosen
on the others. The p-values of one reference share its rows and are dependent: only corrections
that allow any dependence may join them, and the levels α_k with Σ α_k ≤ α do.
"""

from __future__ import annotations

import copy
import math
import re
import time
from dataclasses import replace
from typing import Any

import numpy as np

from tellapart.arguments import (
    check_choice,
    check_integer,
    check_number,
    check_random_state,
)
from tellapart.data.missing import POLICIES, handle_missing
from tellapart.data.samples import Samples
from tellapart.data.sources import open_source
from tellapart.data.tables import read_samples, read_sources
from tellapart.errors import InputError
from tellapart.kernels import Kernel
from tellapart.progress import Progress
from tellapart.strs import Solver
from tellapart.testing.check_result import USUAL_RATIO, CheckRecord, CheckResult
from tellapart.testing.reference_halves import ReferenceHalves, some_rows
from tellapart.testing.refinement import refine_pvalue
from tellapart.testing.settings import TestSettings
from tellapart.testing.two_sample import run_test


def compare_to_reference(
    reference: object,
    *,
    method: str = "scan",
    n_variables: int | None = None,
    kernel: str | Kernel = "auto",
    regularization: float | str = "cv",
    solver: str | Solver = "auto",
    test_size: float = 0.5,
    n_permutations: int = 999,
    alpha: float = 0.05,
    n_checks: int | None = None,
    reference_ratio: float | None = USUAL_RATIO,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    missing: str = "error",
    gap: float = 1e-4,
    time_limit: float | None = None,
) -> ReferenceMonitor:
    """Store a reference sample, to check later batches against it.

    Each `check(batch)` is a two-sample test of the reference and the batch, with a p-value of
    its own. Whether to raise an alarm is decided for the whole sequence: check k alarms if
    p ≤ α_k, with α_k = α/n_checks, or α_k = 6α/(π²k²) if the sequence has no planned end. The
    sum of all α_k is at most α, and so is the chance of any false alarm, however the p-values
    depend on each other.

    Parameters
    ----------
    reference : array, sparse matrix, table or AnnData
        The sample that batches are compared to; a copy is kept.
    method, n_variables, kernel, regularization, solver, test_size, n_permutations : optional
        As in `two_sample_test`, for every check. Where α_k needs more permutations than
        `n_permutations`, more are drawn, up to 99,999 (fewer with many columns), but only if
        none of the first ones reached the statistic: the p-value stays valid and most checks
        stay quick.
    alpha : float
        The level α of each check by itself (`reject`) and of the whole sequence (`alarm`).
    n_checks : int or None
        How many checks are planned. Name it if you can: without an end α_k falls off fast, and
        after some fifty checks (at α = 0.05) no p-value can reach it.
    reference_ratio : float or None
        Rows of the reference that a check uses at most, for each row of the batch: drawn afresh
        for every check (with a split, from each of the reference's two parts). A tenfold
        reference has a standard error only 5 % above that of an endless one, and the cost of a
        check then depends on the batch, not on the reference. None uses all rows.
    random_state : int, numpy Generator or None
        Seeds everything random: the same seed and the same sequence of batches give the same
        answers.
    n_jobs : int or None
        Threads; −1 is every core.
    missing : str
        What to do about missing values; see `tellapart.data.tables.read_samples`.
    gap, time_limit : float
        As in `two_sample_test`.

    Returns
    -------
    ReferenceMonitor
        Call `check(batch)` on it. It can be pickled, and goes on where it was.

    Notes
    -----
    A scan uses all rows of the batch, and ranks and scales of the pooled rows of each check.
    With a split and the linear kernel the bandwidths are found once, on the reference's training
    rows: every batch is measured with the same ruler. Other kernels have a scale over all columns
    together and are fitted on the pooled training rows of each check.

    Rows must be independent, and batches must not be picked in view of earlier answers. One
    reference is used by all checks, so false alarms come in clusters: their share is right on
    average over references, not for each single one.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> last_month = rng.normal(size=(2000, 4))
    >>> monitor = compare_to_reference(last_month, n_checks=30, random_state=0)
    >>> monitor.check(rng.normal(size=(200, 4)), label="Monday").alarm
    False
    >>> result = monitor.check(rng.normal(size=(200, 4)) + [0, 0, 1, 0], label="Tuesday")
    >>> result.alarm, [(finding.kind, finding.variables) for finding in result.findings]
    (True, [('location', ('x2',))])
    >>> [(record.label, record.alarm) for record in monitor.history]
    [('Monday', False), ('Tuesday', True)]
    """
    settings = TestSettings(
        method=method,
        n_variables=n_variables,
        kernel=kernel,
        regularization=regularization,
        solver=solver,
        test_size=test_size,
        n_permutations=n_permutations,
        alpha=alpha,
        random_state=random_state,
        n_jobs=n_jobs,
        gap=gap,
        time_limit=time_limit,
    )
    planned = None if n_checks is None else check_integer("n_checks", n_checks, 1)
    ratio = math.inf
    if reference_ratio is not None:
        ratio = check_number("reference_ratio", reference_ratio, 1.0)
    return ReferenceMonitor(reference, settings, planned, ratio, missing)


class ReferenceMonitor:
    """A stored reference and the history of the checks against it.

    Made by `compare_to_reference`.

    Attributes
    ----------
    names : tuple of str
        The columns of the reference.
    n_rows : int
        Rows of the reference.
    history : tuple of CheckRecord
        One record per check, the oldest first; `pandas.DataFrame(monitor.history)` is a table.
    """

    def __init__(
        self,
        reference: object,
        settings: TestSettings,
        n_checks: int | None,
        ratio: float,
        missing: str,
    ) -> None:
        samples = _read_alone(reference, missing)
        _check_rows("reference", samples.n_x, settings)
        settings.check_against(samples)
        seed = settings.random_state
        # A seed of our own in place of a generator or of none: check k then depends on the
        # seed, on k and on the batch, not on what happened before.
        self._seed = (
            seed if isinstance(seed, int) else int(check_random_state(seed).integers(2**32))
        )
        self._settings = replace(settings, random_state=self._seed)
        self._n_checks = n_checks
        self._ratio = ratio
        self._missing = missing
        self._reference = copy.deepcopy(reference)
        self._halves: ReferenceHalves | None = None
        if settings.method == "split":
            rng = np.random.default_rng([self._seed, 0])
            self._halves = ReferenceHalves.of(samples, self._settings, rng)
        self._history: list[CheckRecord] = []
        self.names = samples.names
        self.n_rows = samples.n_x

    @property
    def history(self) -> tuple[CheckRecord, ...]:
        """One record per check, the oldest first."""
        return tuple(self._history)

    def alarm_level(self, number: int) -> float:
        """Return α_k, the level of check number k: α/n_checks, or 6α/(π²k²) without an end."""
        k = check_integer("number", number, 1, self._n_checks)
        if self._n_checks is not None:
            return self._settings.alpha / self._n_checks
        return 6 * self._settings.alpha / (math.pi * k) ** 2

    def check(
        self, batch: object, *, label: str = "batch", progress: bool | Progress = False
    ) -> CheckResult:
        """Compare a batch with the reference, and add the answer to the history.

        Parameters
        ----------
        batch : array, sparse matrix, table or AnnData
            At least two rows, or four with a split; columns are matched with the reference's by
            name where both have names. Categories that the reference never had are categories of
            their own.
        label : str
            What results call the batch.
        progress : bool or callable
            True for a display on standard error, or a function of (stage, detail).

        Returns
        -------
        CheckResult
            A `TestResult` with `alarm`, `alarm_level` and `number`.
        """
        if not isinstance(label, str):
            raise InputError(f"label must be a string; got {label!r}")
        number = len(self._history) + 1
        if self._n_checks is not None and number > self._n_checks:
            raise InputError(
                f"n_checks = {self._n_checks} checks were planned and made; to go on, call "
                "compare_to_reference again, best with a fresh reference"
            )
        level = self.alarm_level(number)
        started = time.perf_counter()
        samples = read_samples(
            self._reference, batch, missing=self._missing, titles=("reference", "batch")
        )
        _check_rows("batch", samples.n_y, self._settings)
        rng = np.random.default_rng([self._seed, number])
        settings = replace(self._settings, random_state=int(rng.integers(2**63)), progress=progress)
        if self._halves is None:
            ours = some_rows(np.arange(samples.n_x), self._ratio * samples.n_y, rng)
            compared = samples.rows(ours, np.arange(samples.n_y))
        else:
            settings = replace(settings, kernel=self._halves.kernel)
            compared = self._halves.divide(samples, settings.test_size, self._ratio, rng)
        result = run_test(compared, settings, ("reference", label))
        result = refine_pvalue(result, level, rng, n_jobs=settings.threads)
        taken = time.perf_counter() - started
        result = replace(result, seconds=taken, settings=self._told())
        checked = CheckResult.of(result, number, level)
        self._history.append(checked.record)
        return checked

    def _told(self) -> dict[str, Any]:
        """Return the settings as plain values, those of the monitor among them."""
        ratio = self._ratio if math.isfinite(self._ratio) else None
        return self._settings.to_dict() | {
            "n_checks": self._n_checks,
            "reference_ratio": ratio,
            "missing": self._missing,
        }

    def __repr__(self) -> str:
        alarms = sum(record.alarm for record in self._history)
        return (
            f"<ReferenceMonitor: {self.n_rows} rows, {len(self.names)} columns, "
            f"{len(self._history)} checks, {alarms} alarms>"
        )


def _read_alone(reference: object, missing: str) -> Samples:
    """Read the reference by the rules for two samples: it stands on both sides."""
    policy = check_choice("missing", missing, POLICIES)
    source = open_source("reference", reference)
    names = source.names or tuple(f"x{s}" for s in range(source.shape[1]))
    (x,), kinds, categories = read_sources((source,), names, (None,))
    try:
        return handle_missing(
            Samples(x, x, names, kinds, categories), policy, ("reference", "reference")
        )
    except InputError as error:
        message = str(error).replace("reference and reference", "reference")
        raise InputError(re.sub(r"(\d+ in reference), \1", r"\1", message)) from None


def _check_rows(title: str, n_rows: int, settings: TestSettings) -> None:
    # Two are checked where the rows are read; only a split needs more.
    if n_rows < settings.fewest_rows:
        raise InputError(
            f"{title} must have at least {settings.fewest_rows} rows, two to choose variables "
            f"from and two to hold out; got {n_rows}"
        )
