"""What kinds draw and methods take: two tables with the same columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Table: TypeAlias = "FloatArray | pd.DataFrame"
"""Numbers as an array, or a frame whose columns of strings are categories."""
Pair: TypeAlias = tuple[Table, Table]


class Draw(Protocol):
    """A function that draws a pair; its name and its docstring are those of the kind."""

    __name__: str

    def __call__(self, rng: np.random.Generator, /) -> Pair:
        """Draw a pair."""


@dataclass(frozen=True)
class Kind:
    """One kind of difference, or of none, made of a function that draws pairs."""

    draw: Draw

    @property
    def name(self) -> str:
        """What its rows are stored by."""
        return self.draw.__name__

    @property
    def what(self) -> str:
        """What the function does, in its own words."""
        return (self.draw.__doc__ or "").splitlines()[0]

    @property
    def null(self) -> bool:
        """Whether both samples come from one distribution."""
        return self.name.startswith("null_")


@dataclass(frozen=True)
class Encoded:
    """A pair as numbers: categories as one column of zeros and ones for each level."""

    X: FloatArray
    Y: FloatArray


def one_hot(X: Table, Y: Table) -> Encoded:
    """Return a pair as numbers, for methods that know no categories."""
    if not isinstance(X, pd.DataFrame) or not isinstance(Y, pd.DataFrame):
        return Encoded(np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64))
    pooled = pd.get_dummies(pd.concat([X, Y]), dtype=float).to_numpy(dtype=np.float64)
    return Encoded(pooled[: len(X)], pooled[len(X) :])


def standardised(X: Table, Y: Table) -> Encoded:
    """Return a pair as numbers in units of the pooled spread, as distances need them.

    The pooled mean and spread do not depend on which row is whose, so a permutation test stays
    valid. A constant column becomes zero.
    """
    encoded = one_hot(X, Y)
    pooled = np.concatenate([encoded.X, encoded.Y])
    spread = pooled.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    centre = pooled.mean(axis=0)
    return Encoded((encoded.X - centre) / scale, (encoded.Y - centre) / scale)
