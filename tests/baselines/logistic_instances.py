"""Small problems of sparse logistic regression, and all their supports."""

import itertools

import numpy as np

from tellapart.baselines.sparse_logistic_problem import LogisticProblem


def make_problem(seed, n_x=25, n_y=15, size=7, d=3, gamma=0.3, shift=1.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_x + n_y, size))
    x[:n_x, :2] += shift
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return LogisticProblem(x, np.repeat([1.0, -1.0], [n_x, n_y]), gamma, d)


def supports(problem):
    return [np.array(s) for s in itertools.combinations(range(problem.n_columns), problem.d)]


def marks(problem, support):
    q = np.zeros(problem.n_columns)
    q[support] = 1.0
    return q
