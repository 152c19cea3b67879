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
from tellapart.search.sphere import TOLERANCE, Peak, climb, pruned
from tellapart.statistics.fourier_objective import FourierObjective
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
    objective: FittedObjective | FourierObjective,
    finalists: Sequence[FloatArray],
    n_variables: int,
    control: Control,
    *,
    gain: float = _GAIN,
    tolerance: float = TOLERANCE,
) -> Peak:
    """Return the best point near one of the finalists, on all rows.

    A further variable stays if F grows by the share `gain`.
    """
    peaks = [polished(objective, finalists[0], control, tolerance=tolerance)]
    for z in finalists[1:]:
        if control.out_of_time:
            break
        peaks.append(polished(objective, z, control, tolerance=tolerance))
    best = max(peaks, key=lambda peak: peak.value)
    while best.support.size < n_variables and not control.out_of_time:
        found = with_newcomer(objective, best.z, control, tolerance=tolerance)
        if found is None or found.value <= best.value + gain * abs(best.value):
            break
        best = found
    return best


def with_newcomer(
    objective: FittedObjective | FourierObjective,
    z: FloatArray,
    control: Control,
    *,
    leaving: int | None = None,
    to_beat: float = -np.inf,
    tolerance: float = TOLERANCE,
) -> Peak | None:
    """Return the best point near z with one more variable, the steepest; None if none is steep.

    `leaving` is a variable that has just left and does not come back. The point is not brought to
    its best where `to_beat` seems out of reach.
    """
    support = np.flatnonzero(z)
    slopes = objective.weight_slopes(z)
    lift = objective.lift(slopes)
    # Where Σω = 1 a newcomer takes its weight from the others, which have one slope in common.
    common = float(objective.weights(z) @ slopes) if objective.squares_weights else 0.0
    lift[support] = -np.inf
    if leaving is not None:
        lift[leaving] = -np.inf
    newcomer = int(np.argmax(lift))
    if lift[newcomer] <= common:
        return None
    start = np.sqrt(1 - _FIRST_WEIGHT) * z
    # Where ω(z) = z the sign of a weight is that of its slope.
    start[newcomer] = np.sqrt(_FIRST_WEIGHT) * (np.sign(slopes[newcomer]) or 1.0)
    if objective.squares_weights:
        start = np.abs(start)
    return polished(objective, start, control, to_beat=to_beat, tolerance=tolerance)


def polished(
    objective: FittedObjective | FourierObjective,
    z: FloatArray,
    control: Control,
    *,
    to_beat: float = -np.inf,
    tolerance: float = TOLERANCE,
) -> Peak:
    """Return the best weights of the variables of z, near z."""
    used = np.flatnonzero(z)
    part = objective.columns(used)
    peak = climb(part, z[used], to_beat=to_beat, tolerance=tolerance, control=control)
    peak = pruned(part, peak, control, tolerance=tolerance)
    full = np.zeros_like(z)
    full[used] = peak.z
    return Peak(full, peak.value)
