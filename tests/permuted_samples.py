"""Samples of three kinds of columns, and labels for their rows."""

import numpy as np

from tellapart.data.samples import Samples
from tellapart.permutation.forms import permute_rows


def make(m=11, n=14, seed=0):
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.normal(size=m), rng.integers(0, 3, m), rng.standard_cauchy(m)])
    y = np.column_stack([rng.normal(size=n), rng.integers(0, 3, n), rng.standard_cauchy(n)])
    return Samples(x, y, ("a", "b", "c"), ("numeric",) * 3)


def label_rows(samples, count=20):
    bins = permute_rows(samples.n_x, samples.n_y, count, np.random.default_rng(1))
    return bins, np.concatenate([bins.of_rows(labels) for _, labels in bins.blocks()])
