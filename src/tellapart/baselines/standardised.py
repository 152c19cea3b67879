"""Columns on one scale and a direction through them: what linear methods share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.selection.settings import check_varying


@dataclass(frozen=True)
class Direction:
    """One number per row: Σ_j z_j (u_j − centre_j)/scale_j, the sum over z_j ≠ 0."""

    centre: FloatArray
    scale: FloatArray
    z: FloatArray

    def scores(self, rows: FloatArray) -> FloatArray:
        """Return the score of every row."""
        used = np.flatnonzero(self.z)
        return (rows[:, used] - self.centre[used]) / self.scale[used] @ self.z[used]


@dataclass(frozen=True)
class Standardised:
    """The varying columns `keep` of two samples, with mean 0 over both, and variance 1 or as is."""

    x: FloatArray
    y: FloatArray
    keep: IntArray
    centre: FloatArray
    scale: FloatArray

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Which of all columns never vary."""
        constant = np.ones(self.centre.shape[0], dtype=np.bool_)
        constant[self.keep] = False
        return constant

    def direction(self, weights: FloatArray) -> Direction:
        """Return the direction with these weights of the columns kept."""
        z = np.zeros(self.centre.shape[0])
        z[self.keep] = weights
        return Direction(self.centre, self.scale, z)


def standardise(train: Samples, method: str, *, scaled: bool = True) -> Standardised:
    """Return the columns of the pooled training rows on one scale, without those that never vary.

    Without it the unit of a column would decide how much it counts: `scaled=False` keeps the
    units. Columns of two categories are numbers 0 and 1. With more categories a column is no
    number, and linear methods would read an order into it: refused.

    Raises
    ------
    InputError
        If a column has more than two categories, or if none varies.

    Examples
    --------
    >>> import warnings
    >>> x, y = np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([[5.0, 5.0], [7.0, 5.0]])
    >>> with warnings.catch_warnings(action="ignore"):
    ...     both = standardise(Samples(x, y, ("u", "v"), ("numeric",) * 2), "Method")
    >>> both.keep, both.x.ravel().round(2)
    (array([0]), array([-1.34, -0.45]))
    """
    for name, labels in train.categories.items():
        if len(labels) > 2:
            raise InputError(
                f"{method} needs numbers or columns of two categories; column {name!r} has "
                f"{len(labels)} categories: replace it by columns of 0 and 1, one per category"
            )
    pooled = np.concatenate([train.x, train.y])
    largest = np.abs(pooled).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    # Squares of very large or very small numbers would not be representable.
    within = pooled / unit
    centre, deviation = within.mean(axis=0) * unit, within.std(axis=0) * unit
    varies = (pooled.max(axis=0) > pooled.min(axis=0)) & (deviation > 0)
    keep = check_varying(train, ~varies)
    scale = deviation if scaled else np.ones(train.n_columns)
    ready = (pooled[:, keep] - centre[keep]) / scale[keep]
    return Standardised(ready[: train.n_x], ready[train.n_x :], keep, centre, scale)
