"""What every selector gives: at most d columns of two samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TypeAlias

from which_few.table import IntArray, Table

Select: TypeAlias = Callable[[Table, Table, int, int], IntArray]
"""`select(X, Y, d, seed)` gives the positions of the chosen columns."""


@dataclass(frozen=True)
class Method:
    """A selector under the name its rows are stored by.

    `needs` are the modules without which it cannot run; `what` says how it is called.
    """

    name: str
    what: str
    select: Select
    needs: tuple[str, ...] = ()
    own: bool = False

    def missing(self) -> list[str]:
        """Return the modules that are needed and cannot be found."""
        return [name for name in self.needs if find_spec(name) is None]


METHODS: dict[str, Method] = {}


def method(
    name: str, what: str, needs: tuple[str, ...] = (), own: bool = False
) -> Callable[[Select], Select]:
    """Enter a selector under a name."""

    def enter(select: Select) -> Select:
        METHODS[name] = Method(name, what, select, needs, own)
        return select

    return enter
