"""Adjusted p-values of columns, pairs and triples, from maxima over permutations.

The scores of a class (all columns, say) are compared with the largest of the class under every
permutation. The classes share one level: with P_c(e) the p-value of the maximum of class c among
all permutations (`tellapart.scan.tails.tail_pvalue_of`) and w_c its weight,

    adjusted p of a unit u of class c = #{e : min_c' P_c'(e)/w_c' ≤ p_u/w_c} / (B + 1),

p_u its place among the maxima of its class. Step by step, over all classes at once, the unit with
the least p_u/w_c is named and left out of the maximum of its class (Westfall and Young), and P is
that of what is left. Under H₀ the chance of any p ≤ α is at most α. Where some units differ, it
still is for the others once those that differ have been named: what is left is then treated alike
under all permutations, if the columns without a difference have the same joint distribution in
both samples. Until then a unit that differs stands out at the true labels alone, which makes one
maximum of its class the largest: how large it is does not enter P, so that it neither widens the
tail of its class nor lets another class name more than its share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.scan.permuted_tails import NOTHING
from tellapart.scan.tails import tail_pvalue_of

WEIGHTS = {
    "columns": 6.0,
    "others": 6.0,
    "pairs": 3.0,
    "triples": 1.0,
    "missing": 3.0,
    "values": 3.0,
}
TIE = 1e-4


class Units(Protocol):
    """The units of one class that are left, the strongest at the true labels first."""

    def strongest(self) -> float | None:
        """Return the largest score at the true labels of what may be named; None if nothing is."""
        ...

    def maxima(self) -> FloatArray:
        """Return the largest score of what is left, under every permutation.

        Scores may be relative to these, and change by this call.
        """
        ...

    def take(self) -> None:
        """Leave out the strongest unit."""
        ...


@dataclass(frozen=True, eq=False)
class Reference:
    """What the scores of one class are compared with at one step.

    Attributes
    ----------
    maxima : array of length B + 1
        The largest score of what is left of the class, under every permutation.
    share : float
        w_c, the share of the level that the class has.
    least : array of length B + 1
        min_c' P_c'(e)/w_c' of all classes, rising.
    """

    maxima: FloatArray
    share: float
    least: FloatArray

    def pvalues(self, scores: FloatArray) -> FloatArray:
        """Return the adjusted p-values of scores."""
        own = tail_pvalue_of(scores, self.maxima) / self.share
        counts = np.searchsorted(self.least, own * (1 + TIE), side="right")
        return np.asarray(np.maximum(counts, 1) / self.least.size)


@dataclass(eq=False)
class Named:
    """What was named of one class, the strongest first, and what the rest is compared with.

    Attributes
    ----------
    last : Reference
        That of the units that were not named.
    pvalues : list of float
        The adjusted p-values of the units that were.
    references : list of Reference
        What each of them was compared with.
    floor : float
        The largest of those p-values, over all classes: none of the rest is smaller.
    """

    last: Reference
    pvalues: list[float] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    floor: float = 0.0

    def rest(self, scores: FloatArray) -> FloatArray:
        """Return the adjusted p-values of units that were not named."""
        return np.asarray(np.maximum(self.last.pvalues(scores), self.floor))


def step_down(classes: Mapping[str, Units], alpha: float) -> dict[str, Named]:
    """Name the units of all classes whose adjusted p-value is at most alpha; see the module.

    The units are left without those that were named.
    """
    total = sum(WEIGHTS[name] for name in classes)
    shares = {name: WEIGHTS[name] / total for name in classes}
    maxima = {name: units.maxima() for name, units in classes.items()}
    weighted = {name: tail_pvalue_of(m, m) / shares[name] for name, m in maxima.items()}
    taken: dict[str, tuple[list[float], list[Reference]]] = {name: ([], []) for name in classes}
    floor = 0.0
    while True:
        least = np.sort(np.min(list(weighted.values()), axis=0))
        best, strongest = None, np.inf
        for name, units in classes.items():
            score = units.strongest()
            if score is None:
                continue
            own = float(tail_pvalue_of(np.array([score]), maxima[name])[0]) / shares[name]
            if own < strongest:
                best, strongest, at = name, own, score
        if best is None:
            break
        reference = Reference(maxima[best], shares[best], least)
        pvalue = float(reference.pvalues(np.array([at]))[0])
        if pvalue > alpha:
            break
        # What no permutation comes up to is named at once: it would be the same one by one, since
        # the maxima of what is left are no larger.
        while True:
            floor = max(floor, pvalue)
            taken[best][0].append(floor)
            taken[best][1].append(reference)
            classes[best].take()
            score = classes[best].strongest()
            if score is None or pvalue > 1 / least.size:
                break
            pvalue = float(reference.pvalues(np.array([score]))[0])
            if pvalue > 1 / least.size:
                break
        maxima[best] = classes[best].maxima()
        weighted[best] = tail_pvalue_of(maxima[best], maxima[best]) / shares[best]
    return {
        name: Named(Reference(maxima[name], shares[name], least), *taken[name], floor)
        for name in classes
    }


class TableUnits:
    """Units with a table of scores (permutations × units).

    `others` are the largest scores of further units under every permutation, none of which is
    larger than those of the table at the true labels. They are never left out.
    """

    def __init__(self, table: FloatArray, others: FloatArray | None = None) -> None:
        self.order = np.argsort(-table[0], kind="stable")
        self._scores = table[0, self.order]
        if others is None:
            others = np.full(table.shape[0], NOTHING)
        self._rest = rest_of(table[:, self.order], others)
        self._n_taken = 0

    def strongest(self) -> float | None:
        """Return the largest score at the true labels; None if all were taken."""
        return None if self._n_taken == self.order.size else float(self._scores[self._n_taken])

    def maxima(self) -> FloatArray:
        """Return the largest score of what is left, under every permutation."""
        return self._rest[:, self._n_taken]

    def take(self) -> None:
        """Leave out the strongest unit."""
        self._n_taken += 1

    def adjusted(self, named: Named) -> FloatArray:
        """Return the adjusted p-value of every unit of the table."""
        adjusted = np.empty(self.order.size)
        adjusted[self.order[: self._n_taken]] = named.pvalues
        adjusted[self.order[self._n_taken :]] = named.rest(self._scores[self._n_taken :])
        return adjusted


def rest_of(table: FloatArray, others: FloatArray) -> FloatArray:
    """Return, in each row, the largest of what is left after 0, 1, … of its entries are gone.

    `others` are never gone.

    >>> rest_of(np.array([[3.0, 5.0, 1.0]]), np.array([0.0])).tolist()
    [[5.0, 5.0, 1.0, 0.0]]
    """
    table = np.concatenate([table, others[:, np.newaxis]], axis=1)
    return np.asarray(np.maximum.accumulate(table[:, ::-1], axis=1)[:, ::-1])
