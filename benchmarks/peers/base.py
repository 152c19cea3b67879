"""What every peer gives: an answer on two samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TypeAlias

from peers.task import Pair

ALPHA = 0.05
PERMUTATIONS = 999
"""Of every test that permutes."""
THREADS = 2
"""Of every peer that can use more than one."""
CHOSEN = 3
"""Columns that a selector is asked for: as many as carry the difference."""


@dataclass(frozen=True)
class Answer:
    """The p-value of a test, and the columns named by what names them; None for what does not."""

    pvalue: float | None = None
    columns: tuple[int, ...] | None = None


def chosen(columns: Iterable[int]) -> Answer:
    """Return the answer of a selector."""
    return Answer(columns=tuple(sorted(int(s) for s in columns)))


Call: TypeAlias = Callable[[Pair, int], Answer]
"""`call(pair, seed)` gives the answer."""
Bytes: TypeAlias = Callable[[int, int], float]
"""Bytes that a peer cannot do without, of the rows of each sample and the columns."""


@dataclass(frozen=True)
class Peer:
    """A test or a selector under the name its rows are stored by.

    `what` says how it is called; `needs` are the modules without which it cannot run, and
    `package` is what `pip install` calls them; `exact` tests by all rows, all pairs of rows and
    permutations of rows.
    """

    name: str
    what: str
    call: Call
    selector: bool = False
    needs: tuple[str, ...] = ()
    package: str = ""
    bytes_needed: Bytes | None = None
    exact: bool = False
    own: bool = False

    def missing(self) -> list[str]:
        """Return the modules that are needed and cannot be found."""
        return [name for name in self.needs if find_spec(name) is None]

    def version(self) -> str:
        """Return the version of what is measured."""
        package = self.package.split()[0].split("==")[0] if self.package else "tellapart"
        try:
            return f"{package} {version(package)}"
        except PackageNotFoundError:
            return package


def matrices(count: int, size: int = 8) -> Bytes:
    """Return the bytes of some matrices of all pairs of rows, `size` bytes for each entry."""
    return lambda rows, columns: float(count * size) * (2 * rows) ** 2  # noqa: ARG005
