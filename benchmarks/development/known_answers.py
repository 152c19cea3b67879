# ruff: noqa: D103 - the name of a kind says what it is
"""Differences whose variables are known: what the choice by evidence was tuned on.

Each kind draws (X, Y, groups, d): a group is found where all its columns are chosen ("all") or any
of them ("any", copies of one source). `benchmarks/which_few` has other kinds, on which nothing was
tuned; benchmarks/bench_evidence.py measures the default choice on these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from development.kind import Rng, link, normal
from tellapart.arrays import FloatArray

Group = tuple[str, tuple[int, ...]]
Task = tuple[FloatArray, FloatArray, list[Group], int]

ANSWERED: dict[str, Callable[[Rng], Task]] = {}


def answered(draw: Callable[[Rng], Task]) -> Callable[[Rng], Task]:
    """Enter a kind under the name of its function."""
    ANSWERED[draw.__name__] = draw
    return draw


def score(groups: Iterable[Group], chosen: Iterable[int]) -> float:
    """Return the share of the groups that were found."""
    kept = {int(s) for s in chosen}
    found = [
        set(columns) <= kept if how == "all" else bool(set(columns) & kept)
        for how, columns in groups
    ]
    return float(np.mean(found))


def _places(rng: Rng, columns: int, count: int) -> list[int]:
    return rng.choice(columns, count, replace=False).tolist()


def _single(columns: Iterable[int]) -> list[Group]:
    return [("all", (s,)) for s in columns]


def _series(rng: Rng, rows: int, columns: int, memory: float) -> FloatArray:
    values = rng.normal(size=(rows, columns))
    for s in range(1, columns):
        values[:, s] = memory * values[:, s - 1] + np.sqrt(1 - memory**2) * values[:, s]
    return values


@answered
def shifts(rng: Rng) -> Task:
    X, Y = normal(rng, 150, 100)
    own = _places(rng, 100, 5)
    X[:, own] += 0.42 * rng.choice([-1, 1], 5)
    return X, Y, _single(own), 5


@answered
def spreads(rng: Rng) -> Task:
    X, Y = normal(rng, 150, 100)
    own = _places(rng, 100, 5)
    X[:, own] *= 1.45
    return X, Y, _single(own), 5


@answered
def shapes(rng: Rng) -> Task:
    rows = 150
    X, Y = normal(rng, rows, 100)
    own = _places(rng, 100, 5)
    X[:, own[0]] = rng.exponential(size=rows) - 1
    X[:, own[1]] = 0.9 * rng.choice([-1, 1], rows) + np.sqrt(0.19) * rng.normal(size=rows)
    X[:, own[2]] = rng.standard_t(3, size=rows) / np.sqrt(3)
    X[:, own[3]] = (rng.chisquare(4, size=rows) - 4) / np.sqrt(8)
    X[:, own[4]] = np.sqrt(3) * rng.uniform(-1, 1, size=rows)
    return X, Y, _single(own), 5


@answered
def shifts_in_series(rng: Rng) -> Task:
    X, Y = (_series(rng, 150, 100, 0.8) for _ in range(2))
    own = _places(rng, 100, 5)
    X[:, own] += 0.45
    return X, Y, _single(own), 5


@answered
def shifts_beside_factors(rng: Rng) -> Task:
    loadings = 0.8 * rng.normal(size=(2, 60))
    X, Y = (rng.normal(size=(150, 2)) @ loadings + rng.normal(size=(150, 60)) for _ in range(2))
    own = _places(rng, 60, 4)
    X[:, own] += 0.6 * rng.choice([-1, 1], 4)
    return X, Y, _single(own), 4


@answered
def pair(rng: Rng) -> Task:
    X, Y = normal(rng, 150, 60)
    s, t = _places(rng, 60, 2)
    link(X, s, t, 0.6)
    return X, Y, [("all", (s, t))], 2


@answered
def pair_of_four(rng: Rng) -> Task:
    X, Y = normal(rng, 150, 60)
    s, t = _places(rng, 60, 2)
    link(X, s, t, 0.7)
    return X, Y, [("all", (s, t))], 4


@answered
def triple(rng: Rng) -> Task:
    X, Y = normal(rng, 200, 30)
    s, t, r = _places(rng, 30, 3)
    X[:, r] = np.sign(X[:, s] * X[:, t]) * np.abs(X[:, r])
    return X, Y, [("all", (s, t, r))], 3


@answered
def ring(rng: Rng) -> Task:
    rows = 200
    X, Y = normal(rng, rows, 40)
    s, t = _places(rng, 40, 2)
    angle = rng.uniform(0, 2 * np.pi, rows)
    radius = np.sqrt(2) * (1 + 0.15 * rng.normal(size=rows))
    X[:, s], X[:, t] = radius * np.cos(angle), radius * np.sin(angle)
    for column in (s, t):
        other = np.sqrt(2) * (1 + 0.15 * rng.normal(size=rows))
        Y[:, column] = other * np.cos(rng.uniform(0, 2 * np.pi, rows))
    return X, Y, [("all", (s, t))], 2


@answered
def shifts_spread_and_pair(rng: Rng) -> Task:
    X, Y = normal(rng, 150, 80)
    own = _places(rng, 80, 5)
    X[:, own[:2]] += 0.5
    X[:, own[2]] *= 1.6
    link(X, own[3], own[4], 0.7)
    return X, Y, [*_single(own[:3]), ("all", (own[3], own[4]))], 5


@answered
def sources(rng: Rng) -> Task:
    rows = 150
    own = _places(rng, 60, 9)
    X, Y = normal(rng, rows, 60)
    common = rng.normal(size=(2, rows, 3))
    common[0] += [0.9, 0.65, 0.5]
    for values, source in zip((X, Y), common, strict=True):
        values[:, own] = np.repeat(source, 3, axis=1) + 0.35 * rng.normal(size=(rows, 9))
    return X, Y, [("any", tuple(own[3 * k : 3 * k + 3])) for k in range(3)], 3


@answered
def unequal_sizes(rng: Rng) -> Task:
    X, Y = rng.normal(size=(60, 80)), rng.normal(size=(400, 80))
    own = _places(rng, 80, 4)
    X[:, own[:2]] += 0.6
    X[:, own[2:]] *= 1.6
    return X, Y, _single(own), 4


@answered
def heavy_tails(rng: Rng) -> Task:
    X, Y = rng.standard_t(2, size=(2, 150, 60))
    own = _places(rng, 60, 4)
    X[:, own[:2]] += 0.6
    X[:, own[2:]] *= 1.7
    return X, Y, _single(own), 4


@answered
def zeros(rng: Rng) -> Task:
    X, Y = np.exp(normal(rng, 150, 60)) * (rng.random((2, 150, 60)) < 0.6)
    own = _places(rng, 60, 4)
    X[:, own[:2]] *= rng.random((150, 2)) < 0.7
    X[:, own[2:]] *= 2.2
    return X, Y, _single(own), 4


@answered
def wide(rng: Rng) -> Task:
    X, Y = normal(rng, 30, 500)
    own = _places(rng, 500, 5)
    X[:, own] += 1.2
    return X, Y, _single(own), 5


@answered
def strong_and_weak(rng: Rng) -> Task:
    X, Y = normal(rng, 200, 60)
    own = _places(rng, 60, 5)
    X[:, own] += [1.5, 0.8, 0.5, 0.4, 0.4]
    return X, Y, _single(own), 5


@answered
def outlying_rows(rng: Rng) -> Task:
    rows = 150
    X, Y = normal(rng, rows, 60)
    own = _places(rng, 60, 4)
    for column in own:
        X[rng.choice(rows, 9, replace=False), column] = 4 + rng.normal(size=9)
    return X, Y, _single(own), 4
