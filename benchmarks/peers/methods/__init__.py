"""The peers by name; a new one is one new file here."""

from __future__ import annotations

from peers.base import Peer
from peers.methods import (
    alibi_mmd,
    best_subset,
    column_scores,
    column_tests,
    dcor_energy,
    goodpoints_ctt,
    hsic_lasso,
    hyppo_tests,
    models,
    own,
)

PEERS: dict[str, Peer] = {
    peer.name: peer
    for room in (
        own,
        hyppo_tests,
        dcor_energy,
        goodpoints_ctt,
        alibi_mmd,
        column_tests,
        column_scores,
        models,
        best_subset,
        hsic_lasso,
    )
    for peer in room.PEERS
}
"""Nothing of theirs is imported before it is called: the first call counts the imports."""
