"""How far the work is: told to a callback, or shown on standard error, never printed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from tellapart.errors import InputError
from tellapart.text import safe

Progress = Callable[[str, str], None]
"""Called as progress(stage, detail): "select", "12 steps, value 0.31, bound 0.33"."""

# Told no more often than this.
_TELL_SECONDS = 0.1


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
    """Give a `progress(stage, detail)` for the length of the work.

    Examples
    --------
    >>> seen = []
    >>> with progress_reporter(lambda stage, detail: seen.append(stage)) as progress:
    ...     progress("select", "started")
    >>> seen
    ['select']
    """
    if not isinstance(progress, bool):
        yield progress
        return
    if not progress:
        yield silent
        return
    # Only those who ask for the display wait for rich to load.
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("tellapart") as status:
        # As Text: a label like "[/red]" is no markup.
        yield lambda stage, detail: status.update(Text(safe(f"{stage}: {detail}")))


def solver_progress(progress: Progress, stage: str) -> Callable[[int, float, float | None], None]:
    """Return a solver's progress callback in words."""

    def tell(iterations: int, value: float, upper_bound: float | None) -> None:
        bound = "none yet" if upper_bound is None else f"{upper_bound:.6g}"
        progress(stage, f"{iterations} steps, value {value:.6g}, bound {bound}")

    return tell


class ShareDone:
    """Turns rows done into words: progress("scan", "35 %, about 12 s left").

    Parameters
    ----------
    progress : callable
        What is told.
    stage : str
        What the work is called.
    total : int
        Rows of the whole work, all passes over them together.
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
        self._told = -math.inf

    def __call__(self, done: int) -> None:
        """Tell that so many rows are done; no more often than anyone could read."""
        now = self._clock()
        if now - self._told < _TELL_SECONDS and done < self._total:
            return
        self._told = now
        share = min(done / max(self._total, 1), 1.0)
        detail = f"{100 * share:.0f} %"
        if 0 < share < 1:
            left = (now - self._started) * (1 - share) / share
            detail = f"{detail}, about {_in_units(left)} left"
        self._progress(self._stage, detail)

    def after(self, rows: int) -> Callable[[int], None]:
        """Return what a later pass tells, before which so many rows were done."""
        return lambda done: self(rows + done)


def _in_units(seconds: float) -> str:
    """Return a time in the unit in which people would say it."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def silent(stage: str, detail: str) -> None:
    """Say nothing."""
