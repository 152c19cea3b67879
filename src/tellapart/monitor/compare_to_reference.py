"""Check batch after batch against a reference: a valid p-value each, one promise for all."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tellapart.arguments import settings_from
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.design_labels import GIVEN, read_labels, take_columns
from tellapart.data.sources import load
from tellapart.errors import InputError
from tellapart.kernels import Kernel
from tellapart.monitor.batch_monitor import BatchMonitor
from tellapart.monitor.betting import Planned
from tellapart.monitor.reference_monitor import ReferenceMonitor
from tellapart.monitor.settings import USUAL_RATIO, MonitorSettings
from tellapart.monitor.state import MonitorState, read_file
from tellapart.strs import Solver
from tellapart.two_sample.settings import TestSettings


def compare_to_reference(
    reference: object,
    *,
    method: str = "scan",
    families: str | Sequence[str] | Mapping[str, float] | None = None,
    n_variables: int | None = None,
    kernel: str | Kernel = "auto",
    regularization: float | str = "cv",
    solver: str | Solver = "auto",
    test_size: float = 0.5,
    n_permutations: int = 999,
    alpha: float = 0.05,
    n_checks: int | None = None,
    run_length: float | None = None,
    smallest_effect: float | Mapping[str, Any] | None = None,
    thresholds: float | Mapping[str, float] | None = None,
    batches: object | None = None,
    reference_ratio: float | None = USUAL_RATIO,
    pool_rows: int | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    missing: str = "error",
    keep: Sequence[str] = (),
    gap: float = 1e-4,
    time_limit: float | None = None,
) -> ReferenceMonitor | BatchMonitor:
    """Store a reference sample, to check later batches against it.

    Each `check(batch)` is a two-sample test with a valid p-value. Whether to raise an alarm is
    decided for the whole sequence, which needs no end: the p-values are combined into an e-value (a
    test martingale), and the alarm is raised when it reaches 1/α. The probability of *any* false
    alarm is at most α, whenever the sequence is inspected, and a change can still be detected after
    thousands of quiet checks: the delay grows with the logarithm of their number. With
    `run_length` it does not grow at all, and false alarms are rare instead of improbable. With
    `n_checks` check k raises an alarm where p ≤ α/n_checks.

    Parameters
    ----------
    reference : array, sparse matrix, table or AnnData
        The sample that batches are compared to; a copy is kept.
    method, families, n_variables, kernel, regularization, solver, test_size : optional
        As in `two_sample_test`, for every check.
    n_permutations : int
        As in `two_sample_test`, for every check. Where an alarm needs more permutations than
        `n_permutations`, more are drawn, up to 10,000, or 99,999 with `n_checks` (fewer with many
        columns), but only if none of the first ones reached the statistic: the p-value stays
        valid and most checks stay fast.
    alpha : float
        The level α of each check by itself (`reject`), and the probability of any false alarm in
        the whole sequence, unless `run_length` is given.
    n_checks : int or None
        The planned number of checks, if there is one. Every batch is then compared with the
        reference alone, and the levels of the checks add up to α, however the p-values depend on
        each other.
    run_length : float or None
        Instead of a probability of at most α of any false alarm: the smallest mean number of checks
        until a false alarm. Changes are detected sooner.
    smallest_effect : float, dict or None
        The smallest effect of interest, as in `two_sample_test`: an alarm is raised only if the
        95 % interval of a finding excludes smaller ones. A number of SDs for all kinds, or a
        mapping of kinds and of columns to sizes, such as {"location": 0.2, "age": {"share":
        0.05}}: kinds and columns without a size raise no alarm. It can only make alarms rarer.
        Needs `method="scan"`.
    thresholds : float, dict or None
        Sizes of your own, in SDs, for the scores of all columns, or of each of some: scores that
        reach them are marked in history, chart and metrics. They raise no alarm, and nothing is
        promised of them.
    batches : str, array or None
        Labels of the batches that the reference consists of, one per row, or the column that holds
        them. Then batches are the units, not rows: a check asks whether a batch is unusual among
        batches, and differences that every batch has raise no alarm. Use it wherever rows of a
        batch share something, such as a day; 20 batches or more are advisable. No scan is made, and
        `check` returns a `BatchCheck`.
    reference_ratio : float or None
        The largest number of rows to compare with, for each row of the batch: drawn again for
        every check (with a split, in each of the two parts). With ten times as many rows the
        standard error is only 5 % above its limit, and the cost of a check then depends on the
        batch, not on the reference. None uses all rows.
    pool_rows : int or None
        Without a planned end: the largest number of rows of the reference and of earlier batches
        to keep for later checks; beyond that rows are dropped at random, wherever they came from.
        None keeps those of the reference and 20,000 more.
    random_state : int, numpy Generator or None
        Seed of everything random: the same seed and the same sequence of batches give the same
        answers.
    n_jobs : int or None
        Threads; −1 uses every core.
    missing : str
        How to handle missing values, as in `two_sample_test`.
    keep : sequence of str
        Columns to compare although they appear to be identifiers; other columns of the reference
        that do are excluded from every batch, with a warning. Of dates and times the time of day is
        compared, of durations their seconds: day, weekday and month differ between batches anyway.
    gap, time_limit : float
        As in `two_sample_test`.

    Returns
    -------
    ReferenceMonitor or BatchMonitor
        The latter with `batches`. Call `check(batch)` on it; `save(path)` and `load_monitor`
        continue it later.

    Notes
    -----
    Without a planned end a batch is compared with the rows *seen before it*: the reference and
    the batches since. Only then are the p-values independent, whatever the reference, so that
    bets on them are fair; compared with one reference alone, an unlucky reference would make all
    batches look different. After an alarm the sequence starts again from the reference: the promise
    is about the first false alarm. It requires rows (with `batches`: batches) that are independent,
    and batches and their sizes that are not chosen in view of earlier answers.

    A change remains visible: it fades only as changed rows become many among those seen. A drift
    that is slow relative to `pool_rows` is partly absorbed by the rows seen; to compare with the
    reference and nothing else, plan `n_checks`.

    With a split and the linear kernel the bandwidths are computed once, on the reference's training
    rows, and used for every batch. Other kernels have one scale for all columns together and are
    fitted on the pooled training rows of each check.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> last_month = rng.normal(size=(1000, 4))
    >>> monitor = compare_to_reference(last_month, random_state=0)
    >>> monitor.check(rng.normal(size=(100, 4)), label="2026-11-16").alarm
    False
    >>> result = monitor.check(rng.normal(size=(100, 4)) + [0, 0, 1, 0], label="2026-11-17")
    >>> result.alarm, [(finding.kind, finding.variables) for finding in result.findings]
    (True, [('location', ('x2',))])
    >>> [(record.label, record.alarm) for record in monitor.history]
    [('2026-11-16', False), ('2026-11-17', True)]

    Days that differ by themselves, as units:

    >>> days = np.repeat(np.arange(30), 50)
    >>> rows = rng.normal(size=(1500, 2)) + rng.normal(size=(30, 1))[days]
    >>> monitor = compare_to_reference(rows, batches=days, random_state=0)
    >>> monitor.check(rng.normal(size=(50, 2)) + 1.5, label="31").alarm
    False
    """
    # The smallest effect decides on alarms, not on findings.
    test = settings_from(TestSettings, locals(), smallest_effect=None)
    named = batches if batches is None or isinstance(batches, str) else GIVEN
    settings = settings_from(MonitorSettings, locals(), test=test, batches=named)
    return make_monitor(reference, settings, batches)


def make_monitor(
    reference: object,
    settings: MonitorSettings,
    batches: object | None = None,
    notes: ColumnNotes | None = None,
) -> ReferenceMonitor | BatchMonitor:
    """Return a new monitor of rows, or of batches where the settings have some."""
    if settings.batches is None:
        return ReferenceMonitor(reference, settings, notes=notes)
    if settings.batches == GIVEN:
        if batches is None or isinstance(batches, str):
            raise InputError(
                "batches must be the labels of the rows of the reference that the monitor was made "
                f"with; got {batches!r}"
            )
        table, labels = load("reference", reference), read_labels("batches", batches)
    else:
        table, taken = take_columns("reference", reference, {"batches": settings.batches})
        labels = taken["batches"]
    return BatchMonitor(table, labels, settings, notes)


def load_monitor(
    path: str | os.PathLike[str],
    reference: object,
    *,
    batches: object | None = None,
    n_jobs: int | None = None,
) -> ReferenceMonitor | BatchMonitor:
    """Continue a monitor that `ReferenceMonitor.save` stored.

    Parameters
    ----------
    path : str or path-like
        The file.
    reference : array, sparse matrix, table or AnnData
        The reference that the monitor was made with: any other is an error.
    batches : array or None
        The labels of its batches, if the monitor was made with labels; a column is remembered.
    n_jobs : int or None
        Threads; −1 uses every core.

    Returns
    -------
    ReferenceMonitor or BatchMonitor
        Its next check gives the same answer as if nothing had been stored.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> rng = np.random.default_rng(0)
    >>> last_month = rng.normal(size=(100, 3))
    >>> monitor = compare_to_reference(last_month, random_state=0)
    >>> checked = monitor.check(rng.normal(size=(20, 3)), label="Monday")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     monitor.save(os.path.join(folder, "monitor.json"))
    ...     again = load_monitor(os.path.join(folder, "monitor.json"), last_month)
    >>> again.history == monitor.history
    True
    """
    stored = read_file(path)
    altered = f"path must be a file that a monitor saved; {os.fspath(path)!r} was altered: "
    try:
        settings = MonitorSettings.from_dict(stored["settings"], n_jobs)
        notes = ColumnNotes.from_dict(stored["left_out"])
        if ("reference_rows" in stored) != (settings.batches is None):
            raise ValueError("its settings are those of another kind of monitor")
        state = None
        if settings.batches is None:
            promise = settings.promise
            bets_on = None if isinstance(promise, Planned) else promise
            state = MonitorState.from_dict(stored, bets_on)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{altered}{error}") from None
    monitor: ReferenceMonitor | BatchMonitor
    if state is not None:
        monitor = ReferenceMonitor(reference, settings, state, notes)
    else:
        monitor = make_monitor(reference, settings, batches, notes)
    if monitor.fingerprint != stored["reference"]:
        raise InputError(
            f"reference must be the one that {os.fspath(path)!r} was made with; got other rows, "
            "columns or values: pass that one, or begin a new monitor"
        )
    if isinstance(monitor, BatchMonitor):
        try:
            monitor.restore(stored)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError(f"{altered}{error}") from None
    elif max(stored["reference_rows"], default=0) >= monitor.n_rows:
        raise InputError(f"{altered}the reference has {monitor.n_rows} rows")
    return monitor
