"""scikit-learn's SelectFromModel: the columns that a model of the label uses most."""

from __future__ import annotations

import numpy as np

from peers.base import CHOSEN, THREADS, Answer, Peer, chosen
from peers.task import Pair


def _select(model: object, pair: Pair) -> Answer:
    from sklearn.feature_selection import SelectFromModel

    selector = SelectFromModel(model, threshold=-np.inf, max_features=CHOSEN)
    return chosen(selector.fit(pair.values, pair.labels).get_support(indices=True))


def l1_logistic(pair: Pair, seed: int) -> Answer:
    """Select by logistic regression at a tenth of the penalty that leaves nothing in."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import l1_min_c

    strength = 10 * l1_min_c(pair.values, pair.labels, loss="log")
    model = LogisticRegression(C=strength, l1_ratio=1.0, solver="liblinear", random_state=seed)
    return _select(model, pair)


def forest(pair: Pair, seed: int) -> Answer:
    """Select by the impurity importance of a forest of the default size."""
    from sklearn.ensemble import RandomForestClassifier

    return _select(RandomForestClassifier(n_jobs=THREADS, random_state=seed), pair)


PEERS = (
    Peer(
        "l1-logistic",
        "`SelectFromModel(LogisticRegression(l1_ratio=1, solver='liblinear', C=10 l1_min_c))` of "
        "scikit-learn",
        l1_logistic,
        selector=True,
        needs=("sklearn",),
        package="scikit-learn",
    ),
    Peer(
        "forest",
        f"`SelectFromModel(RandomForestClassifier(n_jobs={THREADS}))` of scikit-learn",
        forest,
        selector=True,
        needs=("sklearn",),
        package="scikit-learn",
    ),
)
