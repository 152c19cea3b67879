"""scikit-learn's scores of single columns: the largest of them."""

from __future__ import annotations

from functools import partial
from inspect import signature

from peers.base import CHOSEN, THREADS, Answer, Peer, chosen
from peers.task import Pair


def f_test(pair: Pair, seed: int) -> Answer:  # noqa: ARG001
    """Select by the analysis of variance."""
    from sklearn.feature_selection import SelectKBest, f_classif

    model = SelectKBest(f_classif, k=CHOSEN).fit(pair.values, pair.labels)
    return chosen(model.get_support(indices=True))


def mutual_information(pair: Pair, seed: int) -> Answer:
    """Select by the nearest-neighbour estimate."""
    from sklearn.feature_selection import SelectKBest, mutual_info_classif

    # Older versions of scikit-learn have one thread.
    threads = "n_jobs" in signature(mutual_info_classif).parameters
    more = {"n_jobs": THREADS} if threads else {}
    score = partial(mutual_info_classif, discrete_features=False, random_state=seed, **more)
    model = SelectKBest(score, k=CHOSEN).fit(pair.values, pair.labels)
    return chosen(model.get_support(indices=True))


PEERS = (
    Peer(
        "f-test",
        f"`SelectKBest(f_classif, k={CHOSEN})` of scikit-learn",
        f_test,
        selector=True,
        needs=("sklearn",),
        package="scikit-learn",
    ),
    Peer(
        "mutual-information",
        f"`SelectKBest(mutual_info_classif, k={CHOSEN})` of scikit-learn, n_jobs = {THREADS}",
        mutual_information,
        selector=True,
        needs=("sklearn",),
        package="scikit-learn",
    ),
)
