"""One to five columns that differ in places: waves, gaps, bumps, holes and turned shapes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from arena.table import FloatArray, Pair

ROWS = 400
Propose = Callable[[int], FloatArray]
Chance = Callable[[FloatArray], FloatArray]


def kept(rng: np.random.Generator, propose: Propose, chance: Chance) -> FloatArray:
    """Return ROWS of the rows that are proposed, each kept with its chance."""
    found = [propose(0)]
    while sum(map(len, found)) < ROWS:
        values = propose(2 * ROWS)
        found.append(values[rng.random(len(values)) < chance(values)])
    return np.concatenate(found)[:ROWS]


def wave(rng: np.random.Generator) -> Pair:
    """Lay five waves on the density of 1 uniform column."""
    Y = kept(
        rng,
        lambda rows: rng.random((rows, 1)),
        lambda rows: (1 + 0.5 * np.sin(10 * np.pi * rows[:, 0])) / 1.5,
    )
    return rng.random((ROWS, 1)), Y


def gap(rng: np.random.Generator) -> Pair:
    """Leave out an interval of 1 uniform column, a twelfth of its range."""
    Y = kept(
        rng,
        lambda rows: rng.random((rows, 1)),
        lambda rows: (np.abs(rows[:, 0] - 0.62) > 0.042).astype(float),
    )
    return rng.random((ROWS, 1)), Y


def bump(rng: np.random.Generator) -> Pair:
    """Gather 9 % of the values of 1 exponential column around one place."""
    X, Y = rng.exponential(size=(2, ROWS, 1))
    few = rng.random(ROWS) < 0.09
    Y[few, 0] = 1.1 + 0.04 * rng.normal(size=few.sum())
    return X, Y


def heaped(rng: np.random.Generator) -> Pair:
    """Round three of five values of 1 of 2 columns to fives, the others to whole numbers."""
    X, Y = np.round(60 + 15 * rng.normal(size=(2, ROWS, 2)))
    some = rng.random(ROWS) < 0.6
    Y[some, 0] = 5 * np.round(Y[some, 0] / 5)
    return X, Y


def close_modes(rng: np.random.Generator) -> Pair:
    """Break the smooth density of 1 column into six close modes, at the same spread."""
    X = rng.normal(size=(ROWS, 1))
    smooth = rng.normal(size=(ROWS, 1))
    step = 0.8
    drawn = rng.normal(size=(ROWS, 1))
    Y = np.where(
        rng.random((ROWS, 1)) < 0.6, step * np.round(smooth / step) + 0.2 * step * drawn, smooth
    )
    return X, Y


def arm(rng: np.random.Generator, turn: float) -> FloatArray:
    """Return rows along a spiral of 2 columns."""
    along = np.sqrt(rng.uniform(0.05, 1, size=ROWS))
    angle = 4 * np.pi * along + turn
    centres = along[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(centres + 0.05 * rng.normal(size=(ROWS, 2)))


def spiral(rng: np.random.Generator) -> Pair:
    """Turn a spiral of 2 columns a little."""
    return arm(rng, 0.0), arm(rng, 0.4)


def checkerboard(rng: np.random.Generator) -> Pair:
    """Make 8 fields of a board of 16 in 2 columns more frequent than the others."""
    return rng.random((ROWS, 2)), board(rng, 4, 0.5)


def board(rng: np.random.Generator, fields: int, contrast: float) -> FloatArray:
    """Return rows of a square of 2 columns, more frequent in every other field of a board."""

    def chance(rows: FloatArray) -> FloatArray:
        dark = np.floor(fields * rows).sum(axis=1) % 2
        return (1 + contrast * (2 * dark - 1)) / (1 + contrast)

    return kept(rng, lambda rows: rng.random((rows, 2)), chance)


def turned_ellipses(rng: np.random.Generator, long: float, turned: bool) -> FloatArray:
    """Return rows of seven clusters around a ring, long outwards or, turned, around it."""
    place = 2 * np.pi * rng.integers(0, 7, size=ROWS) / 7
    outward, around = rng.normal(size=(2, ROWS)) * np.array([[long], [0.2]])
    if turned:
        outward, around = around, outward
    centres = 2 * np.column_stack([np.cos(place), np.sin(place)])
    offsets = np.column_stack(
        [
            outward * np.cos(place) - around * np.sin(place),
            outward * np.sin(place) + around * np.cos(place),
        ]
    )
    return np.asarray(centres + offsets)


def ellipses(rng: np.random.Generator) -> Pair:
    """Turn each of seven clusters in 2 columns about its own centre."""
    return turned_ellipses(rng, 0.3, False), turned_ellipses(rng, 0.3, True)


def _crescent(rng: np.random.Generator, thick: float) -> FloatArray:
    angle = np.pi * rng.random(ROWS)
    radius = 1 + thick * rng.normal(size=ROWS)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def crescent(rng: np.random.Generator) -> Pair:
    """Make a crescent in 2 columns thinner."""
    return _crescent(rng, 0.14), _crescent(rng, 0.09)


def halo(rng: np.random.Generator) -> Pair:
    """Move 18 % of the rows of 2 normal columns to a thin ring around a place off the middle."""
    X, Y = rng.normal(size=(2, ROWS, 2))
    some = rng.random(ROWS) < 0.18
    angle = rng.uniform(0, 2 * np.pi, size=some.sum())
    radius = 0.8 + 0.03 * rng.normal(size=some.sum())
    Y[some] = np.column_stack([radius * np.cos(angle) - 0.5, radius * np.sin(angle) + 0.5])
    return X, Y


def _ball(rng: np.random.Generator, rows: int) -> FloatArray:
    directions = rng.normal(size=(rows, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return np.asarray(directions * rng.random((rows, 1)) ** (1 / 3))


def layered(rng: np.random.Generator, depth: float) -> FloatArray:
    """Return rows of a ball of 3 columns, rarer and more frequent by layers."""

    def chance(values: FloatArray) -> FloatArray:
        wave = np.cos(3 * np.pi * np.linalg.norm(values, axis=1))
        return np.asarray((1 + depth * wave) / (1 + abs(depth)))

    return kept(rng, lambda count: _ball(rng, count), chance)


def shells(rng: np.random.Generator) -> Pair:
    """Make shells of a ball of 3 columns denser than the layers between them."""
    return layered(rng, 0.0), layered(rng, 0.85)


def hole(rng: np.random.Generator) -> Pair:
    """Leave out a box inside the cube of 4 uniform columns."""
    Y = kept(
        rng,
        lambda rows: rng.random((rows, 4)),
        lambda rows: (np.max(np.abs(rows - 0.55), axis=1) > 0.31).astype(float),
    )
    return rng.random((ROWS, 4)), Y


def filament(rng: np.random.Generator) -> Pair:
    """Move 6 % of the rows of 5 normal columns onto a bent line."""
    X, Y = rng.normal(size=(2, ROWS, 5))
    some = rng.random(ROWS) < 0.06
    along = rng.uniform(-1, 1, size=(some.sum(), 1))
    centres = np.hstack([along, along**2 - 0.3, np.sin(3 * along), 0.5 - along, 0 * along])
    Y[some] = centres + 0.12 * rng.normal(size=(some.sum(), 5))
    return X, Y


def banded(rng: np.random.Generator, contrast: float) -> pd.DataFrame:
    """Return rows with a category and a number, rarer outside the category's own strips."""

    def chance(rows: FloatArray) -> FloatArray:
        level = np.floor(3 * rows[:, 0])
        strip = np.floor(6 * rows[:, 1])
        dense = (strip + level) % 3 == 0
        return np.where(dense, 1.0, 1 - contrast)

    rows = kept(rng, lambda count: rng.random((count, 2)), chance)
    levels = np.array(["low", "middle", "high"])[np.floor(3 * rows[:, 0]).astype(int)]
    return pd.DataFrame({"level": levels, "score": np.round(10 * rows[:, 1], 1)})


def strips(rng: np.random.Generator) -> Pair:
    """Make strips of 1 column of numbers denser, others at each of 3 levels of a category."""
    return banded(rng, 0.0), banded(rng, 0.5)


KINDS = (
    wave,
    gap,
    bump,
    heaped,
    close_modes,
    spiral,
    checkerboard,
    ellipses,
    crescent,
    halo,
    shells,
    hole,
    filament,
    strips,
)
