"""Limits of work: how much one call may look at, draw or hold, in one object.

A limit decides how much work is done and how much memory it takes, never whether an answer is
valid: p-values and bounds hold under every budget. Code reads the limits of the present call from
`current_budget`; `using_budget` sets others for the calls inside it, in their threads too.

>>> from tellapart.budget import Budget, current_budget, using_budget
>>> with using_budget(Budget(block_entries=10)):
...     current_budget().block_entries
10
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """Limits of work, one field each, in the order of the rooms that read them.

    Attributes
    ----------
    block_entries : int
        Entries of a matrix that is made block by block.
    distance_rows : int
        Rows whose distances from each other a scan sums; of more, some of every bin.
    fewest_scanned_rows : int
        Rows of each sample below which a scan is not cut short to keep a time limit.
    split_bytes : int
        Bytes of the rows drawn from chunks for a split, where no memory budget is given.
    refined_permutations, refined_label_bytes, refined_scan_bytes : int
        Permutations of a check whose p-value is refined, and the bytes of their labels (a split) or
        statistics (a scan).
    file_bytes_in_memory : int
        Bytes of the numbers in files beyond which the command line reads them block by block.
    """

    # kernels and statistics
    block_entries: int = 4_000_000
    # scan
    distance_rows: int = 4_000
    # two_sample
    fewest_scanned_rows: int = 1_000
    split_bytes: int = 2_000_000_000
    # monitor
    refined_permutations: int = 99_999
    refined_label_bytes: int = 500_000_000
    refined_scan_bytes: int = 2_000_000_000
    # command line
    file_bytes_in_memory: int = 1 << 30


_CURRENT = ContextVar("budget", default=Budget())  # noqa: B039 -- it is frozen


def current_budget() -> Budget:
    """Return the limits of the present call."""
    return _CURRENT.get()


@contextmanager
def using_budget(budget: Budget) -> Iterator[Budget]:
    """Use other limits for what is called inside."""
    token = _CURRENT.set(budget)
    try:
        yield budget
    finally:
        _CURRENT.reset(token)
