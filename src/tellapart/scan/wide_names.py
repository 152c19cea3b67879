"""Columns of a wide table that are named by their location alone, with adjusted p-values."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.scan.adjusted import Named
from tellapart.scan.wide_shifts import WideShifts

OTHERS = "others"
"""The class of these columns among those that share one level."""


class OtherUnits:
    """The columns that are named here, as units of `tellapart.scan.adjusted.step_down`."""

    def __init__(self, shifts: WideShifts) -> None:
        named = np.flatnonzero(shifts.named)
        self._order = named[np.argsort(-shifts.own[named], kind="stable")]
        self._shifts = shifts
        self._n_taken = 0

    def strongest(self) -> float | None:
        """Return the largest score at the true labels; None if all were taken."""
        if self._n_taken == self._order.size:
            return None
        return float(self._shifts.own[self._order[self._n_taken]])

    def maxima(self) -> FloatArray:
        """Return the largest score of what is left, under every permutation."""
        return self._shifts.maximum_without(set(self._order[: self._n_taken].tolist()))

    def take(self) -> None:
        """Leave out the strongest column."""
        self._n_taken += 1

    def adjusted(self, named: Named) -> FloatArray:
        """Return the adjusted p-values of the columns that are named here, 1 for the others."""
        adjusted = np.ones(self._shifts.own.size)
        taken, left = np.split(self._order, [self._n_taken])
        adjusted[taken] = named.pvalues
        adjusted[left] = named.rest(self._shifts.own[left])
        return adjusted
