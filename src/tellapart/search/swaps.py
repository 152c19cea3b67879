"""Exchanges of one chosen variable for another, until none improves the objective."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.search.sphere import Peak, climb
from tellapart.statistics.objective import FittedObjective
from tellapart.statistics.objective_sums import Derivatives
from tellapart.strs.control import Control

# Exchanges that are tried with their best weights in a sweep, the most promising first; where a
# sweep has no more than that, all are tried, though a climb that promises too little is cut short.
MOST_TRIALS = 40
# Gains below this share of |F| are rounding error, and could make the search cycle.
_LEAST_GAIN = 1e-9
_NOBODY = -1


def improve_by_exchanges(
    objective: FittedObjective,
    peak: Peak,
    n_variables: int,
    control: Control,
    most_trials: int = MOST_TRIALS,
) -> tuple[Peak, int]:
    """Return a point that no tried exchange improves, and the number of exchanges made.

    All exchanges are ranked by the second-order model of F in the weights ω: the newcomer takes
    the whole weight of the one that leaves. The best `most_trials` are then judged by F at the
    best weights of the new support, found by `climb`. Where a place is unused, additions compete.
    """
    made = 0
    while not control.out_of_time:
        found = _first_improvement(objective, peak, n_variables, control, most_trials)
        if found is None:
            break
        peak = found
        made += 1
    return peak, made


def _first_improvement(
    objective: FittedObjective, peak: Peak, n_variables: int, control: Control, most_trials: int
) -> Peak | None:
    to_beat = peak.value + _LEAST_GAIN * abs(peak.value)
    for trial in promising_exchanges(objective, peak.z, n_variables, most_trials):
        if control.out_of_time:
            return None
        found = climb(objective, trial, to_beat=to_beat, control=control)
        if found.value > to_beat:
            return found
    return None


def promising_exchanges(
    objective: FittedObjective, z: FloatArray, n_variables: int, most: int
) -> list[FloatArray]:
    """Return the points after one exchange, or one addition, the most promising first."""
    chosen, others = np.flatnonzero(z), np.flatnonzero(z == 0)
    if others.size == 0:
        return []
    second = objective.in_weights(z)
    signs = np.array([1.0, -1.0] if objective.signed else [1.0])
    weights = objective.weights(z)
    gains = _transfer_gains(second, weights, chosen, others, signs)
    if chosen.size < n_variables:
        added = _addition_gains(second, weights, chosen, others, signs, objective.squares_weights)
        gains = np.concatenate([gains, added], axis=1)
        chosen = np.append(chosen, _NOBODY)
    order = np.argsort(-gains, axis=None, kind="stable")[:most]
    sign, leaving, coming = np.unravel_index(order, gains.shape)
    return [
        _exchanged(z, int(chosen[s]), int(others[r]), float(signs[k]))
        for k, s, r in zip(sign, leaving, coming, strict=True)
    ]


def _transfer_gains(
    second: Derivatives,
    weights: FloatArray,
    chosen: IntArray,
    others: IntArray,
    signs: FloatArray,
) -> FloatArray:
    """Return what the model in ω promises when r takes the weight of s: axes sign, s, r."""
    sign = signs[:, None, None]
    moved = weights[chosen][:, None]
    slopes, own = second.gradient, np.diag(second.hessian)
    first = moved * (sign * slopes[others] - slopes[chosen][:, None])
    cross = second.hessian[np.ix_(chosen, others)]
    bend = own[others] - 2 * sign * cross + own[chosen][:, None]
    return first + 0.5 * moved**2 * bend


def _addition_gains(
    second: Derivatives,
    weights: FloatArray,
    chosen: IntArray,
    others: IntArray,
    signs: FloatArray,
    squares: bool,
) -> FloatArray:
    """Return what first-order information promises of an unused place: axes sign, 1, r."""
    slopes = second.gradient
    share = float(np.abs(weights[chosen]).min()) / 2
    # Where Σω = 1 the newcomer's weight is taken from the others, at their common slope.
    cost = float(weights[chosen] @ slopes[chosen]) if squares else 0.0
    return share * (signs[:, None, None] * slopes[others] - cost)


def _exchanged(z: FloatArray, leaving: int, coming: int, sign: float) -> FloatArray:
    """Return z with `coming` in the place of `leaving`, or added where nobody leaves."""
    moved = z.copy()
    if leaving != _NOBODY:
        moved[coming], moved[leaving] = sign * z[leaving], 0.0
        return moved
    moved[coming] = sign * float(np.abs(z[z != 0]).min()) / 2
    return moved / np.linalg.norm(moved)
