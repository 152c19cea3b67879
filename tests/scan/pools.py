"""Pools of pooled rows for tests, and the labels of a permutation one by one."""

import numpy as np

from tellapart.data.tables import read_samples
from tellapart.permutation.bins import draw_bins
from tellapart.scan.pool import Pool
from tellapart.scan.scores import make_scores


def make_pool(x, y, n_permutations=20, seed=0, n_jobs=1):
    """Return the pool of two samples."""
    samples = read_samples(x, y)
    labels = draw_bins(samples.n_x, samples.n_y, n_permutations, np.random.default_rng(seed))
    return Pool(make_scores(samples), labels, n_jobs)


def is_x(pool, e):
    """Return which rows carry the label x under permutation e."""
    labels = np.zeros(pool.labels.n_rows, dtype=bool)
    labels[pool.labels.rows[pool.labels.labels[e] > 0].ravel()] = True
    labels[pool.labels.fixed_x] = True
    return labels
