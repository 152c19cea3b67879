"""The columns with the largest F statistic."""

from __future__ import annotations

from sklearn.feature_selection import f_classif

from which_few.methods.base import method
from which_few.table import IntArray, Table, encode


@method("f-test", "sklearn.feature_selection.f_classif, the d largest")
def select(X: Table, Y: Table, d: int, seed: int) -> IntArray:  # noqa: ARG001
    """Select by the analysis of variance of each column."""
    data = encode(X, Y)
    return data.best(f_classif(data.values, data.labels)[0], d)
