"""A pair or triple of columns that may depend on each other differently in the two samples."""

from __future__ import annotations

from dataclasses import dataclass

from tellapart.scan.scores import Singles


@dataclass(frozen=True, eq=False)
class Group:
    """Columns whose dependence may have changed.

    Attributes
    ----------
    columns : tuple of int
        Two or three columns of the samples.
    log_odds : float
        Log of the odds that their dependence changed.
    zscore : float
        The change in units of its noise.
    score : array of length N
        The product of their scores in every row, whose mean is what changed.
    """

    columns: tuple[int, ...]
    log_odds: float
    zscore: float
    score: Singles
