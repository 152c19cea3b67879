"""The columns with the largest mutual information with the label."""

from __future__ import annotations

from sklearn.feature_selection import mutual_info_classif

from which_few.methods.base import method
from which_few.table import IntArray, Table, encode


@method(
    "mutual-information",
    "sklearn.feature_selection.mutual_info_classif, columns of few values as discrete",
)
def select(X: Table, Y: Table, d: int, seed: int) -> IntArray:
    """Select by the nearest-neighbour estimate for each column."""
    data = encode(X, Y)
    scores = mutual_info_classif(
        data.values, data.labels, discrete_features=data.discrete, random_state=seed
    )
    return data.best(scores, d)
