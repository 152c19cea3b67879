"""A reference, what was seen since, and the answers so far: the checks of a sequence.

With a plan every batch is compared with the reference alone. Such p-values share its rows, and
only levels that add up to α allow for that. Without an end a batch is compared with all rows seen
before it, those of earlier batches too: see `seen_rows` for why the p-values are then independent,
and `betting` for what becomes of them. After an alarm the sequence starts again from the reference.
"""

from __future__ import annotations

import copy
import os
import re
import time
from dataclasses import replace

import numpy as np

from tellapart.arguments import check_integer
from tellapart.arrays import IntArray
from tellapart.data.coded_rows import CodedRows
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.in_memory import in_memory
from tellapart.data.missing import handle_missing
from tellapart.data.reference_columns import decide_columns, follow_columns
from tellapart.data.samples import Samples
from tellapart.data.sources import Source, open_source
from tellapart.data.tables import read_opened, read_sources
from tellapart.errors import InputError
from tellapart.progress import Progress
from tellapart.testing.batch_label import label_text
from tellapart.testing.betting import SMALLEST_PVALUE, Bets
from tellapart.testing.check_record import CheckRecord
from tellapart.testing.check_result import CheckResult
from tellapart.testing.fingerprint import fingerprint
from tellapart.testing.monitor_history import MonitorHistory
from tellapart.testing.monitor_settings import MonitorSettings
from tellapart.testing.monitor_state import MonitorState, write_file
from tellapart.testing.promises import Planned
from tellapart.testing.reference_halves import ReferenceHalves, divide, split_rows
from tellapart.testing.refinement import refine_pvalue
from tellapart.testing.result import TestResult
from tellapart.testing.seen_rows import SeenRows
from tellapart.testing.settings import TestSettings
from tellapart.testing.smallest_effect import is_worth_an_alarm
from tellapart.testing.two_sample import run_test

FIRST, SINCE = "reference", "earlier rows"
"""What a batch is compared with: the reference, or that and the batches since."""
TITLES = ("reference", "batch")
"""What messages call the two samples."""


class ReferenceMonitor(MonitorHistory):
    """A stored reference and the history of the checks against it.

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
        What was asked for.
    """

    def __init__(
        self,
        reference: object,
        settings: MonitorSettings,
        state: MonitorState | None = None,
        notes: ColumnNotes | None = None,
    ) -> None:
        reference = in_memory("reference", reference)
        source = open_source("reference", reference)
        # Decided once: a monitor that was stored goes on with the columns that it had.
        notes = decide_columns(source, settings.keep) if notes is None else notes
        samples = _read_alone(follow_columns(source, notes, source.names), settings.missing)
        _check_rows("reference", samples.n_x, settings.test)
        settings.test.check_against(samples)
        # A scan compares which values are missing, too: all rows take part.
        n_rows = samples.n_x if settings.test.method == "split" else samples.n_read[0]
        super().__init__(settings, samples.names, n_rows, column_notes=notes)
        self.fingerprint = fingerprint(CodedRows.first_of(samples))
        self._reference = copy.deepcopy(reference)
        self._halves: ReferenceHalves | None = None
        if settings.test.method == "split":
            rng = np.random.default_rng([settings.seed, 0])
            self._halves = ReferenceHalves.of(samples, settings.test, rng)
        begun = state or self._beginning()
        self._history, self._bets, self._seen = list(begun.history), begun.bets, begun.seen

    def alarm_level(self, number: int | None = None) -> float:
        """Return the largest p-value at which a check raises an alarm.

        With a plan that is α/n_checks for every check. Without an end it depends on the checks
        before: small after quiet ones, larger after some that hinted at a change, 0 where one
        check alone cannot be enough.

        Parameters
        ----------
        number : int or None
            A check that was made, or the next one; None is the next one.
        """
        promise = self.settings.promise
        following = len(self._history) + 1
        if isinstance(promise, Planned):
            check_integer("number", 1 if number is None else number, 1, promise.n_checks)
            return promise.alarm_level
        asked = following if number is None else check_integer("number", number, 1, following)
        if asked < following:
            return self._history[asked - 1].alarm_level
        assert self._bets is not None
        return self._bets.alarm_level

    def check(
        self, batch: object, *, label: object = "batch", progress: bool | Progress = False
    ) -> CheckResult:
        """Compare a batch with the rows seen before, and add the answer to the history.

        Parameters
        ----------
        batch : array, sparse matrix, table or AnnData
            At least two rows, or four with a split; columns are matched with the reference's by
            name where both have names. Categories that were never seen are categories of their
            own.
        label : str, number or date
            What results call the batch; dates are told in ISO's form.
        progress : bool or callable
            True for a display on standard error, or a function of (stage, detail).

        Returns
        -------
        CheckResult
            A `TestResult` with `alarm`, `alarm_level`, `capital` and `number`.
        """
        text = label_text(label)
        number = len(self._history) + 1
        promise = self.settings.promise
        if isinstance(promise, Planned) and number > promise.n_checks:
            raise InputError(
                f"n_checks = {promise.n_checks} checks were planned and made; to go on, call "
                "compare_to_reference again, best with a fresh reference"
            )
        started = time.perf_counter()
        samples = self._read(batch)
        _check_rows("batch", samples.n_y, self.settings.test)
        rng = np.random.default_rng([self.settings.seed, number])
        seed = int(rng.integers(2**63))
        settings = replace(self.settings.test, random_state=seed, progress=progress)
        parts = np.zeros(samples.n_y, dtype=np.intp)
        if self._halves is not None:
            settings = replace(settings, kernel=self._halves.kernel)
            parts = split_rows(samples.n_y, settings.test_size, rng)
        before = FIRST if self._seen.later is None else SINCE
        result = run_test(self._compared(samples, parts, rng), settings, (before, text))
        result = self._refined(result, rng)
        taken = time.perf_counter() - started
        result = replace(result, seconds=taken, settings=self.settings.to_dict())
        checked = self._placed(result, number, fingerprint(CodedRows.second_of(samples)))
        self._history.append(checked.record)
        self._go_on(checked, CodedRows.second_of(samples), parts)
        return checked

    def _read(self, batch: object) -> Samples:
        """Return the reference and a batch; missing values are dealt with once rows are drawn.

        A split has its halves by row number, so that rows must be left out before.
        """
        reference, new = open_source(TITLES[0], self._reference), open_source(TITLES[1], batch)
        notes, names = self.column_notes, reference.names
        left, right = (follow_columns(source, notes, names) for source in (reference, new))
        samples = read_opened(left, right, notes.with_row_labels(new.row_labels))
        if self._halves is None:
            return samples
        return replace(handle_missing(samples, self.settings.missing, TITLES), as_read=None)

    def seen_before(self, batch: object) -> CheckRecord | None:
        """Return the check of a batch with just these rows, if there was one: twice is no news."""
        known = fingerprint(CodedRows.second_of(self._read(batch)))
        return next((record for record in self._history if record.fingerprint == known), None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that the next check needs, but for the reference, as JSON.

        The file appears whole or not at all; `tellapart.load_monitor` goes on from it, with the
        same answers as if nothing had been stored. Rows of earlier batches are in it: keep it as
        private as the data.
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
        write_file(path, head, MonitorState(self.history, self._bets, self._seen))

    def _compared(self, samples: Samples, parts: IntArray, rng: np.random.Generator) -> Samples:
        """Return the rows to compare, drawn from those seen, and those of the batch."""
        n_parts = 1 if self._halves is None else 2
        sizes = np.bincount(parts, minlength=n_parts)
        drawn = self._seen.draw([self.settings.rows_compared(int(n)) for n in sizes], rng)
        compared = drawn.beside(samples)
        if self._halves is not None:
            return divide(compared, drawn.parts, parts)
        return handle_missing(compared, self.settings.missing, TITLES)

    def _refined(self, result: TestResult, rng: np.random.Generator) -> TestResult:
        """Draw more permutations where their number alone stands between a check and its alarm."""
        threads = self.settings.test.threads
        if self._bets is None:
            return refine_pvalue(result, self.alarm_level(), rng, n_jobs=threads)
        level = max(self._bets.level_alone(), SMALLEST_PVALUE)
        return refine_pvalue(result, level, rng, n_jobs=threads, decides=False)

    def _placed(self, result: TestResult, number: int, print_of_batch: str) -> CheckResult:
        """Give a result its place in the sequence."""
        bets = None if self._bets is None else self._bets.after(result.pvalue)
        return CheckResult.of(
            result,
            number=number,
            alarm_level=self.alarm_level(),
            capital=None if bets is None else bets.capital,
            capital_needed=None if bets is None else bets.promise.capital_needed,
            large_enough=is_worth_an_alarm(result.findings, self.settings.smallest_effect),
            promise=self.settings.promise.describe(),
            fingerprint=print_of_batch,
        )

    def _go_on(self, checked: CheckResult, batch: CodedRows, parts: IntArray) -> None:
        """Keep the batch among the rows seen, or start again after an alarm."""
        if self._bets is None:
            return
        if checked.alarm:
            begun = self._beginning()
            self._bets, self._seen = begun.bets, begun.seen
            return
        # Random numbers of their own: what is kept must not depend on what the check drew.
        rng = np.random.default_rng([self.settings.seed, checked.number, 1])
        self._bets = self._bets.after(checked.pvalue)
        self._seen = self._seen.together(batch, parts).draw(
            self.settings.rows_kept(self.n_rows), rng
        )

    def _beginning(self) -> MonitorState:
        """Return the state before the first check: no evidence, and the reference alone."""
        promise = self.settings.promise
        parts = np.zeros(self.n_rows, dtype=np.intp)
        if self._halves is not None:
            parts = self._halves.parts
        bets = None if isinstance(promise, Planned) else Bets(promise)
        return MonitorState((), bets, SeenRows(np.arange(self.n_rows), parts))

    def __repr__(self) -> str:
        return (
            f"<ReferenceMonitor: {self.n_rows} rows, {len(self.names)} columns, "
            f"{len(self._history)} checks, {len(self.alarms)} alarms>"
        )


def _read_alone(source: Source, missing: str) -> Samples:
    """Read the reference by the rules for two samples: it stands on both sides."""
    names = source.names or tuple(f"x{s}" for s in range(source.shape[1]))
    (x,), kinds, categories = read_sources((source,), names, (None,))
    try:
        return handle_missing(
            Samples(x, x, names, kinds, categories), missing, ("reference", "reference")
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
