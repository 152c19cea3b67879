"""Identifiers: columns of consecutive numbers, hashes, or texts that are all different.

They differ between any two files, and mean nothing. Whether a column is one is decided by its
pooled values, in no order and without labels: what is left out is the same for every permutation
of the labels, and p-values stay valid.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray

# A text column with more distinct values than this, and than half the rows, names its rows.
MOST_LABELS = 50
# Fewer rows than this may hold consecutive numbers by chance or by design; and fewer than this say
# nothing, whatever the column is called.
FEWEST_CONSECUTIVE = 20
FEWEST_NAMED = 5

_LIKE_A_NAME = re.compile(r"(?:.*[\W_])?(?:id|uid|uuid|guid|rowid|idx|key)", re.IGNORECASE)
_CAMEL = re.compile(r".*[a-z](?:Id|ID|Uid|UID|Uuid|UUID|Guid|GUID|Key)")
_HASH = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?:0x)?(?=.*[0-9])[0-9a-f]{16,}", re.IGNORECASE
)


def is_named_like_identifier(name: str) -> bool:
    """Say whether a column is named like an identifier.

    >>> names = ("patient_id", "PassengerId", "ID", "covid", "humid")
    >>> [is_named_like_identifier(name) for name in names]
    [True, True, True, False, False]
    """
    return bool(_LIKE_A_NAME.fullmatch(name) or _CAMEL.fullmatch(name))


def why_text_identifies_rows(counts: Mapping[str, int], n_rows: int, n_samples: int) -> str | None:
    """Say why a text column identifies rows, from how often each text occurs; else None.

    Parameters
    ----------
    counts : mapping
        How often each text occurs in all samples.
    n_rows : int
        Rows of all samples.
    n_samples : int
        A name may occur once in each of them: the same patients, before and after.

    Examples
    --------
    >>> why_text_identifies_rows({f"p{k}": 1 for k in range(60)}, 60, 2)
    '60 distinct texts in 60 rows'
    >>> why_text_identifies_rows({"f": 30, "m": 30}, 60, 2) is None
    True
    """
    if not counts:
        return None
    once = max(counts.values()) <= n_samples
    n_distinct = len(counts)
    if n_distinct > MOST_LABELS and (once or 2 * n_distinct > n_rows):
        return f"{n_distinct} distinct texts in {n_rows} rows"
    if once and n_distinct >= FEWEST_NAMED and all(map(_HASH.fullmatch, counts)):
        return f"texts like hashes, {n_distinct} distinct ones in {n_rows} rows"
    return None


def may_be_consecutive(
    low: NDArray[np.float64], high: NDArray[np.float64], n_rows: int, n_samples: int
) -> NDArray[np.bool_]:
    """Say which columns of whole numbers have extremes that consecutive numbers would have.

    Each number once in every sample: between n_rows/n_samples and n_rows of them.
    """
    span = high - low + 1
    return np.asarray(
        (n_rows >= FEWEST_CONSECUTIVE) & (span <= n_rows) & (span * n_samples >= n_rows)
    )


def why_numbers_identify_rows(name: str, values: NDArray[np.float64], n_samples: int) -> str | None:
    """Say why whole numbers identify rows, from the pooled values of a column; else None.

    Consecutive numbers, or any in a column called so, each at most once in every sample. A count
    or a code repeats itself, and a measurement leaves gaps.

    Examples
    --------
    >>> why_numbers_identify_rows("visit", np.arange(100.0), 2)
    'consecutive whole numbers, each at most once in a sample'
    >>> why_numbers_identify_rows("pulse", np.array([71.0, 64, 80, 71, 66] * 20), 2) is None
    True
    """
    distinct, counts = np.unique(values, return_counts=True)
    if not values.size or counts.max() > n_samples:
        return None
    if values.size >= FEWEST_CONSECUTIVE and distinct[-1] - distinct[0] + 1 == distinct.size:
        return "consecutive whole numbers, each at most once in a sample"
    if values.size >= FEWEST_NAMED and is_named_like_identifier(name):
        return "its name, and whole numbers, each at most once in a sample"
    return None


# Whether whole numbers are consecutive, by sums over chunks, in memory of a few numbers.
#
# Rows are never held together, so that repeats cannot be looked for. But numbers between a and b of
# which there are b − a + 1, with the sum and the sum of squares of a, a + 1, …, b, are these: what
# else has all of this in common is made for it. Sums are taken modulo 2⁶⁴, exact in any order.


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
