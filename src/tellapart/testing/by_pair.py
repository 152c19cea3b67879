"""Look up a comparison by its two labels, in either order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

T = TypeVar("T")


class ByPair(Mapping[tuple[str, str], T]):
    """What was found for pairs of labels: ("B", "A") finds what is listed as ("A", "B").

    What is found is the same object either way, so which label comes first in it (and with it
    the sign of differences) is as listed.

    Examples
    --------
    >>> found = ByPair({("A", "B"): 0.03})
    >>> found["A", "B"], found["B", "A"], ("B", "A") in found, list(found)
    (0.03, 0.03, True, [('A', 'B')])
    """

    def __init__(self, found: Mapping[tuple[str, str], T]) -> None:
        self._found = dict(found)

    def __getitem__(self, pair: tuple[str, str]) -> T:
        found = self._found
        if pair in found:
            return found[pair]
        if isinstance(pair, tuple) and pair[::-1] in found:
            return found[pair[::-1]]
        raise KeyError(pair)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return repr(self._found)
