"""Look up a comparison by its two labels, in either order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import TypeVar

from tellapart.errors import UnknownKeyError

T = TypeVar("T")
MOST_LISTED = 10
"""Comparisons that a message lists."""


class ByPair(Mapping[tuple[str, str], T]):
    """What was found for pairs of labels: ("B", "A") finds what is listed as ("A", "B").

    What is found is the same object either way, so which label comes first in it (and with it
    the sign of differences) is as listed. A single label finds the comparison it is in, where
    there is only one: with comparisons of one group against the rest, the name of the group.

    Examples
    --------
    >>> found = ByPair({("A", "B"): 0.03})
    >>> found["A", "B"], found["B", "A"], ("B", "A") in found, list(found)
    (0.03, 0.03, True, [('A', 'B')])
    >>> found["A"]
    0.03
    """

    def __init__(self, found: Mapping[tuple[str, str], T]) -> None:
        self._found = dict(found)

    def __getitem__(self, key: str | tuple[str, str]) -> T:
        found = self._found
        if isinstance(key, tuple) and key in found:
            return found[key]
        if isinstance(key, tuple) and key[::-1] in found:
            return found[key[::-1]]
        containing = [pair for pair in found if key in pair]
        if len(containing) == 1:
            return found[containing[0]]
        raise UnknownKeyError(self._unknown(key, len(containing)))

    def _unknown(self, key: object, n_containing: int) -> str:
        """Return the message for a key that finds nothing, or too much."""
        if n_containing:
            hint = f", which is in {n_containing:,} comparisons"
        else:
            labels = {label.casefold(): label for pair in self._found for label in pair}
            near = get_close_matches(key.casefold(), labels) if isinstance(key, str) else []
            hint = f"; did you mean {' or '.join(repr(labels[n]) for n in near)}?" if near else ""
        listed = ", ".join(map(repr, list(self._found)[:MOST_LISTED]))
        more = ", …" if len(self._found) > MOST_LISTED else ""
        return (
            "the key of results must be a group that is compared once or a pair of groups; "
            f"got {key!r}{hint}; there are {len(self._found):,}: {listed}{more}"
        )

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return repr(self._found)
