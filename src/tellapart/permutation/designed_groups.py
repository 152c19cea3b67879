"""Groups of rows that keep to the design of a study, with packed labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.permutation.bins import PermutedBins, permute_bins
from tellapart.permutation.design import permute_units, units_of
from tellapart.permutation.units import Units


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
