"""A reference, what was seen since, and the answers so far: the checks of a sequence.

With a plan every batch is compared with the reference alone. Such p-values share its rows, and
only levels that add up to α allow for that. Without an end a batch is compared with all rows seen
before it, those of earlier batches too: see `seen_rows` for why the p-values are then independent,
and `betting` for what becomes of them. After an alarm the sequence starts again from the reference.
"""

from __future__ import annotations

import copy
import datetime
import math
import numbers
import os
import re
import time
from dataclasses import replace
from decimal import Decimal

import numpy as np

from tellapart.arguments import check_integer
from tellapart.arrays import IntArray
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.column_plan import decide_columns, follow_columns
from tellapart.data.missing import handle_missing
from tellapart.data.reader import read_opened, read_values
from tellapart.data.samples import Samples
from tellapart.data.sources import load, open_held
from tellapart.data.sources.source import HeldSource
from tellapart.errors import InputError, warn_caller
from tellapart.monitor.check_result import CheckRecord, CheckResult
from tellapart.monitor.history import MonitorHistory
from tellapart.monitor.rows import (
    CodedRows,
    ReferenceHalves,
    SeenRows,
    divide,
    fingerprint,
    split_rows,
)
from tellapart.monitor.settings import MonitorSettings, Planned, is_worth_an_alarm
from tellapart.monitor.state import SMALLEST_PVALUE, Bets, MonitorState, write_file
from tellapart.permutation.draws import binned_sizes, rows_per_bin
from tellapart.permutation.mmd import permutation_test
from tellapart.permutation.pvalues import PermutationNull
from tellapart.progress import Progress
from tellapart.results.result import TestResult
from tellapart.scan.families.plan import BYTES_PER_COLUMN
from tellapart.scan.scan import BYTES_PER_BIN, scan
from tellapart.two_sample.settings import TestSettings
from tellapart.two_sample.two_sample_test import run_test

# What a batch is called: text, a number or a date, told as text.


def label_text(label: object) -> str:
    """Return a label as text: dates and times in ISO's form, numbers as they are written.

    Examples
    --------
    >>> [label_text(label) for label in (datetime.date(2026, 11, 17), 3, "before")]
    ['2026-11-17', '3', 'before']
    """
    if isinstance(label, str) and label:
        return label
    if isinstance(label, np.generic):
        is_time = isinstance(label, np.datetime64) and not np.isnat(label)
        return str(label) if is_time else label_text(label.item())
    if isinstance(label, datetime.date | datetime.time) and label == label:  # not pandas' NaT
        return label.isoformat()
    is_number = isinstance(label, numbers.Real | Decimal) and not isinstance(label, bool)
    # Periods of pandas, which has no part in this package unless the user brings it.
    is_period = type(label).__name__ == "Period" and hasattr(label, "ordinal")
    if (is_number and label == label) or is_period:
        return str(label)
    raise InputError(f"label must be a text, a number or a date; got {label!r}")


# More permutations where their number alone stands between a p-value and its level.
#
# The first N₁ permutations gave p₁; if none reached the statistic, N₂ > N₁ new ones give p₂, and
# the answer is p = min(p₁, p₂), or p₂ itself where the statistic stays the same. For t < 1/(N₁ +
# 1) only p₂ can be so small: P(p ≤ t) ≤ P(p₂ ≤ t) ≤ t. For greater t, P(p ≤ t) ≤ P(p₁ ≤ t) ≤ t,
# since p₂ is looked at only where p₁ is at its least.


MOST_PERMUTATIONS = 99_999
LABEL_BYTES = 500_000_000
# Statistics of a scan that is run again, half of a small machine's memory at most.
SCAN_BYTES = 2_000_000_000


def refine_pvalue(
    result: TestResult,
    level: float,
    rng: np.random.Generator,
    *,
    n_jobs: int = 1,
    decides: bool = True,
) -> TestResult:
    """Draw more permutations where only their number keeps the p-value above the level.

    `decides` says whether nothing but a p-value at the level will do; where others count too, as
    they do for bets, it is no matter for a warning that so many permutations cannot be drawn.

    A scan is run again as a whole. Its findings stay those of the first run: their adjusted
    p-values are valid as they are.
    """
    count = result.null_distribution.size
    if result.exact or result.pvalue <= level or result.pvalue > 1 / (count + 1):
        return result
    needed = math.ceil(1 / level)  # 1/(needed + 1) is below the level, whatever the rounding
    most = _most_permutations(result)
    if needed > most and decides:
        warn_caller(
            f"the alarm level {level:.3g} of this check needs {needed} permutations, more than "
            f"the {most} that are drawn at most, so there can be no alarm however clear the "
            "difference: plan n_checks, or start again with a fresh reference",
        )
    if min(needed, most) <= count:
        return result
    null = _null(result, min(needed, most), rng, n_jobs)
    # With more permutations a scan can afford fewer pairs and triples, and may see less.
    if result.scan is not None and null.pvalue > result.pvalue:
        return result
    return replace(
        result,
        pvalue=null.pvalue,
        statistic=null.statistic,
        threshold=null.threshold,
        null_distribution=null.null_distribution,
        exact=null.exact,
        rows_per_bin=null.rows_per_bin if result.scan is None else result.rows_per_bin,
        note=null.note,
        scan=None if result.scan is None else replace(result.scan, null=null),
    )


def _null(
    result: TestResult, n_permutations: int, rng: np.random.Generator, n_jobs: int
) -> PermutationNull:
    """Return the test again, with new permutations."""
    if result.scan is not None:
        again = scan(
            result.held_out,
            n_permutations=n_permutations,
            alpha=result.alpha,
            rng=rng,
            n_jobs=n_jobs,
        )
        return again.null
    assert result.kernel is not None
    return permutation_test(
        result.held_out,
        result.kernel,
        result.selection.z,
        n_permutations=n_permutations,
        alpha=result.alpha,
        rng=rng,
        n_jobs=n_jobs,
    )


def _most_permutations(result: TestResult) -> int:
    if result.scan is None:
        bins_x, bins_y, _ = binned_sizes(*result.n_test)
        most = 8 * LABEL_BYTES // (bins_x + bins_y)
    else:
        most = SCAN_BYTES // _scan_bytes(result.held_out) - 1
    return min(MOST_PERMUTATIONS, most)


def _scan_bytes(samples: Samples) -> int:
    """Return what the statistics of one permutation take at most."""
    bins = (samples.n_x + samples.n_y) // rows_per_bin(samples.n_x, samples.n_y)
    return BYTES_PER_COLUMN * samples.n_columns + BYTES_PER_BIN * bins


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
        reference = load("reference", reference)
        source = open_held("reference", reference)
        # Decided once: a monitor that was stored goes on with the columns that it had.
        notes = decide_columns(source, settings.keep) if notes is None else notes
        samples = _read_alone(source, notes, settings.missing)
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
        sources = open_held(TITLES[0], self._reference), open_held(TITLES[1], batch)
        notes = self.column_notes
        readings = follow_columns(sources, notes, sources[0].names)
        samples = read_opened(sources, readings, notes.with_row_labels(sources[1].row_labels))
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


def _read_alone(source: HeldSource, notes: ColumnNotes, missing: str) -> Samples:
    """Read the reference by the rules for two samples: it stands on both sides."""
    (reading,) = follow_columns((source,), notes, source.names)
    (x,), kinds, categories = read_values((source,), (reading,))
    try:
        return handle_missing(
            Samples(x, x, reading.names, kinds, categories), missing, ("reference", "reference")
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
