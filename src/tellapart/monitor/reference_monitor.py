"""A reference, the rows seen since, and the answers so far: the checks of a sequence.

With a plan every batch is compared with the reference alone. Such p-values share its rows, and
only levels that add up to α allow for that. Without an end a batch is compared with all rows seen
before it, those of earlier batches too: see `tellapart.monitor.rows` for why the p-values are then
independent, and `tellapart.monitor.betting` for how they are combined. After an alarm the sequence
starts again from the reference.
"""

from __future__ import annotations

import copy
import os
import re
import time
from dataclasses import replace

import numpy as np

from tellapart.arguments import check_integer, with_checked
from tellapart.arrays import IntArray
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.column_plan import decide_columns, follow_columns
from tellapart.data.missing import handle_missing
from tellapart.data.reader import read_opened, read_rows
from tellapart.data.samples import CodedRows, Samples
from tellapart.data.sources import load, open_held
from tellapart.data.sources.source import HeldSource
from tellapart.errors import InputError
from tellapart.monitor.betting import SMALLEST_PVALUE, Bets, Planned
from tellapart.monitor.check_result import CheckResult, label_text, reversed_finding
from tellapart.monitor.records import CheckRecord, scores_of
from tellapart.monitor.refinement import refine_pvalue
from tellapart.monitor.rows import (
    ReferenceSplit,
    SeenRows,
    fingerprint,
    split_rows,
    with_split,
)
from tellapart.monitor.sequence import MonitoredSequence
from tellapart.monitor.settings import MonitorSettings, beyond_thresholds, worth_an_alarm
from tellapart.monitor.state import MonitorState, write_file
from tellapart.progress import Progress, check_progress
from tellapart.results.columns_table import describe_columns
from tellapart.results.result import TestResult
from tellapart.two_sample.settings import TestSettings
from tellapart.two_sample.two_sample_test import run_test

REFERENCE, EARLIER_ROWS = "reference", "earlier rows"
"""The label of what a batch is compared with: the reference, or that and the batches since."""
TITLES = ("reference", "batch")
"""What messages call the two samples."""


class ReferenceMonitor(MonitoredSequence):
    """A stored reference and the history of the checks against it, by rows.

    Made by `compare_to_reference`.

    Attributes
    ----------
    names : tuple of str
        The columns of the reference.
    n_rows : int
        Rows of the reference.
    history : tuple of CheckRecord
        One record per check, the oldest first; `to_frame()` is a table of them.
    settings : MonitorSettings
        The arguments of `compare_to_reference`.
    column_notes : ColumnNotes
        Columns of the reference that are left out of every check, or compared in parts.
    fingerprint : str
        A text that changes with the rows of the reference.
    """

    def __init__(
        self,
        reference: object,
        settings: MonitorSettings,
        state: MonitorState | None = None,
        notes: ColumnNotes | None = None,
    ) -> None:
        reference = load("reference", reference)
        source = open_held("reference", reference)
        # Decided once: a monitor that is loaded keeps its columns.
        notes = decide_columns(source, settings.keep) if notes is None else notes
        samples = _read_alone(source, notes, settings.missing)
        _check_rows("reference", samples.n_x, settings.test)
        settings.test.check_against(samples)
        settings.check_columns(samples.names)
        # A scan compares the patterns of missing values too, on all rows.
        n_rows = samples.n_x if settings.test.method == "split" else samples.n_read[0]
        self.settings, self.names, self.n_rows = settings, samples.names, n_rows
        self.column_notes = notes
        self.fingerprint = fingerprint(samples.rows_of_x)
        self._reference = copy.deepcopy(reference)
        self._split: ReferenceSplit | None = None
        if settings.test.method == "split":
            rng = np.random.default_rng([settings.seed, 0])
            self._split = ReferenceSplit.of(samples, settings.test, rng)
        initial = state or self._initial_state()
        self._history, self._failures = list(initial.history), list(initial.failures)
        self._bets, self._seen = initial.bets, initial.seen

    def alarm_level(self, number: int | None = None) -> float:
        """Return the largest p-value at which a check raises an alarm.

        With a plan that is α/n_checks for every check. Without an end it depends on the checks
        before: small after quiet ones, larger after weak evidence of a change, 0 where no p-value
        of one check suffices.

        Parameters
        ----------
        number : int or None
            The number of an earlier check, or of the next one; None for the next one.
        """
        promise = self.settings.promise
        following = len(self._history) + 1
        if isinstance(promise, Planned):
            check_integer("number", 1 if number is None else number, 1, promise.n_checks)
            return promise.alarm_level
        if number is not None and check_integer("number", number, 1, following) < following:
            return self._history[number - 1].alarm_level
        assert self._bets is not None
        return self._bets.alarm_level

    def check(
        self, batch: object, *, label: object = "batch", progress: bool | Progress = False
    ) -> CheckResult:
        """Compare a batch with the rows seen before, and add the answer to the history.

        Parameters
        ----------
        batch : array, sparse matrix, table or AnnData
            At least two rows, or four with a split; columns are matched with those of the
            reference by name where both have names. New categories are allowed.
        label : str, number or date
            What results call the batch; dates are written in ISO 8601.
        progress : bool or callable
            True for a display on standard error, or a function of (stage, detail).

        Returns
        -------
        CheckResult
            A `TestResult` with `alarm`, `alarm_level`, `capital` and `number`.
        """
        text = label_text(label)
        number = self._next_number()
        started = time.perf_counter()
        samples = self._read(batch)
        _check_rows("batch", samples.n_y, self.settings.test)
        rng = np.random.default_rng([self.settings.seed, number])
        seed = int(rng.integers(2**63))
        settings = with_checked(
            self.settings.test, random_state=seed, progress=check_progress(progress)
        )
        parts = np.zeros(samples.n_y, dtype=np.intp)
        if self._split is not None:
            settings = with_checked(settings, kernel=self._split.kernel)
            parts = split_rows(samples.n_y, settings.test_size, rng)
        before = REFERENCE if self._seen.later is None else EARLIER_ROWS
        result = run_test(self._compared(samples, parts, rng), settings, (before, text))
        result = self._refined(result, rng)
        taken = time.perf_counter() - started
        result = replace(result, seconds=taken, settings=self.settings.to_dict())
        checked = self._as_check(result, number, fingerprint(samples.rows_of_y))
        self._history.append(checked.record)
        self._update(checked, samples.rows_of_y, parts)
        return checked

    def seen_before(self, batch: object) -> CheckRecord | None:
        """Return the check of a batch with just these rows, or None if there was none."""
        batch_print = fingerprint(self._read(batch).rows_of_y)
        return next((r for r in self._history if r.fingerprint == batch_print), None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that the next check needs, except the reference, as JSON.

        The file is written whole or not at all; `tellapart.load_monitor` continues from it, with
        the same answers as if nothing had been stored. It contains rows of earlier batches: keep it
        as private as the data.
        """
        settings = self.settings.to_dict()
        for name in ("kernel", "solver"):
            if not isinstance(getattr(self.settings.test, name), str):
                raise InputError(
                    f"{name} must be one that has a name, for a monitor that is saved; "
                    f"got {settings[name]}: pickle the monitor instead"
                )
        head = {
            "settings": settings,
            "reference": self.fingerprint,
            "left_out": self.column_notes.to_dict(),
        }
        write_file(path, head, MonitorState(self.history, self._bets, self._seen, self.failures))

    def _read(self, batch: object) -> Samples:
        """Return the reference and a batch; missing values are handled once rows are drawn.

        The split of the reference goes by row number, so that rows must be left out before.
        """
        sources = open_held(TITLES[0], self._reference), open_held(TITLES[1], batch)
        notes = self.column_notes
        readings = follow_columns(sources, notes, sources[0].names)
        samples = read_opened(sources, readings, notes.with_row_labels(sources[1].row_labels))
        if self._split is None:
            return samples
        return replace(handle_missing(samples, self.settings.missing, TITLES), as_read=None)

    def _compared(self, samples: Samples, parts: IntArray, rng: np.random.Generator) -> Samples:
        """Return the rows to compare, drawn from those seen, and those of the batch."""
        n_parts = 1 if self._split is None else 2
        sizes = np.bincount(parts, minlength=n_parts)
        drawn = self._seen.draw([self.settings.rows_compared(int(n)) for n in sizes], rng)
        compared = drawn.beside_batch(samples)
        if self._split is not None:
            return with_split(compared, drawn.parts, parts)
        return handle_missing(compared, self.settings.missing, TITLES)

    def _refined(self, result: TestResult, rng: np.random.Generator) -> TestResult:
        """Draw more permutations where their number alone stands between a check and its alarm."""
        threads = self.settings.test.threads
        if self._bets is None:
            return refine_pvalue(result, self.alarm_level(), rng, n_jobs=threads)
        level = max(self._bets.level_alone(), SMALLEST_PVALUE)
        return refine_pvalue(result, level, rng, n_jobs=threads, decides=False)

    def _as_check(self, result: TestResult, number: int, batch_print: str) -> CheckResult:
        """Return a result as a check, with its number in the sequence and its alarm level."""
        bets = None if self._bets is None else self._bets.after(result.pvalue)
        settings = self.settings
        worth = worth_an_alarm(result.findings, settings.sizes)
        tripped = worth[:1] if settings.sizes is None else worth
        scores = scores_of(describe_columns(result.held_out.held, ordered=False))
        return CheckResult.of(
            result,
            number=number,
            alarm_level=self.alarm_level(),
            capital=None if bets is None else bets.capital,
            capital_needed=None if bets is None else bets.promise.capital_needed,
            large_enough=settings.sizes is None or bool(worth),
            tripped=tuple(map(reversed_finding, tripped)),
            scores=tuple(scores),
            beyond=beyond_thresholds(scores, settings.thresholds),
            promise=self.settings.promise.describe(),
            fingerprint=batch_print,
        )

    def _update(self, checked: CheckResult, batch: CodedRows, parts: IntArray) -> None:
        """Add the batch to the rows seen, or start again after an alarm."""
        if self._bets is None:
            return
        if checked.alarm:
            initial = self._initial_state()
            self._bets, self._seen = initial.bets, initial.seen
            return
        # A generator of its own: what is kept must not depend on what the check drew.
        rng = np.random.default_rng([self.settings.seed, checked.number, 1])
        self._bets = self._bets.after(checked.pvalue)
        self._seen = self._seen.with_batch(batch, parts).draw(
            self.settings.rows_kept(self.n_rows), rng
        )

    def _initial_state(self) -> MonitorState:
        """Return the state before the first check: no evidence, and the reference alone."""
        promise = self.settings.promise
        parts = np.zeros(self.n_rows, dtype=np.intp)
        if self._split is not None:
            parts = self._split.parts
        bets = None if isinstance(promise, Planned) else Bets(promise)
        return MonitorState((), bets, SeenRows(np.arange(self.n_rows), parts))

    def __repr__(self) -> str:
        return (
            f"<ReferenceMonitor: {self.n_rows} rows, {len(self.names)} columns, "
            f"{len(self._history)} checks, {len(self.alarms)} alarms>"
        )


def _read_alone(source: HeldSource, notes: ColumnNotes, missing: str) -> Samples:
    """Read the reference by the rules for two samples: it stands on both sides."""
    (reading,) = follow_columns((source,), notes, source.names)
    (rows,) = read_rows((source,), (reading,))
    try:
        return handle_missing(rows.beside(rows), missing, ("reference", "reference"))
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
