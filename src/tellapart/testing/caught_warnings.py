"""Warnings of work that runs side by side, each kept for the piece of work that gave it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local
from typing import TextIO
from warnings import WarningMessage


class _Current(local):
    """The piece of work of the present thread, if it is known."""

    number: int | None = None


class CaughtWarnings:
    """Catches warnings of all threads while it is entered.

    What Python offers catches for the whole process, not by thread: it is entered once, around all
    the work, and asks the thread that warns what it is working on. A thread that was not told, but
    helps one that was, is taken to work on what was begun last.

    Examples
    --------
    >>> with CaughtWarnings() as caught:
    ...     with caught.under(7):
    ...         warnings.warn("few rows", stacklevel=1)
    >>> [str(warning.message) for warning in caught.of(7)]
    ['few rows']
    """

    def __init__(self) -> None:
        self._caught: list[tuple[int | None, WarningMessage]] = []
        self._current = _Current()
        self._last: int | None = None
        self._quiet = warnings.catch_warnings()

    def __enter__(self) -> CaughtWarnings:
        self._quiet.__enter__()
        warnings.simplefilter("always")
        warnings.showwarning = self._keep
        return self

    def __exit__(self, *error: object) -> None:
        self._quiet.__exit__(None, None, None)

    @contextmanager
    def under(self, number: int) -> Iterator[None]:
        """Keep what this thread warns of under a number."""
        before = self._current.number
        self._current.number = self._last = number
        try:
            yield
        finally:
            self._current.number = before

    def of(self, number: int) -> list[WarningMessage]:
        """Return the warnings kept under a number."""
        return [warning for own, warning in self._caught if own == number]

    def _keep(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        number = self._current.number
        kept = WarningMessage(message, category, filename, lineno, file, line)
        self._caught.append((self._last if number is None else number, kept))
