"""The MMD of alibi-detect by PyTorch.

Its default is TensorFlow; PyTorch runs the same formula. Single precision, as its examples do. The
third choice, KeOps, computes the kernel again for each permutation, which asks for a graphics card.
"""

from __future__ import annotations

import numpy as np

from peers.base import PERMUTATIONS, THREADS, Answer, Peer, matrices
from peers.task import Pair


def mmd(pair: Pair, seed: int) -> Answer:
    """Test by the Gaussian kernel with the median bandwidth of the first sample."""
    import torch
    from alibi_detect.cd import MMDDrift

    torch.manual_seed(seed)
    torch.set_num_threads(THREADS)
    detector = MMDDrift(
        pair.X.astype(np.float32), backend="pytorch", n_permutations=PERMUTATIONS, device="cpu"
    )
    return Answer(float(detector.predict(pair.Y.astype(np.float32))["data"]["p_val"]))


PEERS = (
    Peer(
        "alibi-mmd",
        f'`alibi_detect.cd.MMDDrift(X, "pytorch", n_permutations={PERMUTATIONS}).predict(Y)`',
        mmd,
        needs=("alibi_detect", "torch"),
        package="alibi-detect torch",
        # The kernel matrix and a permuted copy, in single precision.
        bytes_needed=matrices(2, size=4),
        exact=True,
    ),
)
