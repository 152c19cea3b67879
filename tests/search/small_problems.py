"""Small objectives to search, and rows that differ only jointly."""

import numpy as np

from bench_search_small import instance
from tellapart.data.samples import Samples
from tellapart.kernels import AdditiveIndex, Gaussian, Quadratic
from tellapart.statistics.objective import FittedObjective

RATIONAL = AdditiveIndex(
    value=lambda t: 1 / (1 + t / 2),
    slope=lambda t: -0.5 / (1 + t / 2) ** 2,
    curvature=lambda t: 0.5 / (1 + t / 2) ** 3,
    name="rational-quadratic",
)
CUBE = AdditiveIndex(
    value=lambda t: (t + 1) ** 3,
    slope=lambda t: 3 * (t + 1) ** 2,
    curvature=lambda t: 6 * (t + 1),
    weight="linear",
    psi="gaussian",
    name="cube",
)
KERNELS = {
    "gaussian": Gaussian(),
    "quadratic": Quadratic(),
    "rational": RATIONAL,
    "cube": CUBE,
}


SIGNS_MATTER = ["quadratic", "cube"]
"""Kernels with ω(z) = z, whose searches z ≥ 0 restricts."""


def objective(
    kind="shift",
    kernel="gaussian",
    regularization=0.5,
    rows=(25, 30),
    seed=0,
    nonnegative=False,
    n_columns=8,
):
    samples = instance(kind, rows, seed).columns(range(n_columns))
    fitted = KERNELS[kernel].fit(samples)
    return FittedObjective(samples, fitted, regularization, nonnegative=nonnegative)


def samples_of(x, y):
    n_columns = x.shape[1]
    names = tuple(f"x{s}" for s in range(n_columns))
    return Samples(x, y, names, ("numeric",) * n_columns)


def point(support, size, rng):
    z = np.zeros(size)
    z[support] = rng.normal(size=len(support))
    return z / np.linalg.norm(z)


def joint(n_columns, rows, group, seed):
    """Return samples with equal marginals; in Y the product of the signs of a group is fixed."""
    rng = np.random.default_rng(seed)
    x, y = (rng.normal(size=(n, n_columns)) for n in rows)
    *others, last = group
    signs = np.sign(y[:, others]).prod(axis=1)
    y[:, last] = np.abs(y[:, last]) * signs
    return x, y
