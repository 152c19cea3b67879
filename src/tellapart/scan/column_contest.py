"""How much columns changed under every permutation: all of them, or the strongest of very many.

Adjusted p-values step down from the column with the largest score at the true labels. What they
need of the other columns is the largest score under every permutation. So of columns that come in
blocks those that lead so far are kept, and of all others the maximum: until more columns are named
than are kept, the p-values are those of the whole table; from then on the maxima are no longer made
smaller, and p-values only become a little larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.scan.adjusted import Named, TableUnits
from tellapart.scan.column_changes import ColumnChanges

KEPT_ENTRIES = 4_000_000
"""Columns times permutations that are kept."""
FEWEST_KEPT = 100
"""Columns that are kept however many permutations there are."""


@dataclass(frozen=True, eq=False)
class ColumnContest:
    """The scores of columns, the largest of their kinds.

    Attributes
    ----------
    columns : array of length C
        Columns of the samples that vary.
    own : array of length C
        Their scores at the true labels.
    kept : array of length K
        Places among them of those that are kept: no other has a larger score.
    table : array of shape (permutations, K)
        Their scores.
    others : array of length permutations, or None
        The largest score of all others; None where all are kept.
    """

    columns: IntArray
    own: FloatArray
    kept: IntArray
    table: FloatArray
    others: FloatArray | None = None

    @classmethod
    def of(cls, changes: ColumnChanges) -> ColumnContest:
        """Return the contest of columns that are all there."""
        table = changes.largest()
        return cls(changes.columns, table[0], np.arange(changes.columns.size), table)

    @classmethod
    def joined(cls, parts: Sequence[ColumnContest]) -> ColumnContest:
        """Return the contest of all columns of several, one after the other."""
        most = max(KEPT_ENTRIES // parts[0].table.shape[0], FEWEST_KEPT)
        first = np.cumsum([0, *(part.columns.size for part in parts)])
        kept = np.concatenate(
            [part.kept + start for part, start in zip(parts, first[:-1], strict=True)]
        )
        own = np.concatenate([part.own for part in parts])
        columns = np.concatenate([part.columns for part in parts])
        others = [part.others for part in parts if part.others is not None]
        lead = np.sort(np.argsort(-own[kept], kind="stable")[:most])
        inside = np.zeros(kept.size, dtype=np.bool_)
        inside[lead] = True
        tables, start = [], 0
        for part in parts:
            mine = inside[start : start + part.kept.size]
            start += part.kept.size
            tables.append(part.table[:, mine])
            if not mine.all():
                others.append(part.table[:, ~mine].max(axis=1))
        table = np.concatenate(tables, axis=1)
        left = np.max(others, axis=0) if others else None
        return cls(columns, own, kept[lead], table, left)

    def units(self) -> TableUnits:
        """Return the kept columns as units to be named."""
        return TableUnits(self.table, self.others)

    def adjusted(self, units: TableUnits, named: Named) -> FloatArray:
        """Return the adjusted p-value of every column."""
        adjusted = named.rest(self.own)
        adjusted[self.kept] = units.adjusted(named)
        return adjusted
