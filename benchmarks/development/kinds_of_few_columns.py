# ruff: noqa: D103, D401 - the name of a kind says what it is, or its docstring what Y is
"""Local differences: in tables of one to five columns, and in two or three of many.

One line draws a pair, the same on every machine:

    X, Y = few_columns.draw("petals", 7)

after ``import development.kinds_of_few_columns as few_columns``; `FEW` and `AMONG` hold the names.
They are not entered among the other development kinds, which have many columns.
"""

from __future__ import annotations

from collections.abc import Callable
from zlib import crc32

import numpy as np
import pandas as pd

from development.kind import Draw, Pair, Rng
from tellapart.arrays import FloatArray

ROWS = 400


def draw(kind: str, pair: int) -> Pair:
    """Return the pair of that number of a kind in `FEW` or `AMONG`."""
    rng = np.random.default_rng([crc32(kind.encode()), pair])
    return (FEW | AMONG)[kind](rng)


def kept(
    rng: Rng, propose: Callable[[int], FloatArray], chance: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Return ROWS of the proposed rows, each kept with its chance."""
    found = [np.empty((0, propose(1).shape[1]))]
    while sum(map(len, found)) < ROWS:
        rows = propose(2 * ROWS)
        found.append(rows[rng.random(len(rows)) < chance(rows)])
    return np.concatenate(found)[:ROWS]


def cube(rng: Rng, columns: int) -> Callable[[int], FloatArray]:
    return lambda rows: rng.random((rows, columns))


def gauss(rng: Rng, columns: int) -> Callable[[int], FloatArray]:
    return lambda rows: rng.normal(size=(rows, columns))


def everywhere(rows: FloatArray) -> FloatArray:
    return np.ones(len(rows))


# One column


def sawtooth(rng: Rng) -> Pair:
    def chance(rows: FloatArray) -> FloatArray:
        return 0.5 + 0.6 * (4 * rows[:, 0] % 1 - 0.5)

    return kept(rng, cube(rng, 1), everywhere), kept(rng, cube(rng, 1), chance)


def notch(rng: Rng) -> Pair:
    """A normal column in Y of which hardly a value lies between 0.4 and 0.65."""

    def chance(rows: FloatArray) -> FloatArray:
        return np.where(np.abs(rows[:, 0] - 0.525) < 0.125, 0.1, 1.0)

    return kept(rng, gauss(rng, 1), everywhere), kept(rng, gauss(rng, 1), chance)


def spike(rng: Rng) -> Pair:
    """A lognormal column; 6 in 100 values of Y are close to 1.8."""
    X, Y = np.exp(0.7 * rng.normal(size=(2, ROWS, 1)))
    few = rng.random(ROWS) < 0.06
    Y[few, 0] = 1.8 + 0.02 * rng.normal(size=few.sum())
    return X, Y


def coarse(rng: Rng) -> Pair:
    """A logistic column with one digit; 18 in 100 values of Y have none."""
    X, Y = np.round(rng.logistic(size=(2, ROWS, 1)) * 2, 1)
    some = rng.random(ROWS) < 0.18
    Y[some] = np.round(Y[some])
    return X, Y


# Two columns


def slanted(rng: Rng) -> Pair:
    """A wave in the density across the diagonal of a square."""

    def chance(rows: FloatArray) -> FloatArray:
        return 0.5 + 0.42 * np.cos(2 * np.pi * 4 * (rows[:, 0] - rows[:, 1]))

    return kept(rng, cube(rng, 2), everywhere), kept(rng, cube(rng, 2), chance)


def petals(rng: Rng, turned: float = 0.1) -> Pair:
    """A flower of five petals, turned."""
    pair = []
    for turn in (0.0, turned):
        angle = rng.uniform(0, 2 * np.pi, size=ROWS)
        radius = 1 + 0.5 * np.cos(5 * (angle + turn)) + 0.2 * rng.normal(size=ROWS)
        pair.append(np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]))
    return pair[0], pair[1]


def moat(rng: Rng) -> Pair:
    """Two normal columns; around a point off the middle rows of Y are rarer."""

    def chance(rows: FloatArray) -> FloatArray:
        far = np.hypot(rows[:, 0] - 0.6, rows[:, 1] + 0.4)
        return np.where(np.abs(far - 0.55) < 0.18, 0.15, 1.0)

    return kept(rng, gauss(rng, 2), everywhere), kept(rng, gauss(rng, 2), chance)


def swapped_clusters(rng: Rng, wide: float = 0.37) -> Pair:
    """Eight small clusters on a line of unequal height: X has narrow ones where Y has wide ones."""
    pair = []
    for odd in (0, 1):
        which = rng.integers(0, 8, size=ROWS)
        spread = np.where(which % 2 == odd, 0.28, wide)[:, None]
        centres = np.column_stack([2.2 * which, 5 * (which * 3 % 8)])
        pair.append(centres + spread * rng.normal(size=(ROWS, 2)))
    return pair[0], pair[1]


# Three to five columns


def helix(rng: Rng, turned: float = 0.8) -> Pair:
    """Three columns along a screw of two turns, turned."""
    pair = []
    for turn in (0.0, turned):
        height = rng.random(ROWS)
        angle = 4 * np.pi * height + turn
        centres = np.column_stack([np.cos(angle), np.sin(angle), 2 * height])
        pair.append(centres + 0.25 * rng.normal(size=(ROWS, 3)))
    return pair[0], pair[1]


def clump(rng: Rng) -> Pair:
    """Four normal columns; 4 in 100 rows of Y lie close together."""
    X, Y = rng.normal(size=(2, ROWS, 4))
    few = rng.random(ROWS) < 0.04
    Y[few] = np.array([0.7, -0.5, 0.4, 0.9]) + 0.15 * rng.normal(size=(few.sum(), 4))
    return X, Y


def thread(rng: Rng) -> Pair:
    """Five uniform columns; some rows of Y lie along a broken line."""
    X, Y = rng.random((2, ROWS, 5))
    few = rng.random(ROWS) < 0.055
    along = rng.random((few.sum(), 1))
    ends = np.array([[0.1, 0.8, 0.3, 0.5, 0.2], [0.9, 0.3, 0.8, 0.4, 0.7]])
    Y[few] = ends[0] + along * (ends[1] - ends[0]) + 0.04 * rng.normal(size=(few.sum(), 5))
    return X, Y


def notch_by_level(rng: Rng) -> Pair:
    """A column of categories and two of numbers: each level has its own empty strip in Y."""
    pair = []
    for low in (1.0, 0.05):

        def chance(rows: FloatArray, low: float = low) -> FloatArray:
            place = 0.2 + 0.2 * np.floor(4 * rows[:, 0])
            return np.where(np.abs(rows[:, 1] - place) < 0.1, low, 1.0)

        rows = kept(rng, cube(rng, 3), chance)
        levels = np.array(["north", "east", "south", "west"])[(4 * rows[:, 0]).astype(int)]
        pair.append(pd.DataFrame({"site": levels, "depth": rows[:, 1], "age": rows[:, 2]}))
    return pair[0], pair[1]


# Two or three of many


def among(rng: Rng, pair: Pair, columns: int) -> Pair:
    """Return the columns of a pair, standardised, at random places among normal ones."""
    pooled = np.concatenate(pair)
    pooled = (pooled - pooled.mean(axis=0)) / pooled.std(axis=0)
    values = rng.normal(size=(2 * ROWS, columns))
    values[:, rng.permutation(columns)[: pooled.shape[1]]] = pooled
    return values[:ROWS], values[ROWS:]


def petals_among(rng: Rng) -> Pair:
    return among(rng, petals(rng, 0.25), 30)


def slanted_among(rng: Rng) -> Pair:
    def chance(rows: FloatArray) -> FloatArray:
        return 0.5 + 0.5 * np.cos(2 * np.pi * 2 * (rows[:, 0] - rows[:, 1]))

    pair = kept(rng, cube(rng, 2), everywhere), kept(rng, cube(rng, 2), chance)
    return among(rng, pair, 25)


def clusters_among(rng: Rng) -> Pair:
    return among(rng, swapped_clusters(rng, 0.6), 40)


def helix_among(rng: Rng) -> Pair:
    return among(rng, helix(rng, 1.4), 20)


def _named(*draws: Draw) -> dict[str, Draw]:
    return {draw.__name__: draw for draw in draws}


FEW = _named(
    sawtooth,
    notch,
    spike,
    coarse,
    slanted,
    petals,
    moat,
    swapped_clusters,
    helix,
    clump,
    thread,
    notch_by_level,
)
AMONG = _named(petals_among, slanted_among, clusters_among, helix_among)
