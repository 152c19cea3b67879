"""Several kinds of difference at once."""

from __future__ import annotations

import numpy as np

from which_few.kinds import oracles
from which_few.kinds.kind import Rng, Task, kind, normal, signs, singles, some, together


@kind(oracles.mixture(shifts=2, spreads=1))
def shift_spread_pair(rng: Rng) -> Task:
    """Shift 2 of 60 columns by 0.5, widen 1 by 1.7, correlate 2 others by 0.55."""
    X, Y = normal(rng, 200, 60)
    one, two, wide, first, second = hit = some(rng, 60, 5)
    Y[:, second] = np.sqrt(1 - 0.55**2) * Y[:, second] + 0.55 * signs(rng, 1) * Y[:, first]
    Y[:, wide] *= 1.7
    Y[:, [one, two]] += 0.5 * signs(rng, 2)
    return Task(X, Y, (*singles(hit[:3]), together(hit[3:])), 5)


@kind(oracles.mixture(shifts=3, spreads=2))
def shifts_and_spreads(rng: Rng) -> Task:
    """Shift 3 of 70 columns correlated by 0.3 by 0.5, and narrow 2 others to 0.6."""
    X, Y = (
        np.sqrt(0.3) * rng.normal(size=(180, 1)) + np.sqrt(0.7) * values
        for values in normal(rng, 180, 70)
    )
    hit = some(rng, 70, 5)
    Y[:, hit[:3]] += 0.5 * signs(rng, 3)
    Y[:, hit[3:]] *= 0.6
    return Task(X, Y, singles(hit), 5)
