"""Sums over the bins of the rarer label: all that a permutation needs where one sample is small.

The sum over the other sample is the total less that. With a share s of the bins in the rarer
sample that is s·G additions a permutation where a product with the labels takes G.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import IntArray
from tellapart.compiling import compiled

Singles = NDArray[np.float32]

LARGEST_SHARE = 0.25
"""Above this share of the bins a product with the labels is as fast."""
# What of the features is held together, so that a core keeps it at hand.
BLOCK_BYTES = 1 << 20
NARROWEST, WIDEST = 32, 256


@dataclass(frozen=True, eq=False)
class Fewer:
    """Which bins carry the rarer label under every permutation.

    Attributes
    ----------
    starts, index : arrays
        Bins index[starts[k]], …, index[starts[k + 1] − 1] carry it under permutation k.
    of_x : bool
        Whether that label is x.
    """

    starts: IntArray
    index: NDArray[np.int32]
    of_x: bool

    @classmethod
    def of(cls, labels: Singles) -> Fewer | None:
        """Return the bins by 0/1 labels (permutations × bins); None where neither label is rare.

        >>> found = Fewer.of(np.eye(5, dtype=np.float32)[:2])
        >>> found.starts.tolist(), found.index.tolist(), found.of_x
        ([0, 1, 2], [0, 1], True)
        """
        share = float(labels.mean()) if labels.size else 0.5
        if min(share, 1 - share) > LARGEST_SHARE:
            return None
        of_x = share <= LARGEST_SHARE
        rows, places = np.nonzero(labels if of_x else labels == 0)
        counts = np.bincount(rows, minlength=labels.shape[0])
        starts = np.concatenate([[0], np.cumsum(counts)])
        return cls(starts, places.astype(np.int32), of_x)

    def sums(self, features: Singles, rows: slice) -> Singles:
        """Return the sums over these bins of their features (bins × F), under some permutations."""
        begin, end, _ = rows.indices(self.starts.size - 1)
        n_bins, n_features = features.shape
        out = np.zeros((end - begin, n_features), dtype=np.float32)
        width = BLOCK_BYTES // (4 * max(n_bins, 1)) // NARROWEST * NARROWEST
        width = min(max(width, NARROWEST), WIDEST)
        _add(features, self.starts[begin : end + 1], self.index, width, out)
        return out


@compiled
def _add(features, starts, index, width, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add up the features of the bins of every permutation, some columns at a time."""
    n_bins, n_features = features.shape
    held = np.empty((n_bins, width), dtype=np.float32)
    for f in range(0, n_features, width):
        w = min(width, n_features - f)
        for j in range(n_bins):
            held[j, :w] = features[j, f : f + w]
        for k in range(out.shape[0]):
            own = out[k, f : f + w]
            i, end = starts[k], starts[k + 1]
            while i + 4 <= end:
                a, b = held[index[i]], held[index[i + 1]]
                c, d = held[index[i + 2]], held[index[i + 3]]
                for q in range(w):
                    own[q] += (a[q] + b[q]) + (c[q] + d[q])
                i += 4
            while i < end:
                a = held[index[i]]
                for q in range(w):
                    own[q] += a[q]
                i += 1
