"""Columns of counts, flags and categories."""

from __future__ import annotations

import numpy as np
import pandas as pd

from which_few.kinds import oracles
from which_few.kinds.kind import Rng, Task, kind, normal, signs, singles, some
from which_few.table import FloatArray

LEVELS = np.array(["red", "green", "blue", "black"])


@kind(oracles.ranks)
def zero_inflated_counts(rng: Rng) -> Task:
    """Change the zeros of 2 of 70 overdispersed count columns, the level of 2 others."""
    rows, columns = 200, 70
    mean, zeros = rng.uniform(2, 12, size=columns), rng.uniform(0.2, 0.6, size=columns)
    emptied, raised = some(rng, columns, 4).reshape(2, 2)

    def counts(mean: FloatArray, zeros: FloatArray) -> FloatArray:
        rates = rng.gamma(2.0, mean / 2, size=(rows, columns))
        return np.where(rng.random((rows, columns)) < zeros, 0, rng.poisson(rates)).astype(float)

    X = counts(mean, zeros)
    zeros[emptied] = np.where(zeros[emptied] > 0.4, zeros[emptied] - 0.2, zeros[emptied] + 0.2)
    mean[raised] *= 2.0
    return Task(X, counts(mean, zeros), singles(np.array([*emptied, *raised])), 4)


@kind(oracles.ranks)
def flags(rng: Rng) -> Task:
    """Change the rates of 3 of 45 flags by a factor of 3 in odds, and shift 2 of 15 columns."""
    rows = 170
    odds = np.exp(rng.uniform(-2.0, 0.8, size=45))
    hit, moved = some(rng, 45, 3), 45 + some(rng, 15, 2)
    X, Y = normal(rng, rows, 60)
    X[:, :45] = rng.random((rows, 45)) < odds / (1 + odds)
    odds[hit] *= 3.0 ** np.where(odds[hit] > 0.5, signs(rng, 3), 1.0)
    Y[:, :45] = rng.random((rows, 45)) < odds / (1 + odds)
    Y[:, moved] += 0.45 * signs(rng, 2)
    order = rng.permutation(60)
    found = np.flatnonzero(np.isin(order, [*hit, *moved]))
    return Task(X[:, order], Y[:, order], singles(found), 5)


@kind(oracles.location)
def categories(rng: Rng) -> Task:
    """Change the shares of 2 of 15 columns of categories, and shift 2 of 35 of numbers."""
    rows = 200
    shares = rng.dirichlet(np.full(4, 6.0), size=15)
    hit, moved = some(rng, 15, 2), 15 + some(rng, 35, 2)
    X, Y = normal(rng, rows, 35)
    Y[:, moved - 15] += 0.42 * signs(rng, 2)
    order = rng.permutation(50)
    names = [f"v{j}" for j in range(50)]

    def frame(numbers: FloatArray) -> pd.DataFrame:
        columns = [LEVELS[rng.choice(4, size=rows, p=share)] for share in shares] + [*numbers.T]
        return pd.DataFrame(dict(zip(names, (columns[k] for k in order), strict=True)))

    before = frame(X)
    for column in hit:
        # A sixth of all rows leaves the largest share for the smallest.
        large, small = shares[column].argmax(), shares[column].argmin()
        shares[column, [large, small]] += [-0.18, 0.18]
    found = np.flatnonzero(np.isin(order, [*hit, *moved]))
    return Task(before, frame(Y), singles(found), 4)
