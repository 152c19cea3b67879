"""How strong the ridge of sparse logistic regression should be: cross-validation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray
from tellapart.baselines.sparse_logistic_problem import LogisticProblem
from tellapart.baselines.sparse_logistic_relaxation import solve_relaxation
from tellapart.strs.base import truncate
from tellapart.strs.control import Control

SCALED_GAMMAS = (0.1, 1.0, 10.0, 100.0)
"""γ times the number of rows: the ridge beside the mean loss is ‖w‖²/2 over this."""
FOLDS = 3


def choose_gamma(problem: LogisticProblem, rng: np.random.Generator) -> float:
    """Return the γ of least held-out logistic loss; a tie goes to the stronger ridge.

    Supports are the relaxation's, rounded: quick, and close to those of the whole search.
    """
    folds = _folds(problem.signs, rng)
    losses = [
        sum(_held_out_loss(problem, scaled_gamma, folds == k) for k in range(int(folds.max()) + 1))
        for scaled_gamma in SCALED_GAMMAS
    ]
    return SCALED_GAMMAS[int(np.argmin(losses))] / len(problem.signs)


def _held_out_loss(
    problem: LogisticProblem, scaled_gamma: float, held_out: NDArray[np.bool_]
) -> float:
    x, signs = problem.x[~held_out], problem.signs[~held_out]
    train = replace(problem, x=x, signs=signs, gamma=scaled_gamma / signs.shape[0])
    support = truncate(solve_relaxation(train, Control()).q, problem.d)
    fit = train.on_support(support)
    scores = problem.x[held_out][:, support] @ fit.weights + fit.intercept
    return replace(problem, signs=problem.signs[held_out]).loss(scores)


def _folds(signs: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return the fold of every row, with an equal share of both samples in each."""
    sides = [np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)]
    count = min(FOLDS, *(side.shape[0] for side in sides))
    folds = np.zeros(signs.shape[0], dtype=np.intp)
    for side in sides:
        folds[rng.permutation(side)] = np.arange(side.shape[0]) % count
    return folds
