"""Are whole numbers consecutive? Told by sums over chunks, in memory of a few numbers.

Rows are never held together, so that repeats cannot be looked for. But numbers between a and b of
which there are b − a + 1, with the sum and the sum of squares of a, a + 1, …, b, are these: what
else has all of this in common is made for it. Sums are taken modulo 2⁶⁴, exact in any order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.identifiers import FEWEST_CONSECUTIVE

_WORD = 1 << 64
# Beyond this, float64 does not tell whole numbers apart.
_LARGEST = float(1 << 53)
# So many rows of a chunk are looked at for numbers that repeat: most columns give up there.
_HEAD = 4096


@dataclass
class WholeNumbers:
    """What is known of the whole numbers of a column, for as long as they may be consecutive.

    Attributes
    ----------
    most_copies : int
        How often a number may occur: once in each sample.
    n, total, squares : int
        How many there are, their sum and that of their squares, the sums modulo 2⁶⁴.
    possible : bool
        Whether they may be consecutive; once they cannot be, nothing is added up any further.

    Examples
    --------
    >>> numbers = WholeNumbers()
    >>> for chunk in (np.arange(40.0, 90.0), np.arange(40.0)):
    ...     numbers.add(chunk)
    >>> numbers.are_consecutive(0.0, 89.0)
    True
    """

    most_copies: int = 2
    n: int = 0
    total: int = 0
    squares: int = 0
    possible: bool = True

    def add(self, values: FloatArray) -> None:
        """Take in the numbers of one chunk, NaN where one is missing."""
        if not self.possible:
            return
        present = values[~np.isnan(values)]
        if not present.size:
            return
        self.possible = self._may_go_on(present)
        if not self.possible:
            return
        words = present.astype(np.int64).view(np.uint64)
        self.n += present.size
        self.total = (self.total + int(words.sum())) % _WORD
        self.squares = (self.squares + int((words * words).sum())) % _WORD

    def merge(self, other: WholeNumbers) -> None:
        """Take in what is known of other rows."""
        self.possible = self.possible and other.possible
        self.n += other.n
        self.total = (self.total + other.total) % _WORD
        self.squares = (self.squares + other.squares) % _WORD

    def are_consecutive(self, least: float, greatest: float) -> bool:
        """Say whether they are all the numbers between these, all once or all once per sample."""
        if not self.possible or self.n < FEWEST_CONSECUTIVE:
            return False
        first, last = int(least), int(greatest)
        span = last - first + 1
        copies, rest = divmod(self.n, span)
        if rest or copies > self.most_copies:
            return False
        total = span * (first + last) // 2
        squares = _squares(last) - _squares(first - 1)
        return self.total == copies * total % _WORD and self.squares == copies * squares % _WORD

    def _may_go_on(self, present: FloatArray) -> bool:
        """Say whether some rows allow that no number occurs more often than it may."""
        if not are_whole(present):
            return False
        low, high = float(present.min()), float(present.max())
        if max(-low, high) > _LARGEST or (high - low + 1) * self.most_copies < present.size:
            return False
        _, counts = np.unique(present[:_HEAD], return_counts=True)
        return int(counts.max()) <= self.most_copies


def are_whole(values: FloatArray) -> bool:
    """Say whether all numbers are whole."""
    return bool(np.array_equal(np.floor(values), values))


def _squares(k: int) -> int:
    """Return 1² + … + k², continued to numbers below 0."""
    return k * (k + 1) * (2 * k + 1) // 6
