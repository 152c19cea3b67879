"""A kind of difference with its answer: a function that draws a task, under its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from which_few.kinds.oracles import Oracle
from which_few.table import FloatArray, IntArray, Table

Rng = np.random.Generator


@dataclass(frozen=True)
class Group:
    """Columns that differ together: found if at least `enough` of them are chosen."""

    columns: tuple[int, ...]
    enough: int

    def found(self, chosen: Iterable[int]) -> bool:
        """Return whether a choice finds the group."""
        return len(set(self.columns) & set(chosen)) >= self.enough


@dataclass(frozen=True)
class Task:
    """Two samples, the groups of columns that differ, and how many columns may be chosen."""

    X: Table
    Y: Table
    groups: tuple[Group, ...]
    d: int

    def score(self, chosen: Iterable[int]) -> float:
        """Return the share of the groups that a choice finds."""
        picked = [int(column) for column in chosen]
        if len(set(picked)) != len(picked) or len(picked) > self.d:
            raise ValueError(f"at most {self.d} different columns may be chosen; got {picked}")
        return sum(group.found(picked) for group in self.groups) / len(self.groups)


Draw: TypeAlias = Callable[[Rng], Task]


@dataclass(frozen=True)
class Kind:
    """A function that draws tasks, and the selector that is told what to look for."""

    draw: Draw
    oracle: Oracle

    @property
    def what(self) -> str:
        """What the function does, in its own words."""
        return (self.draw.__doc__ or "").splitlines()[0]


KINDS: dict[str, Kind] = {}


def kind(oracle: Oracle) -> Callable[[Draw], Draw]:
    """Enter a kind under the name of its function, with the oracle that knows the kind."""

    def enter(draw: Draw) -> Draw:
        KINDS[draw.__name__] = Kind(draw, oracle)
        return draw

    return enter


def singles(columns: IntArray) -> tuple[Group, ...]:
    """Return one group for each column."""
    return tuple(Group((int(column),), 1) for column in columns)


def together(columns: IntArray) -> Group:
    """Return a group that is found if all its columns are chosen."""
    return Group(tuple(int(column) for column in columns), len(columns))


def any_of(columns: IntArray) -> Group:
    """Return a group that is found if one of its columns is chosen."""
    return Group(tuple(int(column) for column in columns), 1)


def some(rng: Rng, columns: int, count: int) -> IntArray:
    """Return so many different positions, in random order."""
    return rng.permutation(columns)[:count]


def normal(rng: Rng, rows: int, columns: int) -> tuple[FloatArray, FloatArray]:
    """Return two samples of independent standard normal columns."""
    return rng.normal(size=(rows, columns)), rng.normal(size=(rows, columns))


def signs(rng: Rng, count: int) -> FloatArray:
    """Return so many fair signs."""
    return rng.choice([-1.0, 1.0], size=count)


def either(rng: Rng, pair: Sequence[FloatArray]) -> FloatArray:
    """Return one of two samples at random: the one to be changed, in place."""
    return pair[int(rng.integers(2))]
