"""HSIC Lasso: columns whose kernels add up to that of the label (pyHSICLasso)."""

from __future__ import annotations

import contextlib
import io

from peers.base import CHOSEN, THREADS, Answer, Peer, chosen
from peers.task import Pair

BLOCK, SHUFFLES = 20, 3
"""The defaults: rows of a block, and times that the rows are shuffled into blocks."""


def hsic_lasso(pair: Pair, seed: int) -> Answer:  # noqa: ARG001
    """Select by the default call, which has a seed of its own."""
    from pyHSICLasso import HSICLasso

    model = HSICLasso()
    with contextlib.redirect_stdout(io.StringIO()):
        model.input(pair.values, pair.labels)
        model.classification(CHOSEN, B=BLOCK, M=SHUFFLES, n_jobs=THREADS)
    return chosen(model.get_index())


def kernel_bytes(rows: int, columns: int) -> float:
    """Return the bytes of the kernels of all blocks, twice: they are scaled in a copy."""
    return 2 * 8.0 * (2 * rows) * BLOCK * SHUFFLES * columns


PEERS = (
    Peer(
        "hsic-lasso",
        f"`pyHSICLasso.HSICLasso().classification({CHOSEN}, n_jobs={THREADS})`: blocks of "
        f"{BLOCK} rows",
        hsic_lasso,
        selector=True,
        needs=("pyHSICLasso",),
        package="pyHSICLasso",
        bytes_needed=kernel_bytes,
    ),
)
