"""Competitors of tellapart's own test, all with the same face, for comparisons on equal terms."""

from tellapart.baselines.base import Baseline, FittedBaseline, SelectingBaseline, relabelling_null

__all__ = [
    "Baseline",
    "FittedBaseline",
    "SelectingBaseline",
    "relabelling_null",
]
