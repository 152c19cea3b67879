"""One test of SciPy for each column, with Holm's correction."""

from __future__ import annotations

import numpy as np

from peers.base import ALPHA, Answer, Peer
from peers.task import FloatArray, Pair


def holm(pvalues: FloatArray) -> FloatArray:
    """Return the p-values adjusted by Holm: max over j ≤ i of (k − j + 1)·p_(j), at most 1.

    >>> holm(np.array([0.5, 0.01, 0.02]))
    array([0.5 , 0.03, 0.04])
    """
    order = np.argsort(pvalues)
    steps = pvalues[order] * np.arange(len(pvalues), 0, -1)
    adjusted = np.empty_like(steps)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def _answer(pvalues: FloatArray) -> Answer:
    adjusted = holm(pvalues)
    return Answer(float(adjusted.min()), tuple(np.flatnonzero(adjusted <= ALPHA).tolist()))


def kolmogorov_smirnov(pair: Pair, seed: int) -> Answer:  # noqa: ARG001
    """Test each column by Kolmogorov and Smirnov."""
    from scipy.stats import ks_2samp

    columns = zip(pair.X.T, pair.Y.T, strict=True)
    return _answer(np.array([ks_2samp(x, y).pvalue for x, y in columns]))


def welch(pair: Pair, seed: int) -> Answer:  # noqa: ARG001
    """Test each column by Welch's t."""
    from scipy.stats import ttest_ind

    return _answer(np.asarray(ttest_ind(pair.X, pair.Y, axis=0, equal_var=False).pvalue))


PEERS = (
    Peer(
        "columns-ks",
        "`scipy.stats.ks_2samp` for each column, Holm",
        kolmogorov_smirnov,
        needs=("scipy",),
        package="scipy",
    ),
    Peer(
        "columns-t",
        "`scipy.stats.ttest_ind(X, Y, equal_var=False)`, Holm",
        welch,
        needs=("scipy",),
        package="scipy",
    ),
)
