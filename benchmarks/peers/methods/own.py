"""The calls of tellapart as its users make them."""

from __future__ import annotations

from peers.base import ALPHA, CHOSEN, PERMUTATIONS, Answer, Peer, chosen
from peers.task import Pair


def default_test(pair: Pair, seed: int) -> Answer:
    """Test by the default call; the columns are those of its findings."""
    import tellapart as ta

    result = ta.two_sample_test(pair.X, pair.Y, random_state=seed)
    sure = [found for found in result.findings if found.pvalue <= ALPHA]
    # Columns of an array are called x0, x1, …
    named = {int(name.removeprefix("x")) for found in sure for name in found.variables}
    return Answer(float(result.pvalue), tuple(sorted(named)))


def standard_mmd(pair: Pair, seed: int) -> Answer:
    """Test by one Gaussian kernel of all columns."""
    import tellapart as ta

    test = ta.baselines.StandardMMD(n_permutations=PERMUTATIONS, random_state=seed)
    return Answer(float(test.test(pair.X, pair.Y).pvalue))


def select(pair: Pair, seed: int) -> Answer:
    """Select by the default call."""
    import tellapart as ta

    return chosen(ta.select_variables(pair.X, pair.Y, CHOSEN, random_state=seed).support)


PEERS = (
    Peer("tellapart", "`tellapart.two_sample_test(X, Y)`", default_test, own=True),
    Peer(
        "tellapart-mmd",
        "`tellapart.baselines.StandardMMD().test(X, Y)`",
        standard_mmd,
        exact=True,
        own=True,
    ),
    Peer(
        "tellapart-select",
        f"`tellapart.select_variables(X, Y, {CHOSEN})`",
        select,
        selector=True,
        own=True,
    ),
)
