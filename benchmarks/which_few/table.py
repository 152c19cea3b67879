"""Two samples as selectors take them: numbers, labels, and which column each number is of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Table: TypeAlias = "FloatArray | pd.DataFrame"
"""Numbers as an array, or a frame whose columns of strings are categories."""
FEW_VALUES = 10
"""A column of numbers with at most so many values is taken as discrete."""


@dataclass(frozen=True)
class Encoded:
    """The rows of both samples as numbers: categories as zeros and ones for each level.

    `owner[k]` is the position of the column in the table that the k-th column of `values` is of.
    """

    values: FloatArray
    labels: IntArray
    owner: IntArray

    @property
    def standardised(self) -> FloatArray:
        """The values with mean 0 and variance 1; a constant column becomes zero."""
        spread = self.values.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        return np.asarray((self.values - self.values.mean(axis=0)) / scale)

    @property
    def discrete(self) -> NDArray[np.bool_]:
        """Which columns have only a few values."""
        return np.array([len(np.unique(column)) <= FEW_VALUES for column in self.values.T])

    def best(self, scores: FloatArray, d: int) -> IntArray:
        """Return the d columns of the table with the largest scores; a level speaks for all."""
        by_column = np.full(int(self.owner.max()) + 1, -np.inf)
        np.maximum.at(by_column, self.owner, np.nan_to_num(scores, nan=-np.inf))
        return np.argsort(-by_column, kind="stable")[:d]

    def first(self, order: IntArray, d: int) -> IntArray:
        """Return the first d different columns of the table in an order of encoded ones."""
        owners = self.owner[np.asarray(order, dtype=np.int64)]
        return np.asarray(list(dict.fromkeys(owners.tolist()))[:d], dtype=np.int64)


def encode(X: Table, Y: Table) -> Encoded:
    """Return both samples as numbers; the rows of X carry label 0, those of Y label 1."""
    labels = np.repeat([0, 1], [len(X), len(Y)])
    if not isinstance(X, pd.DataFrame) or not isinstance(Y, pd.DataFrame):
        values = np.concatenate([X, Y]).astype(np.float64)
        return Encoded(values, labels, np.arange(values.shape[1]))
    pooled = pd.concat([X, Y])
    parts, owner = [], []
    for position, name in enumerate(pooled.columns):
        column = pooled[name]
        if not pd.api.types.is_numeric_dtype(column):
            part = pd.get_dummies(column, dtype=float).to_numpy(dtype=np.float64)
        else:
            part = column.to_numpy(dtype=np.float64)[:, None]
        parts.append(part)
        owner += [position] * part.shape[1]
    return Encoded(np.concatenate(parts, axis=1), labels, np.asarray(owner))
