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


def standardised_present(values: Singles, present: Singles | None) -> Singles:
    """Return `standardised` values of the rows that have one, and 0 for what is missing."""
    if present is None:
        return standardised(values)
    rows = np.maximum(present.sum(axis=0), 1)
    centred = (values - (values * present).sum(axis=0) / rows) * present
    deviation = np.sqrt(np.square(centred).sum(axis=0) / rows)
    flat = deviation <= 1e-6
    return np.asarray(np.where(flat, 0, centred / np.where(flat, 1, deviation)), dtype=np.float32)


def zscores(scores: Singles, n_x: int, present: Singles | None = None) -> FloatArray:
    """Return δ/√var(δ) of standardised pooled scores, δ the difference of their sample means.

    The variance is that over permutations of the labels: N²/(m n (N − 1)) for scores of
    variance 1 over the N = m + n pooled rows. Where values are missing, `present` is 1 for those
    that are there, and the rows that have a value are those that count.
    """
    if present is not None:
        of_x, of_y = (part.sum(axis=0, dtype=np.float64) for part in (scores[:n_x], scores[n_x:]))
        k_x, k_y = (part.sum(axis=0, dtype=np.float64) for part in (present[:n_x], present[n_x:]))
        unit = np.sqrt(k_x * k_y * np.maximum(k_x + k_y - 1, 0)) / np.maximum(k_x + k_y, 1)
        return np.asarray((of_x / np.maximum(k_x, 1) - of_y / np.maximum(k_y, 1)) * unit)
    n_rows = scores.shape[0]
    n_y = n_rows - n_x
    unit = math.sqrt(n_x * n_y * (n_rows - 1)) / n_rows
    # The pooled mean is 0, so that the mean of x decides that of y.
    mean_x = scores[:n_x].mean(axis=0, dtype=np.float64)
    return np.asarray(mean_x * (n_rows / n_y) * unit)


def centred_within(scores: Singles, n_x: int) -> Singles:
    """Return scores less their mean in each sample."""
    centred = scores.copy()
    centred[:n_x] -= centred[:n_x].mean(axis=0)
    centred[n_x:] -= centred[n_x:].mean(axis=0)
    return centred


def within_samples(scores: Singles, n_x: int) -> Singles:
    """Return scores centred within each sample, standardised over both."""
    return standardised(centred_within(scores, n_x))
