"""MMD, energy distance and distance correlation of hyppo: permutations, or its fast χ² bound.

The three are one statistic of the distances or kernels of all pairs; with `auto` and more than
20 rows hyppo takes the bound and permutes nothing.
"""

from __future__ import annotations

from functools import partial

from peers.base import PERMUTATIONS, THREADS, Answer, Peer, matrices
from peers.task import Pair

CALLS = {
    "mmd": ("hyppo.ksample.MMD()", "MMD", ()),
    "energy": ("hyppo.ksample.Energy()", "Energy", ()),
    "dcorr": ('hyppo.ksample.KSample("Dcorr")', "KSample", ("Dcorr",)),
}


def run(name: str, auto: bool, pair: Pair, seed: int) -> Answer:
    """Test by one of the statistics."""
    from hyppo import ksample

    _, factory, arguments = CALLS[name]
    test = getattr(ksample, factory)(*arguments)
    found = test.test(
        pair.X, pair.Y, reps=PERMUTATIONS, workers=THREADS, auto=auto, random_state=seed
    )
    return Answer(float(found[1]))


def _peer(name: str, auto: bool) -> Peer:
    call = CALLS[name][0]
    how = "" if auto else f", reps={PERMUTATIONS}, workers={THREADS}, auto=False"
    return Peer(
        f"hyppo-{name}-chi2" if auto else f"hyppo-{name}",
        f"`{call}.test(X, Y{how})`" + (": χ² bound, no permutations" if auto else ""),
        partial(run, name, auto),
        needs=("hyppo",),
        package="hyppo",
        # The distances of the rows and those of the labels.
        bytes_needed=matrices(2),
        exact=not auto,
    )


PEERS = tuple(_peer(name, auto) for auto in (False, True) for name in CALLS)
