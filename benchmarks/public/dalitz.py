"""Dalitz plots: uniform rows inside a kinematic border, and some of Y along stripes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from public.copulas import Rng
from tellapart.arrays import BoolArray, FloatArray

GRID = 3000


@dataclass(frozen=True)
class Decay:
    """A decay into three particles: its mass, theirs, and the margin around its plot."""

    mass: float
    first: float
    second: float
    third: float
    margin: float

    def limits(self, squared: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and highest value of the second column at values of the first."""
        with np.errstate(invalid="ignore"):
            root = np.sqrt(squared)
            inner = (squared - self.first**2 + self.second**2) / (2 * root)
            outer = (self.mass**2 - squared - self.third**2 + self.second**2) / (2 * root)
            one = np.sqrt(inner**2 - self.second**2)
            two = np.sqrt(outer**2 - self.third**2)
        whole = (inner + outer) ** 2
        return whole - (one + two) ** 2, whole - (one - two) ** 2

    def inside(self, rows: FloatArray) -> BoolArray:
        """Return which rows lie inside the border."""
        low, high = self.limits(rows[:, 0])
        return np.asarray((rows[:, 1] > low) & (rows[:, 1] < high))

    def box(self) -> FloatArray:
        """Return the ranges of the two columns, with the margin around them."""
        ranges = np.array(
            [
                [(self.first + self.second) ** 2, (self.mass - self.third) ** 2],
                [(self.second + self.third) ** 2, (self.mass - self.first) ** 2],
            ]
        )
        return ranges + self.margin * np.array([-1, 1])

    def border(self) -> FloatArray:
        """Return the border: values of the first column, and the limits of the second there."""
        grid = np.linspace(*self.box()[0], GRID)
        found = np.column_stack([grid, *self.limits(grid)])
        return found[np.isfinite(found).all(axis=1)]


DECAYS = {
    "Cleo": Decay(1.97, 0.4937, 0.4937, 0.1396, 0.3),
    "PDG": Decay(3.0, 0.1396, 0.4976, 0.938, 0.2),
    "Babar": Decay(3.0, 0.3099, 0.3101, 0.3094, 0.2),
}


def _uniform(rng: Rng, decay: Decay, count: int) -> FloatArray:
    found = np.empty((0, 2))
    low, high = decay.box().T
    while len(found) < count:
        rows = rng.uniform(low, high, size=(4 * count, 2))
        found = np.concatenate([found, rows[decay.inside(rows)]])
    return found[:count]


def _squeezed(rng: Rng, first: FloatArray, ends: FloatArray, squeeze: FloatArray) -> FloatArray:
    """Return rows with the second column uniform between ends that come closer."""
    step = squeeze * (ends[1] - ends[0])
    return np.column_stack([first, rng.uniform(ends[0] + step, ends[1] - step)])


def _stripe(rng: Rng, decay: Decay, stripe: str, count: int) -> FloatArray:
    """Return rows along a stripe of the plot, those outside the border left out."""
    border = decay.border()
    across, low = border[:, 0], border[:, 1]

    def at(share: float) -> int:
        return int(share * len(border)) - 1

    if stripe == "left":
        first = rng.uniform(across[0], across[99], size=count)
        lowest, highest = decay.limits(first)
        return np.column_stack([first, lowest + rng.beta(0.1, 0.1, count) * (highest - lowest)])
    if stripe == "bottom":
        # In order, so that the rows that are taken are those furthest to the left.
        first = np.sort(rng.uniform(across[0], across[at(0.5)], size=count))
        squeeze = (first - first.min()) / np.ptp(first) / 2.3
        rows = _squeezed(rng, first, low[[at(0.6), at(0.1)]], squeeze)
    elif stripe == "right":
        waiting = -np.log1p(-rng.random(count) * -np.expm1(-3.0)) / 3  # exponential, below 1
        first = across[at(0.6)] + (across[-1] - across[at(0.6)]) * (1 - waiting)
        squeeze = (first - first.min()) / np.ptp(first) / 2.5
        rows = _squeezed(rng, first, low[[at(0.3), at(0.1)]], squeeze.max() - squeeze)
    else:
        first = rng.uniform(across[0], across[-1], size=count)
        highest, lowest = border[:, 1:].max(), border[:, 1:].min()
        line = highest - (highest - lowest) * (first - across[0]) / np.ptp(across)
        rows = np.column_stack([first, line + rng.uniform(-0.05, 0.05, size=count)])
    return rows[decay.inside(rows)]


def dalitz_pair(
    rng: Rng, decay: str, stripes: Sequence[str], added: int, rows: int
) -> tuple[FloatArray, FloatArray]:
    """Return uniform rows of a plot, and others of which some lie along stripes.

    Twice as many rows are made as are asked for, `added` of those of Y along each of the stripes;
    then as many as are asked for are drawn from them.
    """
    plot = DECAYS[decay]
    along = [_stripe(rng, plot, name, max(3 * added, 2 * rows))[:added] for name in stripes]
    whole = _uniform(rng, plot, rows + 2 * rows - added * len(stripes))
    Y = rng.permutation(np.concatenate([whole[rows:], *along]))
    return whole[:rows], Y[:rows]
