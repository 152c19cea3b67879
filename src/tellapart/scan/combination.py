"""One p-value from several families of statistics, all under one set of permutations.

p_k(e) is the p-value of statistic k (its cube root, which is closer to an exponential tail),
s_f(e) = log Σ_k 1/p_k(e) the score of a family, p_f(e) the p-value of that score, and

    C(e) = Σ_f w_f / p_f(e),        p = #{e : C(e) ≥ C(e₀)}/(B + 1).

All of it treats the true labels e₀ like every other permutation, so (C(e₀), …, C(e_B)) is
exchangeable under H₀ and P(p ≤ α) ≤ α in finite samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.scan.tails import rank_pvalues, tail_pvalues

# Combined values closer than this share are a tie: the exponential of a tail widens the
# differences of single-precision sums.
TIE = 1e-4


@dataclass(frozen=True)
class Combined:
    """The combination of all families under every permutation, the true labels first.

    Attributes
    ----------
    values : array
        log C(e).
    pvalues : mapping from family to float
        The valid p-value of each family by itself.
    """

    values: FloatArray
    pvalues: Mapping[str, float]


def family_score(statistics: FloatArray) -> FloatArray:
    """Return s_f = log Σ_k 1/p_k for statistics of shape (permutations, k).

    The smallest p_k decides, and others that are small, too, add to it.
    """
    pvalues = tail_pvalues(np.cbrt(np.maximum(statistics, 0.0)))
    return np.asarray(np.log((1 / pvalues).sum(axis=1)))


def combine(scores: Mapping[str, FloatArray], weights: Mapping[str, float]) -> Combined:
    """Combine the scores s_f of the families, each with its weight."""
    table = np.column_stack(list(scores.values()))
    ranks = rank_pvalues(table)[0]
    shares = np.array([weights[name] for name in scores])
    values = np.log((shares / tail_pvalues(table)).sum(axis=1))
    return Combined(values, dict(zip(scores, map(float, ranks), strict=True)))
