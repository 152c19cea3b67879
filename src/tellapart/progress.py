"""How far the work is: told to a callback, or shown on standard error, never printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from tellapart.errors import InputError
from tellapart.text import safe

Progress = Callable[[str, str], None]
"""Called as progress(stage, detail): "select", "12 steps, value 0.31, bound 0.33"."""


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
def showing(progress: bool | Progress) -> Iterator[Progress]:
    """Give a `progress(stage, detail)` for the length of the work.

    Examples
    --------
    >>> seen = []
    >>> with showing(lambda stage, detail: seen.append(stage)) as progress:
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


def silent(stage: str, detail: str) -> None:
    """Say nothing."""
