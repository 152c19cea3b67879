"""Columns of a wide table that are named by their location alone, with adjusted p-values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.scan.adjusted import Maxima
from tellapart.scan.describe import Describer
from tellapart.scan.finding import LOCATION, Finding
from tellapart.scan.sizes import Sizes
from tellapart.scan.wide_shifts import WideShifts

OTHERS = "others"
"""The class of these columns among those that share one level."""
MOST_DESCRIBED = 50
"""Of more columns that are named, the surest have their sizes told."""


def other_pvalues(maxima: Maxima, shifts: WideShifts, alpha: float) -> FloatArray:
    """Return the adjusted p-values of the columns that are named here, 1 for the others.

    Step by step, what was named is left out of the maxima, as in
    `tellapart.scan.adjusted.step_down`.
    """
    adjusted = np.ones(shifts.own.size)
    named = np.flatnonzero(shifts.named)
    order = named[np.argsort(-shifts.own[named], kind="stable")]
    largest, gone, j = 0.0, set[int](), 0
    rest = shifts.maximum_without(gone)
    while j < order.size:
        own = shifts.own[order[j : j + 1]]
        largest = max(largest, float(maxima.adjusted(OTHERS, own, rest)[0]))
        if largest > alpha:
            break
        adjusted[order[j]] = largest
        gone.add(int(order[j]))
        rest = shifts.maximum_without(gone)
        j += 1
    if j < order.size:
        left = maxima.adjusted(OTHERS, shifts.own[order[j:]], rest)
        adjusted[order[j:]] = np.maximum(np.maximum.accumulate(left), largest)
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
