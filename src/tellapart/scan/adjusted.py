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


def step_down(
    maxima: Maxima,
    name: str,
    table: FloatArray,
    alpha: float,
    others: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """Return the adjusted p-value of every unit of a table of scores (permutations × units).

    From the first p-value above `alpha` on the maxima are no longer made smaller, which costs
    nothing below it: the p-values only become a little larger. `others` are the scores of further
    units at the true labels, none larger than those of the table, and the largest of them under
    every permutation; their p-values follow those of the table.
    """
    order = np.argsort(-table[0], kind="stable")
    sorted_scores = table[0, order]
    rest = rest_of(table[:, order], None if others is None else others[1])
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
        further = maxima.adjusted(name, sorted_scores[j:], rest[:, j])
        adjusted[order[j:]] = np.maximum(np.maximum.accumulate(further), largest)
    if others is None:
        return adjusted
    # A smaller score has a larger p-value: one look at the same maxima keeps their order.
    of_others = maxima.adjusted(name, others[0], rest[:, j])
    return np.append(adjusted, np.maximum(of_others, adjusted.max(initial=largest)))


def rest_of(table: FloatArray, others: FloatArray | None = None) -> FloatArray:
    """Return, in each row, the largest of what is left after 0, 1, … of its entries are gone.

    With `others`, which are never gone, that of all entries being gone comes last.

    >>> rest_of(np.array([[3.0, 5.0, 1.0]])).tolist()
    [[5.0, 5.0, 1.0]]
    """
    if others is not None:
        table = np.concatenate([table, others[:, np.newaxis]], axis=1)
    return np.asarray(np.maximum.accumulate(table[:, ::-1], axis=1)[:, ::-1])
