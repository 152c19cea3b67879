"""Columns of a wide table that are named by their location alone, with adjusted p-values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.scan.adjusted import Named
from tellapart.scan.describe import Describer
from tellapart.scan.finding import LOCATION, Finding
from tellapart.scan.sizes import Sizes
from tellapart.scan.wide_shifts import WideShifts

OTHERS = "others"
"""The class of these columns among those that share one level."""
MOST_DESCRIBED = 50
"""Of more columns that are named, the surest have their sizes told."""


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


def describe_others(
    samples: Samples,
    shifts: WideShifts,
    pvalues: FloatArray,
    alpha: float,
    rng: np.random.Generator,
    labels: KeyedBins,
    like: Describer | None = None,
) -> list[Finding]:
    """Return the findings of the columns that are named here, the strongest first.

    Their intervals have the resamples of `like`, where it is given.
    """
    order = np.argsort(-shifts.own, kind="stable")
    order = order[shifts.named[order] & (pvalues[order] <= alpha)][:MOST_DESCRIBED]
    if order.size == 0:
        return []
    columns = shifts.columns[order].tolist()
    sizes = Sizes(samples, columns, (), rng, labels, like)
    return [
        replace(tell(), pvalue=float(pvalues[place]))
        for place, column in zip(order, columns, strict=True)
        for tell in sizes.aspects((column,), (LOCATION,)).values()
    ]
