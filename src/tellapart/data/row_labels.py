"""Codes of the strata, pairs and clusters that rows belong to."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import IntArray

UNKNOWN = -1
"""The code of a missing label."""


@dataclass(frozen=True)
class Names:
    """What the labels are called; "" where they came without a name, None where there are none."""

    strata: str | None = None
    pairs: str | None = None
    clusters: str | None = None


@dataclass(frozen=True, eq=False)
class RowLabels:
    """Codes of the strata, pairs and clusters of some rows; None for what was not asked for.

    Equal codes mean equal labels wherever both stand in one design; −1 is a missing label.
    """

    n_rows: int
    names: Names
    strata: IntArray | None = None
    pairs: IntArray | None = None
    clusters: IntArray | None = None

    def rows(self, index: IntArray) -> RowLabels:
        """Return the labels of some rows."""
        strata, pairs, clusters = (
            None if codes is None else codes[index]
            for codes in (self.strata, self.pairs, self.clusters)
        )
        return replace(self, n_rows=int(index.size), strata=strata, pairs=pairs, clusters=clusters)

    def known(self) -> IntArray:
        """Return the rows without a missing label."""
        given = [c for c in (self.strata, self.pairs, self.clusters) if c is not None]
        return np.flatnonzero(np.all([codes != UNKNOWN for codes in given], axis=0))
