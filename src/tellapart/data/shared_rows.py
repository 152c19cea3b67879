"""Rows that several comparisons divide in different ways: what labels leave alone is made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from tellapart.data.samples import Samples

T = TypeVar("T")


class SharedRows:
    """All rows in the order of their table, and what was made of them.

    Parameters
    ----------
    whole : Samples
        The rows; which of them are called x and which y means nothing.

    Examples
    --------
    >>> shared = SharedRows(None)
    >>> shared.once("answer", lambda rows: 42), shared.once("answer", lambda rows: 43)
    (42, 42)
    """

    def __init__(self, whole: Samples) -> None:
        self._whole = whole
        self._made: dict[Hashable, Any] = {}
        self._lock = RLock()  # what is made may ask for what else is shared

    def once(self, name: Hashable, make: Callable[[Samples], T]) -> T:
        """Return what `make` makes of the rows, made by whoever asks for it first.

        It is made of the rows in their own order, so that it does not matter who that is.
        """
        with self._lock:
            if name not in self._made:
                self._made[name] = make(self._whole)
            found: T = self._made[name]
            return found
