"""Differences of means in units of their noise."""

from __future__ import annotations

import math

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.scan.scores import Singles


def standardised(values: Singles) -> Singles:
    """Return columns with mean 0 and variance 1 in single precision; constant ones become 0."""
    centred = values - values.mean(axis=0)
    deviation = centred.std(axis=0)
    flat = deviation <= 1e-6
    return np.asarray(np.where(flat, 0, centred / np.where(flat, 1, deviation)), dtype=np.float32)


def zscores(scores: Singles, n_x: int) -> FloatArray:
    """Return δ/√var(δ) of standardised pooled scores, δ the difference of their sample means.

    The variance is that over permutations of the labels: N²/(m n (N − 1)) for scores of
    variance 1 over the N = m + n pooled rows.
    """
    n_rows = scores.shape[0]
    n_y = n_rows - n_x
    unit = math.sqrt(n_x * n_y * (n_rows - 1)) / n_rows
    # The pooled mean is 0, so that the mean of x decides that of y.
    mean_x = scores[:n_x].mean(axis=0, dtype=np.float64)
    return np.asarray(mean_x * (n_rows / n_y) * unit)


def normal_tail(t: FloatArray, freedom: float) -> FloatArray:
    """Return the normal quantile with about the tail of Student's t (Wallace's approximation).

    Examples
    --------
    >>> import numpy as np
    >>> normal_tail(np.array([2.0, -6.0]), 20.0).round(2).tolist()
    [1.89, -4.48]
    """
    bent = np.sqrt(freedom * np.log1p(t * t / freedom))
    return np.asarray(np.sign(t) * bent * (8 * freedom + 1) / (8 * freedom + 3))


def centred_within(scores: Singles, n_x: int) -> Singles:
    """Return scores less their mean in each sample."""
    centred = scores.copy()
    centred[:n_x] -= centred[:n_x].mean(axis=0)
    centred[n_x:] -= centred[n_x:].mean(axis=0)
    return centred


def within_samples(scores: Singles, n_x: int) -> Singles:
    """Return scores centred within each sample, standardised over both."""
    return standardised(centred_within(scores, n_x))
