"""Progress: reported to a callback, displayed on standard error, and logged; never printed.

Everything goes to loggers under "tellapart", one for each stage (read, scan, select, prove, test):
at level INFO what a stage was about and how long it took, at level DEBUG what is reported in
between; of stage compile only that it begins. They have no handler of their own.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from tellapart.errors import InputError
from tellapart.text import safe

Progress = Callable[[str, str], None]
"""Called as progress(stage, detail): "select", "12 steps, value 0.31, bound 0.33"."""

_DISPLAYS: list[Callable[[str], None]] = []
"""What writes a line that stays, for every display that is open."""
_REPORT_SECONDS = 0.1
"""The shortest time between two reports."""


def check_progress(value: object) -> bool | Progress:
    """Return `value` if it is a bool or can be called."""
    if isinstance(value, bool):
        return value
    if callable(value):
        return cast(Progress, value)
    raise InputError(
        f"progress must be True, False or a function of (stage, detail); got {value!r}"
    )


@contextmanager
def progress_reporter(progress: bool | Progress) -> Iterator[Progress]:
    """Return a context that gives a function `report(stage, detail)` and ends its display.

    Examples
    --------
    >>> seen = []
    >>> with progress_reporter(lambda stage, detail: seen.append(stage)) as report:
    ...     report("select", "started")
    >>> seen
    ['select']
    """
    if not isinstance(progress, bool):

        def both(stage: str, detail: str) -> None:
            silent(stage, detail)
            progress(stage, detail)

        yield both
        return
    if not progress:
        yield silent
        return
    # rich is slow to import.
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("tellapart") as status:
        # As Text: a label like "[/red]" is no markup.
        def show(stage: str, detail: str) -> None:
            silent(stage, detail)
            status.update(Text(safe(f"{stage}: {detail}")))

        def keep(line: str) -> None:
            status.console.print(Text(line))

        _DISPLAYS.append(keep)
        try:
            yield show
        finally:
            _DISPLAYS.remove(keep)


class Announcement:
    """What is logged once in a process, at level INFO, and displayed once where progress is.

    Callbacks are not told: how often they are called depends on the work alone.

    Parameters
    ----------
    stage : str
        The name of the stage, and of its logger under "tellapart".
    detail : str
        What begins.

    Examples
    --------
    >>> tell = Announcement("compile", "functions are compiled")
    >>> tell()  # logs "compile: functions are compiled"
    """

    def __init__(self, stage: str, detail: str) -> None:
        self._stage, self._detail, self._logged, self._displayed = stage, detail, False, False

    def __call__(self) -> None:
        """Log and display it, unless that has been done."""
        if not self._logged:
            self._logged = True
            _logger(self._stage).info("%s: %s", self._stage, self._detail)
        if not self._displayed and _DISPLAYS:
            self._displayed = True
            _DISPLAYS[0](f"tellapart: {self._detail}")


def solver_progress(progress: Progress, stage: str) -> Callable[[int, float, float | None], None]:
    """Return the progress callback of a solver, which reports in words."""

    def report(iterations: int, value: float, upper_bound: float | None) -> None:
        bound = "none yet" if upper_bound is None else f"{upper_bound:.6g}"
        progress(stage, f"{iterations} steps, value {value:.6g}, bound {bound}")

    return report


class ShareDone:
    """Turns rows done into words: progress("scan", "35 %, about 12 s left").

    Parameters
    ----------
    progress : callable
        The function to report to.
    stage : str
        The name of the work.
    total : int
        Rows of the whole work, summed over all passes.
    clock : callable
        Gives the time in seconds.

    Examples
    --------
    >>> times = iter([0.0, 10.0])
    >>> share = ShareDone(lambda stage, detail: print(stage, detail), "scan", 400, times.__next__)
    >>> share(100)
    scan 25 %, about 30 s left
    """

    def __init__(
        self,
        progress: Progress,
        stage: str,
        total: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._progress, self._stage, self._total, self._clock = progress, stage, total, clock
        self._started = clock()
        self._reported = -math.inf

    def __call__(self, done: int) -> None:
        """Report that so many rows are done, at most every tenth of a second."""
        now = self._clock()
        if now - self._reported < _REPORT_SECONDS and done < self._total:
            return
        self._reported = now
        share = min(done / max(self._total, 1), 1.0)
        detail = f"{100 * share:.0f} %"
        if 0 < share < 1:
            left = (now - self._started) * (1 - share) / share
            detail = f"{detail}, about {_in_units(left)} left"
        self._progress(self._stage, detail)

    def after(self, rows: int) -> Callable[[int], None]:
        """Return the callback of a later pass, before which so many rows were done."""
        return lambda done: self(rows + done)


def _in_units(seconds: float) -> str:
    """Return a time in seconds, minutes or hours."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Stage:
    """One stage of the work, which is logged at level INFO when it is done.

    Parameters
    ----------
    name : str
        The name of the stage, and of its logger under "tellapart".
    clock : callable
        Gives the time in seconds.

    Examples
    --------
    >>> times = iter([0.0, 1.25])
    >>> stage = Stage("scan", times.__next__)
    >>> stage.done("30 columns, 999 permutations")  # logs "scan: 30 columns, …; 1.25 s"
    """

    def __init__(self, name: str, clock: Callable[[], float] = time.perf_counter) -> None:
        self._name, self._clock, self._started = name, clock, clock()

    def done(self, detail: str) -> None:
        """Log what the stage was about and the seconds it took."""
        logger = _logger(self._name)
        if logger.isEnabledFor(logging.INFO):
            seconds = self._clock() - self._started
            logger.info("%s: %s; %.3g s", self._name, safe(detail), seconds)


def silent(stage: str, detail: str) -> None:
    """Report to nobody but the log, at level DEBUG."""
    logger = _logger(stage)
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("%s: %s", stage, safe(detail))


def _logger(stage: str) -> logging.Logger:
    return logging.getLogger(f"tellapart.{stage}")
