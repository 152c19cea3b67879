"""Classifier two-sample tests: learn on half of the rows, test the scores of the other half."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arena.methods.base import Method, Verdict, by_pvalue
from arena.table import FloatArray, Table, one_hot

PERMUTATIONS = 999
"""They cost next to nothing here: only ranks are permuted, nothing is learned again."""


class Classifier(Protocol):
    """What the test needs of scikit-learn's classifiers."""

    def fit(self, X: FloatArray, y: NDArray[np.int64]) -> object:
        """Learn from rows and their labels."""

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Return the probability of either label for each row."""


def held_out_auc(model: Classifier, X: Table, Y: Table, seed: int) -> Verdict:
    """Test whether the held-out rows of Y score above those of X, by permuted labels."""
    pair = one_hot(X, Y)
    rows = np.concatenate([pair.X, pair.Y])
    labels = np.repeat([0, 1], [len(pair.X), len(pair.Y)])
    train, test, train_labels, test_labels = train_test_split(
        rows, labels, test_size=0.5, stratify=labels, random_state=seed
    )
    model.fit(train, train_labels)
    # AUC is the rank sum of one label but for constants that no permutation changes.
    ranks = rankdata(model.predict_proba(test)[:, 1])
    observed = float(ranks @ test_labels)
    permuted = np.random.default_rng(seed).permuted(np.tile(test_labels, (PERMUTATIONS, 1)), axis=1)
    above = int(np.sum(permuted @ ranks >= observed))
    return by_pvalue((1 + above) / (PERMUTATIONS + 1))


def forest(X: Table, Y: Table, seed: int) -> Verdict:
    """Test by a random forest with scikit-learn's defaults."""
    return held_out_auc(RandomForestClassifier(random_state=seed), X, Y, seed)


def logistic(X: Table, Y: Table, seed: int) -> Verdict:
    """Test by logistic regression on standardised columns with scikit-learn's defaults."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return held_out_auc(model, X, Y, seed)


METHODS = (
    Method("c2st-forest", "random forest, half to learn, held-out AUC by 999 permutations", forest),
    Method(
        "c2st-logistic",
        "logistic regression, half to learn, held-out AUC by 999 permutations",
        logistic,
    ),
)
