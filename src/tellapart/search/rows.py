"""A search on some of the rows: its time grows with the square of their number.

A point that is best among thousands of rows is best among a thousand of them, or nearly so: what
the search spends on choosing variables is better spent on more starts. The weights of the chosen
variables are then brought to their best on all rows, and variables that only all rows speak for
are added while there is a place, which takes few evaluations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.search.sphere import Peak, climb, pruned
from tellapart.statistics.objective import FittedObjective
from tellapart.strs.control import Control

# ω of a variable that is tried, and the share by which F must grow for it to stay.
_FIRST_WEIGHT = 0.02
_GAIN = 1e-4


def on_some_rows(
    objective: FittedObjective, most: int, rng: np.random.Generator
) -> FittedObjective:
    """Return F of at most `most` random rows of each sample; F itself where there are no more."""
    drawn = objective.samples.draw(most, rng)
    if drawn is objective.samples:
        return objective
    return objective.on(drawn)


def finished_on_all_rows(
    objective: FittedObjective, finalists: Sequence[FloatArray], n_variables: int, control: Control
) -> Peak:
    """Return the best point near one of the finalists, on all rows."""
    peaks = [_polished(objective, z, control) for z in finalists]
    best = max(peaks, key=lambda peak: peak.value)
    while best.support.size < n_variables and not control.out_of_time:
        slopes = objective.weight_slopes(best.z)
        lift = objective.lift(slopes)
        # Where Σω = 1 a newcomer takes its weight from the others, which have one slope in common.
        common = float(objective.weights(best.z) @ slopes) if objective.squares_weights else 0.0
        lift[best.support] = -np.inf
        newcomer = int(np.argmax(lift))
        if lift[newcomer] <= common:
            break
        start = np.sqrt(1 - _FIRST_WEIGHT) * best.z
        # Where ω(z) = z the sign of a weight is that of its slope.
        start[newcomer] = np.sqrt(_FIRST_WEIGHT) * (np.sign(slopes[newcomer]) or 1.0)
        found = _polished(objective, start, control)
        if found.value <= best.value + _GAIN * abs(best.value):
            break
        best = found
    return best


def _polished(objective: FittedObjective, z: FloatArray, control: Control) -> Peak:
    """Return the best weights of the variables of z, near z."""
    used = np.flatnonzero(z)
    part = objective.columns(used)
    peak = pruned(part, climb(part, z[used], control=control), control)
    full = np.zeros_like(z)
    full[used] = peak.z
    return Peak(full, peak.value)
