"""The energy distance of dcor.

Its fast methods (AVL, merge sort) are for the distance covariance of single columns; for two
samples of several columns it has the distance matrix, permuted by joblib's workers. Version 0.7
no longer takes SciPy's distances for NumPy arrays (it compares the wrapped namespace with NumPy
itself) and broadcasts an array of rows × rows × columns instead: 0.6 is the fast one.
"""

from __future__ import annotations

from peers.base import PERMUTATIONS, THREADS, Answer, Peer, matrices
from peers.task import Pair


def energy(pair: Pair, seed: int) -> Answer:
    """Test by the energy distance."""
    from dcor.homogeneity import energy_test

    result = energy_test(
        pair.X, pair.Y, num_resamples=PERMUTATIONS, random_state=seed, n_jobs=THREADS
    )
    return Answer(float(result.pvalue))


PEERS = (
    Peer(
        "dcor-energy",
        f"`dcor.homogeneity.energy_test(X, Y, num_resamples={PERMUTATIONS}, n_jobs={THREADS})`",
        energy,
        needs=("dcor",),
        package="dcor==0.6",
        # The distances, and a permuted copy.
        bytes_needed=matrices(2),
        exact=True,
    ),
)
