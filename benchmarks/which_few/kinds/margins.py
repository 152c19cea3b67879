"""Columns that differ by themselves, but not in their mean: spread, shape, tails."""

from __future__ import annotations

import numpy as np

from which_few.kinds import oracles
from which_few.kinds.kind import Rng, Task, either, kind, normal, signs, singles, some


@kind(oracles.spread)
def spreads(rng: Rng) -> Task:
    """Widen or narrow 4 of 80 columns by a factor of 1.5."""
    X, Y = normal(rng, 200, 80)
    hit = some(rng, 80, 4)
    Y[:, hit] *= 1.5 ** signs(rng, 4)
    return Task(X, Y, singles(hit), 4)


@kind(oracles.shape)
def shapes(rng: Rng) -> Task:
    """Make 3 of 60 columns skewed, bimodal and heavy-tailed, with the same mean and variance."""
    rows = 250
    pair = normal(rng, rows, 60)
    hit = some(rng, 60, 3)
    skewed = (rng.gamma(1.2, size=rows) - 1.2) / np.sqrt(1.2)
    bimodal = 0.92 * signs(rng, rows) + np.sqrt(1 - 0.92**2) * rng.normal(size=rows)
    tailed = rng.standard_t(2.2, size=rows)
    tailed *= np.sqrt(1 / 11)  # 2.2/0.2 is the variance of t with 2.2 degrees of freedom
    for column, values in zip(hit, (skewed, bimodal, tailed), strict=True):
        either(rng, pair)[:, column] = values
    return Task(*pair, singles(hit), 3)


@kind(oracles.tail)
def contaminated(rng: Rng) -> Task:
    """Replace an eighth of the rows of 3 of 60 columns by values around 3, each its own rows."""
    X, Y = normal(rng, 200, 60)
    hit = some(rng, 60, 3)
    for column, side in zip(hit, signs(rng, 3), strict=True):
        rows = rng.random(200) < 0.12
        Y[rows, column] = side * rng.normal(3.2, 0.4, size=rows.sum())
    return Task(X, Y, singles(hit), 3)


@kind(oracles.ranks)
def heavy_tails(rng: Rng) -> Task:
    """Shift 2 of 30 columns of Student's t with 2 degrees, scale 2 of 30 lognormal ones."""
    rows = 150
    X, Y = (
        np.column_stack([rng.standard_t(2, size=(rows, 30)), rng.lognormal(0, 1.2, (rows, 30))])
        for _ in range(2)
    )
    shifted, scaled = some(rng, 30, 2), 30 + some(rng, 30, 2)
    Y[:, shifted] += 0.7 * signs(rng, 2)
    Y[:, scaled] *= np.exp(0.6 * signs(rng, 2))
    order = rng.permutation(60)
    hit = np.flatnonzero(np.isin(order, [*shifted, *scaled]))
    return Task(X[:, order], Y[:, order], singles(hit), 4)
