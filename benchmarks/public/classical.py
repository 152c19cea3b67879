"""Nine of the tests of MD2sample by their definitions, for rows on which its figures do not hold.

Columns are scaled to the unit interval, as the package does. KS, K, CvM and AD compare multivariate
empirical distribution functions at the pooled rows; NN1 and NN5 count neighbours of the same
sample; AZ and BF are energy statistics with the logarithm and the square root of distances; BG
compares mean distances within and between samples.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from tellapart.arrays import FloatArray

PERMUTATIONS = 199
TESTS = ("KS", "K", "CvM", "AD", "NN1", "NN5", "AZ", "BF", "BG")


def classical_pvalues(X: FloatArray, Y: FloatArray, seed: int) -> dict[str, float]:
    """Return the permutation p-value of each of the tests."""
    pooled = np.concatenate([X, Y])
    pooled = (pooled - pooled.min(axis=0)) / np.ptp(pooled, axis=0)
    rows, first = len(pooled), len(X)
    labels = np.zeros((rows, PERMUTATIONS + 1), dtype=np.float32)
    labels[:first, 0] = 1
    rng = np.random.default_rng(seed)
    for column in labels.T[1:]:
        column[rng.permutation(rows)[:first]] = 1
    others = 1 - labels
    found = {
        **_distribution_functions(pooled, labels / first, others / (rows - first)),
        **_distances(pooled, labels, others),
    }
    # Ties of counts are ties; those of single precision are taken for ties as well.
    return {
        name: float(np.mean(values >= values[0] - 1e-6 * abs(values[0])))
        for name, values in found.items()
    }


def _distribution_functions(
    pooled: FloatArray, labels: FloatArray, others: FloatArray
) -> dict[str, FloatArray]:
    below = np.all(pooled[None, :, :] <= pooled[:, None, :], axis=2).astype(np.float32)
    one, other = below @ labels, below @ others
    gap = one - other
    share = below.mean(axis=1)[:, None]
    weight = np.where((share > 0) & (share < 1), 1 / np.maximum(share * (1 - share), 1e-6), 0)
    return {
        "KS": np.abs(gap).max(axis=0),
        "K": np.maximum(gap.max(axis=0), 0) - np.minimum(gap.min(axis=0), 0),
        "CvM": np.sum(gap**2, axis=0),
        "AD": np.sum(weight * gap**2, axis=0),
    }


def _distances(pooled: FloatArray, labels: FloatArray, others: FloatArray) -> dict[str, FloatArray]:
    distances = cdist(pooled, pooled).astype(np.float32)
    size, rest = labels[:, 0].sum(), others[:, 0].sum()
    weights = labels / size - others / rest
    logs = np.log(np.where(distances > 0, distances, 1))
    roots = np.sqrt(distances)
    near = np.argpartition(distances + 10 * np.eye(len(pooled)), range(5), axis=1)[:, :5]
    within = np.sum(labels * (roots @ labels), axis=0) / size / (size - 1)
    beyond = np.sum(others * (roots @ others), axis=0) / rest / (rest - 1)
    between = np.sum(labels * (roots @ others), axis=0) / size / rest
    same = [np.sum(labels[near[:, j]] == labels, axis=0) for j in range(5)]
    return {
        "NN1": same[0],
        "NN5": np.sum(same, axis=0),
        "AZ": -np.sum(weights * (logs @ weights), axis=0),
        "BF": -np.sum(weights * (roots @ weights), axis=0),
        "BG": (within - between) ** 2 + (beyond - between) ** 2,
    }
