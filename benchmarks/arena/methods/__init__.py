"""The tests of the arena by name; a new competitor is one new entry in its library's file."""

from __future__ import annotations

from arena.methods import aggregates, classifiers, columns, distances, own
from arena.methods.base import ALPHA, Method, Verdict

__all__ = ["ALPHA", "METHODS", "Method", "Verdict"]

METHODS: dict[str, Method] = {
    method.name: method
    for room in (own, distances, aggregates, classifiers, columns)
    for method in room.METHODS
}
