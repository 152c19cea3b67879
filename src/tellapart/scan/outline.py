"""Pooled rows that make the tables and the plan: all of them, or some drawn without labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.chunks.chunked_samples import ChunkedSamples
from tellapart.data.samples import Samples, draw_rows

COMPLETE_ROWS = 16_384
"""Rows of both samples up to which ranks are those of all rows, if all of them were drawn."""
OUTLINE_ENTRIES = 40_000_000
FEWEST_OUTLINED = 2_000
OUTLINED = ("normal", "clipped", "sign", "rank")
"""The scores that the plan looks at."""
# A sparse sample is made dense so many columns at a time.
COLUMNS_AT_A_TIME = 64


@dataclass(frozen=True, eq=False)
class Outline:
    """Pooled rows, and the least and greatest value of every column over all rows.

    `complete` says whether these are all rows, `missing` whether values may be missing: NaN.
    """

    values: FloatArray
    limits: tuple[FloatArray, FloatArray]
    complete: bool
    missing: bool = False

    @classmethod
    def of(cls, samples: ChunkedSamples) -> Outline:
        """Return the rows drawn from both samples together, whatever their labels."""
        values, limits = samples.pooled.values, (samples.least, samples.greatest)
        every = values.shape[0] == samples.n_x + samples.n_y
        pattern = samples.pattern
        if pattern is not None:
            values = pattern.values(values)
        complete = every and values.shape[0] <= COMPLETE_ROWS
        return cls(values, limits, complete=complete, missing=pattern is not None)

    @classmethod
    def of_all_rows(cls, samples: Samples) -> Outline:
        """Return all pooled rows, those of X first."""
        values = np.empty((samples.n_x + samples.n_y, samples.n_columns), order="F")
        for start in range(0, samples.n_columns, COLUMNS_AT_A_TIME):
            places = np.arange(start, min(start + COLUMNS_AT_A_TIME, samples.n_columns))
            values[: samples.n_x, places] = samples.x[:, places]
            values[samples.n_x :, places] = samples.y[:, places]
        limits = values.min(axis=0), values.max(axis=0)
        if samples.as_read is None or samples.as_read.pattern.whole_rows:
            return cls(values, limits, complete=True)
        values[samples.as_read.absent()] = np.nan
        return cls(values, limits, complete=True, missing=True)

    def some_rows(self, n_scores: int, rng: np.random.Generator) -> FloatArray:
        """Return the rows that the plan looks at: all, or some where they are many."""
        most = min(COMPLETE_ROWS, max(OUTLINE_ENTRIES // max(n_scores, 1), FEWEST_OUTLINED))
        if self.values.shape[0] <= most:
            return self.values
        return np.asfortranarray(self.values[draw_rows(self.values.shape[0], most, rng)])
