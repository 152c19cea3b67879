"""The columns whose shuffling costs gradient boosting most on rows it has not learned from."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import StratifiedKFold

from which_few.methods.base import method
from which_few.table import IntArray, Table, encode

FOLDS = 3
REPEATS = 2


@method(
    "boosting",
    f"HistGradientBoostingClassifier, permutation importance (AUC) over {FOLDS} held-out folds",
)
def select(X: Table, Y: Table, d: int, seed: int) -> IntArray:
    """Select by permutation importance, each fold judged by the model of the others."""
    data = encode(X, Y)
    importance = np.zeros(data.values.shape[1])
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for learn, judge in folds.split(data.values, data.labels):
        model = HistGradientBoostingClassifier(random_state=seed, early_stopping=False)
        model.fit(data.values[learn], data.labels[learn])
        importance += permutation_importance(
            model,
            data.values[judge],
            data.labels[judge],
            scoring="roc_auc",
            n_repeats=REPEATS,
            random_state=seed,
        ).importances_mean
    return data.best(importance, d)
