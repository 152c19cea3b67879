"""Columns that differ only together: every single one has the same distribution in both."""

from __future__ import annotations

import numpy as np

from which_few.kinds import oracles
from which_few.kinds.kind import Rng, Task, kind, normal, signs, singles, some, together
from which_few.table import FloatArray


def apart(rng: Rng, values: FloatArray) -> FloatArray:
    """Return columns with the rows of each shuffled: the same margins, and no dependence."""
    return np.asarray(rng.permuted(values, axis=0))


@kind(oracles.correlation)
def pair(rng: Rng) -> Task:
    """Correlate 2 of 80 columns by 0.45 or −0.45 instead of 0."""
    X, Y = normal(rng, 200, 80)
    first, second = hit = some(rng, 80, 2)
    Y[:, second] = np.sqrt(1 - 0.45**2) * Y[:, second] + 0.45 * signs(rng, 1) * Y[:, first]
    return Task(X, Y, (together(hit),), 2)


@kind(oracles.correlation)
def two_pairs(rng: Rng) -> Task:
    """Turn the correlation of 2 pairs of 50 lognormal columns from −0.35 to 0.35."""
    X, Y = normal(rng, 200, 50)
    hit = some(rng, 50, 4).reshape(2, 2)
    for first, second in hit:
        for values, link in ((X, -0.35), (Y, 0.35)):
            values[:, second] = np.sqrt(1 - link**2) * values[:, second] + link * values[:, first]
    return Task(np.exp(0.5 * X), np.exp(0.5 * Y), tuple(together(two) for two in hit), 4)


@kind(oracles.triple)
def sign_triple(rng: Rng) -> Task:
    """Make the product of 3 of 35 columns positive nine times of ten."""
    X, Y = normal(rng, 280, 35)
    one, two, three = hit = some(rng, 35, 3)
    side = np.where(rng.random(280) < 0.9, 1.0, -1.0)
    Y[:, three] = np.abs(Y[:, three]) * np.sign(Y[:, one] * Y[:, two]) * side
    return Task(X, Y, (together(hit),), 3)


@kind(oracles.sizes)
def ring(rng: Rng) -> Task:
    """Lay 2 of 40 columns around an uneven circle, with the same margins."""
    X, Y = normal(rng, 200, 40)
    hit = some(rng, 40, 2)
    for values in (X, Y):
        angle, radius = rng.uniform(0, 2 * np.pi, size=200), rng.uniform(1.15, 1.65, size=200)
        circle = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        values[:, hit] = circle + 0.2 * rng.normal(size=(200, 2))
    X[:, hit] = apart(rng, X[:, hit])
    return Task(X, Y, (together(hit),), 2)


@kind(oracles.sizes)
def common_scale(rng: Rng) -> Task:
    """Let 2 of 50 columns be large in the same rows instead of each in its own."""
    X, Y = normal(rng, 220, 50)
    hit = some(rng, 50, 2)
    for values in (X, Y):
        scale = np.exp(rng.normal(0, 0.85, size=(220, 1)))
        values[:, hit] = scale * values[:, hit] / np.exp(0.85**2)
    X[:, hit] = apart(rng, X[:, hit])
    return Task(X, Y, (together(hit),), 2)


@kind(oracles.links)
def unhooked(rng: Rng) -> Task:
    """Take 2 of 60 columns out of the common factor that half of the columns share."""
    X, Y = normal(rng, 180, 60)
    order = rng.permutation(60)
    block, hit = order[:30], order[:2]
    for values, linked in ((X, block), (Y, block[2:])):
        factor = rng.normal(size=(180, 1))
        values[:, linked] = np.sqrt(0.35) * factor + np.sqrt(0.65) * values[:, linked]
    return Task(X, Y, singles(hit), 2)
