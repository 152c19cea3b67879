"""Compress Then Test of goodpoints: its authors' compiled code, on one thread as it is written."""

from __future__ import annotations

import numpy as np

from peers.base import PERMUTATIONS, Answer, Peer
from peers.task import FloatArray, Pair

COMPRESSION = 4
"""The compression level g of the paper's experiments."""
BINS = 32
"""The default, s = 16 for each sample; there may be up to four times as many."""
SOME_ROWS = 1_000


def half_of_the_bins(rows: int) -> int:
    """Return s for `rows` rows in all: a bin keeps a power of four of its rows, so it is one."""
    size = 4
    while rows // (4 * size) >= BINS:
        size *= 4
    return max(rows // (2 * size), 1)


def ctt(pair: Pair, seed: int) -> Answer:
    """Test with the median distance of some rows as bandwidth."""
    from goodpoints.ctt import ctt as compress_then_test

    result = compress_then_test(
        pair.X,
        pair.Y,
        g=COMPRESSION,
        B=PERMUTATIONS,
        s=half_of_the_bins(len(pair.values)),
        lam=_bandwidth(pair.values, seed),
        null_seed=seed,
        statistic_seed=seed,
    )
    # The statistic of the true labels is among the values.
    return Answer(float(np.mean(result.estimator_values >= result.statistic_values)))


def _bandwidth(values: FloatArray, seed: int) -> float:
    from scipy.spatial.distance import pdist

    rows = np.random.default_rng(seed).choice(len(values), min(SOME_ROWS, len(values)), False)
    return float(np.median(pdist(values[rows])))


PEERS = (
    Peer(
        "goodpoints-ctt",
        f"`goodpoints.ctt.ctt(X, Y, g={COMPRESSION}, B={PERMUTATIONS})`, median bandwidth, 32 to "
        "127 bins of a power of four rows",
        ctt,
        needs=("goodpoints",),
        package="goodpoints",
    ),
)
