"""Bins of rows that keep to the design of a study; see `tellapart.permutation.design`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.data.chunked_samples import ChunkedSamples
from tellapart.data.design import Design
from tellapart.data.samples import Samples
from tellapart.permutation.design import Units, permute_units, units_of, weighed
from tellapart.permutation.keyed_bins import (
    KeyedBins,
    arranged_labels,
    draw_arrangement,
    draw_keyed_bins,
)
from tellapart.permutation.labels import PermutedBins, permute_bins

# Sums that are adjusted at a time, 64 MB in double precision.
ENTRIES = 8_000_000
# A deviation below this share of the largest sum is rounding.
FLAT = 1e-6


@dataclass(frozen=True, eq=False)
class DesignedBins(KeyedBins):
    """The units of a design as bins, in place of bins of any rows.

    Attributes
    ----------
    units : Units
        Which rows move together, and in which block.
    places : pair of arrays
        The place of every row of X and of Y within its unit.
    """

    units: Units
    places: tuple[IntArray, IntArray]

    @property
    def full(self) -> bool:
        """Squares and the like are summed over every unit: they are adjusted as sums are."""
        return True

    @property
    def largest(self) -> int:
        """Rows of the largest unit that is permuted."""
        return int(self.units.rows[self.units.moved].max())

    @property
    def fewest(self) -> int:
        """Units of the smaller sample: what does not depend on which units are those of x."""
        return min(self.n_moved_of)

    @property
    def n_moved_of(self) -> tuple[int, int]:
        """Units of X and of Y that are permuted; those that keep their labels come after them."""
        return self.units.n_moved

    @cached_property
    def counts(self) -> tuple[Singles, Singles]:
        """What counts as x and as y, in rows, of every permutation."""
        of_x = self.labels @ self.arranged_units.counts.astype(np.float32)
        return of_x, np.float32(self.n_rows) - of_x

    @cached_property
    def arranged_units(self) -> Units:
        """The units in the arrangement of the labels."""
        return self.units.arranged(self.order)

    def of_rows(self, sample: int, first_row: int, count: int) -> tuple[IntArray, IntArray]:
        """Return the units of some rows, counted within their sample, and their places in them."""
        rows = slice(first_row, first_row + count)
        first = sample * self.n_bins_of[0]
        return self.units.of_rows[sample][rows] - first, self.places[sample][rows]

    def deviations(self, sums: Singles) -> FloatArray:
        """Return the deviation of δ over permutations, of adjusted sums (G, F)."""
        found = np.empty(sums.shape[1])
        step = max(ENTRIES // max(sums.shape[0], 1), 1)
        for start in range(0, found.size, step):
            some = slice(start, start + step)
            found[some] = np.sqrt(
                np.square(self.units.spread_out(_doubles(sums[:, some]))).sum(axis=0)
            )
        return found

    def adjust_in_place(self, x: Singles, y: Singles) -> None:
        """Adjust sums over the bins of X and of Y, (bins + 1, F) each.

        The last is empty, for rows that keep their labels are in units of their blocks. Sums are
        multiplied by the weights of the units' rows, and centred within blocks.
        """
        if self.units.row_weights is not None and x.size:
            of_x, of_y = np.split(self.units.row_weights, [self.n_bins_of[0]])
            x[:-1] *= of_x[:, np.newaxis].astype(np.float32)
            y[:-1] *= of_y[:, np.newaxis].astype(np.float32)
        if self.units.shapes.shape[1] == 1:
            return
        step = max(ENTRIES // max(self.n_bins, 1), 1)
        for start in range(0, x.shape[1], step):
            some = slice(start, start + step)
            adjusted = self.units.centre(_doubles(np.concatenate([x[:-1, some], y[:-1, some]])))
            x[:-1, some], y[:-1, some] = np.split(adjusted, [self.n_bins_of[0]])


def _doubles(values: Singles) -> FloatArray:
    return values.astype(np.float64)


def design_units(design: Design, rng: np.random.Generator) -> Units:
    """Return the units of a design, with what their rows count for."""
    return weighed(units_of(design, rng), design.likeness)


def draw_designed_bins(
    design: Design, n_permutations: int, rng: np.random.Generator
) -> DesignedBins:
    """Return the units of a design and permutations of their labels; all of them where few."""
    units = design_units(design, rng)
    drawn = permute_units(units, n_permutations, rng)
    arrangement = draw_arrangement(units.size, rng)
    n_x, n_y = (rows.size for rows in units.of_rows)
    return DesignedBins(
        n_rows_of=(n_x, n_y),
        n_bins_of=units.n_units,
        rows_per_bin=units.together,
        seed=0,
        labels=arranged_labels(drawn, arrangement),
        exact=drawn.exact,
        arrangement=arrangement,
        units=units,
        places=(_places_within(units.of_rows[0]), _places_within(units.of_rows[1])),
    )


def draw_bins_of(
    samples: Samples | ChunkedSamples, n_permutations: int, rng: np.random.Generator
) -> KeyedBins:
    """Return bins of any rows of the samples, or the units of their design, with permutations."""
    if samples.design is not None:
        return draw_designed_bins(samples.design, n_permutations, rng)
    return draw_keyed_bins(samples.n_x, samples.n_y, n_permutations, rng, samples.n_columns)


def _places_within(unit: IntArray) -> IntArray:
    """Return how many rows of the same unit come before each row."""
    order = np.argsort(unit, kind="stable")
    rising = unit[order]
    start = np.flatnonzero(np.concatenate([[True], rising[1:] != rising[:-1]]))
    sizes = np.diff(start, append=unit.size)
    places = np.empty(unit.size, dtype=np.intp)
    places[order] = np.arange(unit.size) - np.repeat(start, sizes)
    return places


# Groups of rows that keep to the design of a study, with packed labels.


@dataclass(frozen=True)
class DesignedGroups(PermutedBins):
    """The units of a design as groups, with labels for those, too, that keep theirs."""

    units: Units

    def weights(self, labels: FloatArray) -> FloatArray:
        """Return w with Σ_g w_g S_g = mean_x − mean_y of sums S centred within blocks."""
        weights = self.units.centred_weights(labels)
        own = self.units.row_weights
        return weights if own is None else weights * own

    def of_rows(self, labels: FloatArray) -> FloatArray:
        """Return the labels of the pooled rows, in their own order, from those of the groups."""
        return labels[:, np.concatenate(self.units.of_rows)]

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sums over each group of values of shape (N,) or (N, r), in pooled order."""
        return np.asarray(np.add.reduceat(values[self.order], self.starts[:-1], axis=0))


def permute_samples(
    samples: Samples, n_permutations: int, rng: np.random.Generator
) -> PermutedBins:
    """Return permutations of the labels of the rows, or of what the design says moves together."""
    if samples.design is None:
        return permute_bins(samples.n_x, samples.n_y, n_permutations, rng)
    units = units_of(samples.design, rng)
    return DesignedGroups(
        order=np.argsort(np.concatenate(units.of_rows), kind="stable"),
        starts=np.append(0, np.cumsum(units.rows)),
        permutations=permute_units(units, n_permutations, rng),
        n_bins=units.size,
        rows_per_bin=units.together,
        kept=np.zeros(0),
        n_x=samples.n_x,
        n_y=samples.n_y,
        units=units,
    )
