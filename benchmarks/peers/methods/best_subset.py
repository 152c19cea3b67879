"""Best subset of logistic regression by splicing (abess)."""

from __future__ import annotations

import numpy as np

from peers.base import CHOSEN, THREADS, Answer, Peer, chosen
from peers.task import Pair


def abess(pair: Pair, seed: int) -> Answer:  # noqa: ARG001
    """Select the columns of the best logistic regression."""
    from abess import LogisticRegression

    model = LogisticRegression(support_size=[CHOSEN], thread=THREADS)
    model.fit(pair.values, pair.labels)
    return chosen(np.flatnonzero(model.coef_.ravel()))


PEERS = (
    Peer(
        "abess",
        f"`abess.LogisticRegression(support_size=[{CHOSEN}], thread={THREADS})`",
        abess,
        selector=True,
        needs=("abess",),
        package="abess",
    ),
)
