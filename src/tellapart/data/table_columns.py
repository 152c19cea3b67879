"""The columns of an opened table, found by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from tellapart.arrays import FloatArray
from tellapart.data.columns import to_arrow
from tellapart.data.sources import Source


@dataclass(frozen=True)
class TableColumns:
    """A table that was opened: what its columns are, before they are read.

    Parameters
    ----------
    source : Source
        A table, with the dtypes of its columns.
    """

    source: Source

    @cached_property
    def dtypes(self) -> dict[str, Any]:
        """The dtype of each column."""
        return dict(zip(self.source.names or (), self.source.dtypes, strict=True))

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each column stands."""
        return {name: place for place, name in enumerate(self.dtypes)}

    def arrow(self, name: str) -> Any:
        """Return a column as an Arrow array, or None where Arrow has no type for it."""
        place = self.places[name]
        if isinstance(self.source.data, tuple):
            return to_arrow(self.source.data[place])
        return pa.array(np.ascontiguousarray(self.source.data[:, place]))

    def numbers(self, name: str) -> FloatArray:
        """Return the numbers of one column that are not missing."""
        if isinstance(self.source.data, np.ndarray):
            values = self.source.data[:, self.places[name]]
            return np.asarray(values[~np.isnan(values)])
        present = self.arrow(name).cast(pa.float64(), safe=False).drop_null()
        return np.asarray(present.to_numpy())

    def extremes(self, names: list[str]) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest number of some columns."""
        if isinstance(self.source.data, np.ndarray):
            chosen = self.source.data[:, [self.places[name] for name in names]]
            return chosen.min(axis=0), chosen.max(axis=0)
        every = [self.numbers(name) for name in names]
        low = [values.min(initial=np.inf) for values in every]
        return np.array(low), np.array([values.max(initial=-np.inf) for values in every])
