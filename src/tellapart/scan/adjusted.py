"""Adjusted p-values of columns, pairs and triples, from maxima over permutations.

The scores of a class (all columns, say) are compared with the largest of the class under every
permutation; step by step, what was named is left out of the maximum (Westfall and Young). The
classes share one level: with P_c(e) the p-value of the maximum of class c and w_c its weight,

    adjusted p of a unit u of class c = #{e : min_c' P_c'(e)/w_c' ≤ p_u/w_c} / (B + 1),

p_u its place among the maxima of its class. Under H₀ the chance of any p ≤ α is at most α; with
some differences it still is for what does not differ, where the columns without a difference have
the same joint distribution in both samples.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.scan.tails import tail_pvalue_of, tail_pvalues

WEIGHTS = {"columns": 6.0, "others": 6.0, "pairs": 3.0, "triples": 1.0, "missing": 3.0}
TIE = 1e-4


class Maxima:
    """The p-values of the largest score of each class under every permutation."""

    def __init__(self, largest: Mapping[str, FloatArray]) -> None:
        total = sum(WEIGHTS[name] for name in largest)
        self._shares = {name: WEIGHTS[name] / total for name in largest}
        self._weighted = {
            name: tail_pvalues(values[:, np.newaxis])[:, 0] / self._shares[name]
            for name, values in largest.items()
        }

    def adjusted(self, name: str, scores: FloatArray, rest: FloatArray) -> FloatArray:
        """Return the adjusted p-values of scores of class `name`.

        `rest` holds, for every permutation, the largest score of the class without what was named
        before.
        """
        share = self._shares[name]
        own = tail_pvalue_of(scores, rest) / share
        least = tail_pvalues(rest[:, np.newaxis])[:, 0] / share
        for other, values in self._weighted.items():
            if other != name:
                least = np.minimum(least, values)
        counts = np.searchsorted(np.sort(least), own * (1 + TIE), side="right")
        return np.asarray(np.maximum(counts, 1) / least.size)


def step_down(maxima: Maxima, name: str, table: FloatArray, alpha: float) -> FloatArray:
    """Return the adjusted p-value of every unit of a table of scores (permutations × units).

    From the first p-value above `alpha` on the maxima are no longer made smaller, which costs
    nothing below it: the p-values only become a little larger.
    """
    order = np.argsort(-table[0], kind="stable")
    sorted_scores = table[0, order]
    rest = np.maximum.accumulate(table[:, order[::-1]], axis=1)[:, ::-1]
    adjusted, largest, j = np.ones(order.size), 0.0, 0
    while j < order.size:
        largest = max(
            largest, float(maxima.adjusted(name, sorted_scores[j : j + 1], rest[:, j])[0])
        )
        adjusted[order[j]] = largest
        if largest > alpha:
            break
        j += 1
    if j < order.size:
        others = maxima.adjusted(name, sorted_scores[j:], rest[:, j])
        adjusted[order[j:]] = np.maximum(np.maximum.accumulate(others), largest)
    return adjusted
