"""Rows that have every column looked at: where values are missing, dependence is judged by them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.evidence.groups import Group
from tellapart.scan.scores import Scores

LEAST_SHARE = 0.5
"""Columns are left out until this share of the rows has all the others."""


@dataclass(frozen=True, eq=False)
class SomeRows:
    """Which of the pooled rows count, those of X first; None for all."""

    counted: BoolArray | None
    n_rows: int

    def fewer(self, n_x: int) -> int:
        """Return how many rows of the smaller sample count, X having the first `n_x`."""
        if self.counted is None:
            return min(n_x, self.n_rows - n_x)
        return int(min(self.counted[:n_x].sum(), self.counted[n_x:].sum()))

    def of(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the rows of both samples that count."""
        if self.counted is None:
            return x, y
        return x[self.counted[: len(x)]], y[self.counted[len(x) :]]

    def of_all(self, groups: Iterable[Group]) -> list[Group]:
        """Return groups whose scores are those of all rows: 0 for rows that do not count."""
        if self.counted is None:
            return list(groups)
        found = []
        for group in groups:
            every = np.zeros(self.n_rows, dtype=np.float32)
            every[self.counted] = group.score
            found.append(replace(group, score=every))
        return found


def whole_rows(scores: Scores, places: IntArray) -> tuple[SomeRows, IntArray]:
    """Return the rows that have all of some columns, and these columns.

    Where values are missing, columns are left out, those that miss most in the pooled rows first,
    until half of the rows have all the others.
    """
    n_rows = scores.normal.shape[0]
    if scores.present is None:
        return SomeRows(None, n_rows), scores.column[places]
    present = scores.present[:, places] > 0
    order = np.argsort(-present.sum(axis=0), kind="stable")
    complete = np.logical_and.accumulate(present[:, order], axis=1).mean(axis=0)
    count = max(int(np.count_nonzero(complete >= LEAST_SHARE)), min(2, order.size))
    kept = np.sort(order[:count])
    counted = np.asarray(present[:, kept].all(axis=1))
    return SomeRows(counted, n_rows), scores.column[places[kept]]
