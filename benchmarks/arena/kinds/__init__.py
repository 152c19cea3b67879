"""The kinds of difference by name, and the pairs they draw."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from arena.kinds import (
    categories,
    dependence,
    few,
    margins,
    means,
    nulls,
    real,
    sizes,
    subsets,
)
from arena.table import Kind, Pair

__all__ = ["GROUPS", "KINDS", "available", "draw_pair", "method_seed"]

_ROOMS = {
    "many columns": (means, margins, dependence, categories, sizes, real),
    "few columns": (few,),
    "few of many": (subsets,),
    "nulls": (nulls,),
}
GROUPS: dict[str, list[str]] = {
    group: [draw.__name__ for room in rooms for draw in room.KINDS]
    for group, rooms in _ROOMS.items()
}
"""The names of the kinds by what they are alike in; means are taken within a group."""
KINDS: dict[str, Kind] = {
    draw.__name__: Kind(draw) for rooms in _ROOMS.values() for room in rooms for draw in room.KINDS
}
_NEED_PATIENTS = ("care", "null_care")


def available() -> list[str]:
    """Return the kinds whose data are at hand."""
    at_hand = real.patients_file() is not None
    return [name for name in KINDS if at_hand or name not in _NEED_PATIENTS]


def draw_pair(kind: str, pair: int) -> Pair:
    """Return the pair of that number: the same for every method and on every machine."""
    return KINDS[kind].draw(np.random.default_rng(_sequence(kind, pair, 0)))


def method_seed(kind: str, pair: int) -> int:
    """Return the seed that methods are given with a pair."""
    return int(_sequence(kind, pair, 1).generate_state(1)[0] // 2)


def _sequence(kind: str, pair: int, use: int) -> np.random.SeedSequence:
    # Python's own hash of a string changes from run to run.
    return np.random.SeedSequence([crc32(kind.encode()), pair, use])
