"""Columns whose mean differs: alone, among correlated ones, in units of every size."""

from __future__ import annotations

import numpy as np

from which_few.kinds import oracles
from which_few.kinds.kind import Rng, Task, any_of, either, kind, normal, signs, singles, some
from which_few.table import FloatArray


def _shift(rng: Rng, pair: tuple[FloatArray, FloatArray], sizes: FloatArray) -> Task:
    """Shift as many columns as there are sizes, each up or down in either sample."""
    hit = some(rng, pair[0].shape[1], len(sizes))
    either(rng, pair)[:, hit] += sizes * signs(rng, len(sizes))
    return Task(*pair, singles(hit), len(hit))


@kind(oracles.location)
def few_shifts(rng: Rng) -> Task:
    """Shift 5 of 100 independent columns by 0.4 to 0.55."""
    return _shift(rng, normal(rng, 140, 100), rng.uniform(0.4, 0.55, size=5))


@kind(oracles.location)
def strong_and_weak(rng: Rng) -> Task:
    """Shift 2 of 90 columns by 1.3 and 4 by 0.4."""
    return _shift(rng, normal(rng, 180, 90), np.array([1.3, 1.3, 0.4, 0.4, 0.4, 0.4]))


@kind(oracles.location)
def unequal_sizes(rng: Rng) -> Task:
    """Shift 4 of 80 columns by 0.55, 60 rows against 400."""
    pair = rng.normal(size=(60, 80)), rng.normal(size=(400, 80))
    return _shift(rng, pair, np.full(4, 0.55))


@kind(oracles.location)
def wide(rng: Rng) -> Task:
    """Shift 6 of 500 columns by 1.3, 30 rows against 30."""
    return _shift(rng, normal(rng, 30, 500), np.full(6, 1.3))


@kind(oracles.location)
def series(rng: Rng) -> Task:
    """Shift 5 of 90 columns by 0.45, neighbours correlated by 0.75."""
    pair = normal(rng, 160, 90)
    for values in pair:
        for j in range(1, values.shape[1]):
            values[:, j] = 0.75 * values[:, j - 1] + np.sqrt(1 - 0.75**2) * values[:, j]
    return _shift(rng, pair, np.full(5, 0.45))


@kind(oracles.location)
def factors(rng: Rng) -> Task:
    """Shift 5 of 80 columns by 0.45 where four factors carry two thirds of the variance."""
    loads = rng.normal(size=(4, 80))
    loads *= np.sqrt(2 / 3) / np.linalg.norm(loads, axis=0)
    noise = normal(rng, 150, 80)
    X, Y = (rng.normal(size=(150, 4)) @ loads + np.sqrt(1 / 3) * part for part in noise)
    return _shift(rng, (X, Y), np.full(5, 0.45))


@kind(oracles.precision)
def sources(rng: Rng) -> Task:
    """Shift 3 sources, each seen as three noisy copies among 60 columns; one copy is enough."""
    hit = some(rng, 60, 9).reshape(3, 3)
    X, Y = normal(rng, 150, 60)
    shifts = np.array([0.95, 0.75, 0.6]) * signs(rng, 3)
    for values, moved in ((X, 0.0), (Y, 1.0)):
        source = rng.normal(size=(150, 3)) + moved * shifts
        for copies, column in zip(hit, source.T, strict=True):
            values[:, copies] = column[:, None] + 0.45 * values[:, copies]
    return Task(X, Y, tuple(any_of(copies) for copies in hit), 3)


@kind(oracles.ranks)
def units(rng: Rng) -> Task:
    """Shift 4 of 70 columns by 0.5 before each is bent and measured in a unit of its own."""
    X, Y = normal(rng, 150, 70)
    task = _shift(rng, (X, Y), np.full(4, 0.5))
    scale, bend = 10 ** rng.uniform(-3, 3, size=70), rng.uniform(0, 0.9, size=70)
    X, Y = (scale * np.expm1(bend * values) for values in (X, Y))
    return Task(X, Y, task.groups, task.d)
