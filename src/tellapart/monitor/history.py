"""The history of a monitor: in words, as a table, as JSON, as a figure and as a page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tellapart.data.column_notes import ColumnNotes
from tellapart.monitor.check_result import CheckRecord, history_frame
from tellapart.monitor.settings import MonitorSettings
from tellapart.scan.finding import p_text
from tellapart.text import safe
from tellapart.writing import check_writable, strict_json, write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class MonitorHistory:
    """What a monitor has answered.

    Attributes
    ----------
    settings : MonitorSettings
        What was asked for.
    names : tuple of str
        The columns of the reference.
    n_rows : int
        Rows of the reference.
    column_notes : ColumnNotes
        Columns of the reference that are left out of every check, or compared in parts.
    """

    def __init__(
        self,
        settings: MonitorSettings,
        names: tuple[str, ...],
        n_rows: int,
        history: Sequence[CheckRecord] = (),
        column_notes: ColumnNotes | None = None,
    ) -> None:
        self.settings = settings
        self.names = names
        self.n_rows = n_rows
        self.column_notes = column_notes or ColumnNotes()
        self._history = list(history)

    @property
    def history(self) -> tuple[CheckRecord, ...]:
        """One record per check, the oldest first."""
        return tuple(self._history)

    @property
    def alarms(self) -> tuple[CheckRecord, ...]:
        """The checks that raised an alarm."""
        return tuple(record for record in self._history if record.alarm)

    @property
    def verdict(self) -> str:
        """The answer so far in one sentence."""
        checks, alarms = len(self._history), self.alarms
        if not checks:
            return "No batch was checked yet."
        count = "1 check" if checks == 1 else f"{checks:,} checks"
        if not alarms:
            return f"{count}, no alarm."
        times = "1 alarm" if len(alarms) == 1 else f"{len(alarms):,} alarms"
        return f"{count}, {times}, the last at check {alarms[-1].number} ({alarms[-1].label})."

    @property
    def promise(self) -> str:
        """What is promised of false alarms, as a sentence."""
        text = self.settings.promise.describe()
        return f"{text[0].upper()}{text[1:]}."

    def summary(self) -> str:
        """Return the history as plain text, one line per check, and what its alarms named."""
        lines = [self.verdict, self.promise, *self.column_notes.lines(), ""]
        lines += [self.summary_of(record) for record in self._history]
        return "\n".join(lines).rstrip()

    def summary_of(self, record: CheckRecord) -> str:
        """Return one check as plain text, with what was named where there was an alarm."""
        parts = [f"{record.number}. {safe(record.label)}: {p_text(record.pvalue)}"]
        if record.capital is not None:
            parts.append(f", e-value {record.capital:.3g} (alarm at {record.capital_needed:g})")
        if record.alarm:
            parts += ["  ALARM", *(f"\n   {finding}" for finding in record.findings)]
        return "".join(parts)

    def to_frame(self) -> Any:
        """Return the history as a table, one row per check: pandas, or pyarrow without it."""
        return history_frame(self._history)

    def to_dict(self) -> dict[str, Any]:
        """Return settings, promise and history as plain Python values, ready for JSON."""
        return {
            "verdict": self.verdict,
            "promise": self.promise,
            "n_rows": self.n_rows,
            "columns": list(self.names),
            "left_out": self.column_notes.to_dict(),
            "settings": self.settings.to_dict(),
            "history": [record.to_dict() for record in self._history],
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return `to_dict()` as strict JSON; write it to `path` too if given.

        For reading: to go on later, use `save`.
        """
        text = strict_json(self.to_dict())
        if path is not None:
            write_atomically(check_writable("path", path), f"{text}\n".encode())
        return text

    def plot(self) -> Figure:
        """Draw the e-values and the p-values over the checks, with what an alarm needs.

        Alarms are marked, and named by their labels. Nothing is shown and no state of pyplot is
        touched: save the figure, or let a notebook show it.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> monitor = ta.compare_to_reference(rng.normal(size=(60, 2)), random_state=0)
        >>> checked = monitor.check(rng.normal(size=(20, 2)), label="Monday")
        >>> len(monitor.plot().axes)
        2
        """
        # Matplotlib takes most of a second to load: only those who draw wait for it.
        from tellapart.report.figures import draw_history

        return draw_history(self)

    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, reproduce: str | None = None
    ) -> str:
        """Return the history as one HTML page; write it to `path` too if given.

        The page needs no network and no script. The file appears whole or not at all.

        Parameters
        ----------
        path : str, path-like or None
            Where to write it.
        reproduce : str or None
            The command or code the page gives for going on; the Python calls if None.
        """
        target = None if path is None else check_writable("path", path)
        from tellapart.report.monitor import render_monitor

        page = render_monitor(self, reproduce)
        if target is not None:
            write_atomically(target, page.encode())
        return page
