"""Pools of pooled rows for tests, and the labels of a permutation one by one."""

import numpy as np

from tellapart.data.reader import read_samples
from tellapart.permutation.labels import draw_bins
from tellapart.scan import scan
from tellapart.scan.features import Product


def plan_pool(x, y, n_permutations=20, seed=0, n_jobs=1):
    """Return the pool of two samples, and what the families planned."""
    samples = read_samples(x, y)
    rng = np.random.default_rng(seed)
    labels = draw_bins(samples.n_x, samples.n_y, n_permutations, rng)
    return scan.make_pool(samples, labels, rng, n_jobs)


def make_pool(x, y, n_permutations=20, seed=0, n_jobs=1):
    """Return the pool of two samples."""
    return plan_pool(x, y, n_permutations, seed, n_jobs)[0]


def run_family(pool, planned, name):
    """Return what one family computed."""
    family = next(one for one in planned.families if one.name == name)
    return family.run(pool, planned.plans[name])


def products(pool, *scores):
    """Return the features that are products of these scores."""
    features = pool.requests.features
    return [one for one in features if isinstance(one, Product) and one.scores == scores]


def is_x(pool, e):
    """Return which rows carry the label x under permutation e, rows of X first."""
    labels = []
    for sample, count in enumerate(pool.labels.n_rows_of):
        bins, _ = pool.labels.of_rows(sample, 0, count)
        first = sample * pool.labels.n_bins_of[0]
        by_bin = pool.labels.labels[e, np.argsort(pool.labels.order)]
        own = by_bin[first : first + pool.labels.n_bins_of[sample]] > 0
        labels.append(np.append(own, sample == 0)[bins])
    return np.concatenate(labels)
