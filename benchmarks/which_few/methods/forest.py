"""The columns that a random forest splits by to the greatest effect."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from which_few.methods.base import method
from which_few.table import IntArray, Table, encode

TREES = 300


@method("forest", "RandomForestClassifier(300, class_weight='balanced'), impurity importance")
def select(X: Table, Y: Table, d: int, seed: int) -> IntArray:
    """Select by the decrease of impurity, the levels of a category together."""
    data = encode(X, Y)
    model = RandomForestClassifier(TREES, class_weight="balanced", random_state=seed)
    importance = model.fit(data.values, data.labels).feature_importances_
    # Each level carries the sum of its column, so the largest level stands for all of them.
    return data.best(np.bincount(data.owner, importance)[data.owner], d)
