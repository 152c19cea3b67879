"""What every method of the arena gives: a verdict on one pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from arena.table import FloatArray, Table

ALPHA = 0.05
PERMUTATIONS = 199
"""Of the competitors that permute; 10/200 is 0.05, so the level is met exactly."""


@dataclass(frozen=True)
class Verdict:
    """Whether a test rejects at level ALPHA, and its p-value if it has one."""

    rejected: bool
    pvalue: float | None


def by_pvalue(pvalue: float) -> Verdict:
    """Return the verdict of a p-value."""
    return Verdict(bool(pvalue <= ALPHA), float(pvalue))


@dataclass(frozen=True)
class Method:
    """A test under the name its rows are stored by.

    `test(X, Y, seed)` gives the verdict; `needs` are the modules without which it cannot run;
    `what` says how it is called.
    """

    name: str
    what: str
    test: Callable[[Table, Table, int], Verdict]
    needs: tuple[str, ...] = ()
    own: bool = False

    def missing(self) -> list[str]:
        """Return the modules that are needed and cannot be found."""
        return [name for name in self.needs if find_spec(name) is None]


def median_distance(pooled: FloatArray) -> float:
    """Return the median distance between two rows: the usual bandwidth."""
    squares = np.sum(pooled**2, axis=1)
    squared = squares[:, None] + squares[None, :] - 2.0 * pooled @ pooled.T
    above = squared[np.triu_indices(len(pooled), 1)]
    return float(np.sqrt(max(np.median(above), 1e-12)))
