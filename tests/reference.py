"""The formulas written out in O(n²), to hold the fast code to."""

from __future__ import annotations

import numpy as np

from tellapart.data.samples import Samples
from tellapart.kernels import FittedKernel


def make_samples(x, y, kinds=None):
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.ndim == 1:
        x, y = x[:, None], y[:, None]
    names = tuple(f"v{s}" for s in range(x.shape[1]))
    return Samples(x, y, names, tuple(kinds or ["numeric"] * x.shape[1]))


def median_distance(values):
    distances = np.abs(values[:, None] - values)[np.triu_indices(len(values), 1)]
    median = np.median(distances)
    return median if median > 0 else np.median(distances[distances > 0])


def pairs(scalar, x, y):
    return scalar.gram(x, x), scalar.gram(y, y), scalar.gram(x, y)


def coefficients(samples: Samples, kernel: FittedKernel, estimator="unbiased"):
    """Return a and V, sum by sum as on the page of formulas."""
    m, n, D = samples.n_x, samples.n_y, samples.n_columns
    a, p, q = np.zeros(D), np.zeros((m, D)), np.zeros((n, D))
    for s in np.flatnonzero(~kernel.constant):
        kxx, kyy, kxy = pairs(kernel.scalars[s], samples.x[:, s], samples.y[:, s])
        p[:, s] = kxx.mean(axis=1) - kxy.mean(axis=1)
        q[:, s] = kyy.mean(axis=1) - kxy.mean(axis=0)
        if estimator == "paired":
            h = kxx + kyy - kxy - kxy.T
            a[s] = (h.sum() - np.trace(h)) / (m * (m - 1))
        else:
            a[s] = (kxx.sum() - m) / (m * (m - 1)) + (kyy.sum() - n) / (n * (n - 1))
            a[s] -= 2 * kxy.mean()
    if estimator == "paired":
        return a, 4 * np.cov(p + q, rowvar=False, ddof=0).reshape(D, D)
    size = 2 * m * n / (m + n)
    cov_p = np.cov(p, rowvar=False, ddof=0).reshape(D, D)
    cov_q = np.cov(q, rowvar=False, ddof=0).reshape(D, D)
    return a, 4 * size * (cov_p / m + cov_q / n)


def mixed_samples(m, n, seed=0):
    """Every awkward kind of column at once."""
    rng = np.random.default_rng(seed)

    def draw(size, shift):
        return np.column_stack(
            [
                rng.normal(shift, 1, size=size),
                rng.normal(0, 1 + shift, size=size),
                rng.standard_cauchy(size),
                np.r_[rng.normal(size=size - 2), 1e6, 1e15 + shift],
                rng.uniform(size=size) * 1e-9,
                rng.poisson(1 + shift, size=size),
                np.where(rng.random(size) < 0.8, 0.0, rng.exponential(size=size)),
                np.full(size, 3.0),
                rng.integers(0, 4, size=size),
            ]
        )

    kinds = ["numeric"] * 8 + ["categorical"]
    return make_samples(draw(m, 0.0), draw(n, 0.5), kinds)
