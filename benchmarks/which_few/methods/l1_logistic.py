"""The columns that enter the path of L1-penalised logistic regression first."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import l1_min_c

from which_few.methods.base import method
from which_few.table import FloatArray, IntArray, Table, encode

PATH = np.logspace(0, 3, 91)
"""Multiples of the largest penalty's inverse, at which nothing has entered yet."""


@method("l1-logistic", "LogisticRegression, L1 path on standardised columns until d have entered")
def select(X: Table, Y: Table, d: int, seed: int) -> IntArray:
    """Select the d largest coefficients where the path first has d columns."""
    data = encode(X, Y)
    values = data.standardised
    smallest = l1_min_c(values, data.labels, loss="log")
    size = np.zeros(values.shape[1])
    for factor in PATH:
        size = _coefficients(values, data.labels, factor * smallest, seed)
        if len(np.unique(data.owner[size > 0])) >= d:
            break
    return data.best(size, d)


def _coefficients(values: FloatArray, labels: IntArray, strength: float, seed: int) -> FloatArray:
    model = LogisticRegression(
        C=strength,
        l1_ratio=1.0,
        solver="liblinear",
        class_weight="balanced",
        tol=1e-5,
        max_iter=500,
        random_state=seed,
    )
    return np.abs(model.fit(values, labels).coef_[0])
