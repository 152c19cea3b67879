"""The checks of a monitor as a sequence: its history, its promise, and what is written of it."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from tellapart.data.column_notes import ColumnNotes
from tellapart.data.sources.table import make_frame
from tellapart.errors import InputError, SchemaError
from tellapart.monitor.betting import Planned
from tellapart.monitor.prometheus import exposition
from tellapart.monitor.records import CheckRecord, FailedBatch
from tellapart.monitor.settings import MonitorSettings
from tellapart.scan.finding import p_text
from tellapart.text import capitalised, counted, safe
from tellapart.writing import strict_json, text_writer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JSON_VERSION = 3
"""The version of the JSON of a monitor: it changes where an entry changes its meaning or goes."""


class MonitoredSequence(ABC):
    """What monitors of rows and of batches share: settings, and the history of the checks.

    Attributes
    ----------
    names : tuple of str
        The columns of the reference.
    n_rows : int
        Rows of the reference.
    settings : MonitorSettings
        The arguments of `compare_to_reference`.
    column_notes : ColumnNotes
        Columns of the reference that are left out of every check, or compared in parts.
    fingerprint : str
        A text that changes with the rows of the reference.
    """

    settings: MonitorSettings
    names: tuple[str, ...]
    n_rows: int
    column_notes: ColumnNotes
    fingerprint: str
    _history: list[CheckRecord]
    _failures: list[FailedBatch]

    @abstractmethod
    def check(self, batch: object, *, label: object = "batch") -> Any:
        """Compare a batch with what came before it, and add the answer to the history."""

    @abstractmethod
    def seen_before(self, batch: object) -> CheckRecord | None:
        """Return the check of a batch with just these rows, or None if there was none."""

    @abstractmethod
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that the next check needs, except the reference, as JSON."""

    def _next_number(self) -> int:
        """Return the number of the check that comes next, or raise where none was planned."""
        number, promise = len(self._history) + 1, self.settings.promise
        if isinstance(promise, Planned) and number > promise.n_checks:
            raise InputError(
                f"n_checks = {promise.n_checks} checks were planned and made; to continue, call "
                "compare_to_reference again, preferably with a new reference"
            )
        return number

    @property
    def history(self) -> tuple[CheckRecord, ...]:
        """One record per check, the oldest first."""
        return tuple(self._history)

    @property
    def failures(self) -> tuple[FailedBatch, ...]:
        """The batches that could not be checked, the oldest first."""
        return tuple(self._failures)

    @property
    def alarms(self) -> tuple[CheckRecord, ...]:
        """The checks that raised an alarm."""
        return tuple(record for record in self._history if record.alarm)

    @property
    def verdict(self) -> str:
        """The answer so far in one sentence."""
        alarms, failed = self.alarms, ""
        if self._failures:
            noun = "batch" if len(self._failures) == 1 else "batches"
            failed = f" {len(self._failures):,} {noun} could not be checked."
        if not self._history:
            return f"No batch was checked yet.{failed}"
        checks = counted(len(self._history), "check")
        if not alarms:
            return f"{checks}, no alarm.{failed}"
        last = f"the last at check {alarms[-1].number} ({alarms[-1].label})"
        return f"{checks}, {counted(len(alarms), 'alarm')}, {last}.{failed}"

    @property
    def promise(self) -> str:
        """What is promised of false alarms, and on which condition, as a sentence."""
        return f"{capitalised(self.settings.promise.describe())}."

    def record_failure(self, label: str, error: InputError) -> FailedBatch:
        """Add a batch that could not be read or checked to the history, and return its record.

        It is no check: it has no number, and the evidence so far stays as it is. A failure that is
        in the history already is not added again.
        """
        reason = "schema" if isinstance(error, SchemaError) else "input"
        failed = FailedBatch(label, reason, str(error), len(self._history))
        for one in self._failures:
            if (one.label, one.message) == (failed.label, failed.message):
                return one
        self._failures.append(failed)
        return failed

    def summary(self) -> str:
        """Return the history as plain text, one line per check, with the findings of alarms."""
        lines = [self.verdict, self.promise, *self.column_notes.lines(), ""]
        failures = list(self._failures)
        for number in range(len(self._history) + 1):
            lines += [self.summary_of(record) for record in self._history[number - 1 : number]]
            lines += [failed.summary() for failed in failures if failed.after == number]
        return "\n".join(lines).rstrip()

    def summary_of(self, record: CheckRecord) -> str:
        """Return one check as plain text, with its findings if there was an alarm."""
        label = safe(record.label)
        parts = [f"{record.number}. {label}: {p_text(record.pvalue)}"]
        if record.capital is not None:
            parts.append(f", e-value {record.capital:.3g} (alarm at {record.capital_needed:g})")
        if record.beyond:
            parts.append(f", beyond the threshold: {safe(', '.join(record.beyond))}")
        if record.alarm:
            parts.append(f"  ALARM: {label} differs from the reference")
            parts += [f"\n   tripped by {text}" for text in record.tripped]
            others = [text for text in record.findings if text not in record.tripped]
            parts += [f"\n   {text}" for text in others]
        return "".join(parts)

    def to_frame(self) -> Any:
        """Return the history as a table, one row per check: pandas, pyarrow or polars."""
        names = [field.name for field in fields(CheckRecord) if field.name not in _NESTED]
        columns = {name: [getattr(record, name) for record in self._history] for name in names}
        texts = {
            "variables": [", ".join(record.variables) for record in self._history],
            "beyond": [", ".join(record.beyond) for record in self._history],
            "findings": ["; ".join(record.findings) for record in self._history],
            "tripped": ["; ".join(record.tripped) for record in self._history],
        }
        return make_frame(columns | texts)

    def scores_frame(self) -> Any:
        """Return the scores as a table, one row per check and column."""
        rows = [(record, score) for record in self._history for score in record.scores]
        return make_frame(
            {
                "number": [record.number for record, _ in rows],
                "label": [record.label for record, _ in rows],
                **{
                    name: [getattr(score, name) for _, score in rows]
                    for name in ("column", "measure", "effect", "low", "high")
                },
                "beyond": [score.column in record.beyond for record, score in rows],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return settings, promise and history as plain Python values, ready for JSON."""
        return {
            "version": JSON_VERSION,
            "verdict": self.verdict,
            "promise": self.promise,
            "n_rows": self.n_rows,
            "columns": list(self.names),
            "left_out": self.column_notes.to_dict(),
            "settings": self.settings.to_dict(),
            "history": [record.to_dict() for record in self._history],
            "failures": [failed.to_dict() for failed in self._failures],
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return `to_dict()` as strict JSON; write it to `path` too if given.

        `version` is 3; findings are objects. For reading: to continue later, use `save`.
        """
        return text_writer(path, end="\n")(strict_json(self.to_dict()))

    def to_prometheus(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the last check as metrics in Prometheus' text format; write it to `path` too.

        For the textfile collector of the node exporter: the file is written whole or not at all.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> monitor = ta.compare_to_reference(rng.normal(size=(60, 2)), random_state=0)
        >>> monitor.to_prometheus().splitlines()[2]
        'tellapart_monitor_checks_total 0'
        """
        return text_writer(path)(exposition(self._history, self._failures))

    def plot(self) -> Figure:
        """Draw the e-values and the p-values over the checks, with what an alarm needs.

        Alarms are marked with their labels. It does not use pyplot: save the figure, or let a
        notebook display it.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> monitor = ta.compare_to_reference(rng.normal(size=(60, 2)), random_state=0)
        >>> checked = monitor.check(rng.normal(size=(20, 2)), label="Monday")
        >>> len(monitor.plot().axes)
        2
        """
        # Matplotlib is slow to import.
        from tellapart.report.figures import draw_history

        return draw_history(self)

    def plot_columns(self) -> Figure:
        """Draw the score of every column (rows) in every batch, the latest 60 of them.

        Columns are sorted by their largest score, of which the first 40 are drawn; scores that
        reach their threshold, or belong to a finding that tripped an alarm, are marked.
        """
        # Matplotlib is slow to import.
        from tellapart.report.figures import draw_scores

        return draw_scores(self._history)

    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, reproduce: str | None = None
    ) -> str:
        """Return the history as one HTML page; write it to `path` too if given.

        The page needs no network and no script. The file is written whole or not at all.

        Parameters
        ----------
        path : str, path-like or None
            Where to write it.
        reproduce : str or None
            The command or code that the page gives for continuing; the Python calls if None.
        """
        write = text_writer(path)
        from tellapart.report.monitor import render_monitor

        return write(render_monitor(self, reproduce))


_NESTED = ("variables", "found", "scores", "beyond")
