"""Adjusted p-values of columns, pairs and triples, from maxima over permutations.

The scores of a class (all columns, say) are compared with the largest of the class under every
permutation. The classes share one level: with P_c(e) the p-value of the maximum of class c among
all permutations (`tellapart.scan.tails.tail_pvalue_of`) and w_c its weight,

    adjusted p of a unit u of class c = #{e : min_c' P_c'(e)/w_c' ≤ p_u/w_c} / (B + 1),

p_u its place among the maxima of its class. Step by step, over all classes at once, the unit with
the least p_u/w_c is named and left out of the maximum of its class (Westfall and Young), and P is
that of what is left. Under H₀ the probability of any p ≤ α is at most α. Where some units differ,
it still is for the others once those that differ have been named: what is left is then treated
alike under all permutations, if the columns without a difference have the same joint distribution
in both samples. Until then a unit that differs stands out at the true labels alone, which makes one
maximum of its class the largest: how large it is does not enter P, so that it neither widens the
tail of its class nor lets another class name more than its share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.scan.family import GroupCandidates
from tellapart.scan.pool import Remaining
from tellapart.scan.tails import NOTHING, tail_pvalue_of

WEIGHTS = {
    "columns": 16.0,
    "others": 16.0,
    "pairs": 3.0,
    "triples": 1.0,
    "missing": 6.0,
    "values": 6.0,
    "joint": 3.0,
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
        weighted = tail_pvalue_of(scores, self.maxima) / self.share
        counts = np.searchsorted(self.least, weighted * (1 + TIE), side="right")
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
    if not classes:
        return {}
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
            weighted_pvalue = (
                float(tail_pvalue_of(np.array([score]), maxima[name])[0]) / shares[name]
            )
            if weighted_pvalue < strongest:
                best, strongest, at = name, weighted_pvalue, score
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


# Pairs and triples that stand out: candidates, their scores, and step-down adjusted p-values.


@dataclass(frozen=True, eq=False)
class Candidate:
    """A pair or triple among those that changed most at the true labels.

    `rank` is that of its kind, 0 for the simplest.
    """

    what: Any
    rank: int
    score_columns: tuple[int, ...]
    columns: tuple[int, ...]
    score: float


class GroupScores:
    """Scores −log p of pairs or triples, each kind against the maxima of what is left of it.

    What is left is that at the last call of `maxima`, until which sets that were taken still count.
    `taken` holds, for every set of columns that was taken, its candidates, those of the simplest
    kind first, with the scores that they had then.
    """

    def __init__(self, kinds: Sequence[GroupCandidates], parent: IntArray) -> None:
        # A kind without any pair, or whose products never vary, is left out.
        kinds = [kind for kind in kinds if kind.largest.values.any()]
        # One number for each set of columns; only those of candidates are ever left out.
        self._base = int(parent.max(initial=0)) + 1
        codes = [self._codes(parent[kind.score_columns]) for kind in kinds]
        most = current_budget().named_groups
        strongest = [kind.largest.strongest(most) for kind in kinds]
        candidate_codes = [code[places] for code, places in zip(codes, strongest, strict=True)]
        self._sets = (
            np.unique(np.concatenate(candidate_codes))
            if candidate_codes
            else np.empty(0, dtype=np.intp)
        )
        self._gone = np.zeros(self._sets.size + 1, dtype=np.bool_)
        self._parent = parent
        self._kinds = [
            _RemainingCandidates(rank, kind, code, places, self._sets)
            for rank, (kind, code, places) in enumerate(zip(kinds, codes, strongest, strict=True))
        ]
        self.taken: list[list[Candidate]] = []

    @property
    def candidates(self) -> bool:
        """Whether anything may be named."""
        return self.strongest() is not None

    def maxima(self) -> FloatArray:
        """Return the largest score of what is left, under every permutation."""
        if not self._kinds:
            return np.empty(0)
        for kind in self._kinds:
            kind.update(self._gone)
        return np.asarray(np.max([kind.maximum_scores for kind in self._kinds], axis=0))

    def strongest(self) -> float | None:
        """Return the largest score at the true labels; None if no candidate is left."""
        score = max((kind.best[0] for kind in self._kinds), default=-np.inf)
        return score if np.isfinite(score) else None

    def take(self) -> None:
        """Leave out the columns of the strongest candidate, whatever the kind."""
        number = max((kind.best for kind in self._kinds), key=lambda best: best[0])[1]
        self.taken.append(
            [candidate for kind in self._kinds for candidate in kind.of_set(number, self._parent)]
        )
        self._gone[number] = True
        for kind in self._kinds:
            kind.skip(self._gone)

    def named(self, named: Named, alpha: float) -> list[tuple[Candidate, float]]:
        """Return what was taken with its adjusted p-values, each set of columns once.

        Of several kinds of change of the same columns the simplest that alone would be named is.
        """
        reported = []
        for candidates, pvalue, reference in zip(
            self.taken, named.pvalues, named.references, strict=True
        ):
            pvalues = reference.pvalues(np.array([candidate.score for candidate in candidates]))
            pvalues = np.maximum(pvalues, pvalue)
            first = int(np.flatnonzero(pvalues <= alpha)[0])
            reported.append((candidates[first], float(pvalues[first])))
        return reported

    def n_unlisted(self, named: Named, alpha: float) -> int:
        """Return how many more sets of columns are significant than may be named.

        They are those beyond `Budget.named_groups`, by the reference of what was not named.
        """
        more: list[IntArray] = []
        for kind in self._kinds:
            codes, scores = kind.others(self._sets)
            more.append(codes[named.rest(scores) <= alpha])
        return int(np.unique(np.concatenate(more)).size) if more else 0

    def _codes(self, members: IntArray) -> IntArray:
        """Return one number for each set of columns."""
        powers = self._base ** np.arange(members.shape[1], dtype=np.int64)
        return np.asarray(np.sort(members, axis=1) @ powers)


class _RemainingCandidates:
    """What is left of one kind: its candidates, the strongest first, and its maxima.

    `codes` are those of the set of columns of every place, `sets` those of all candidates, rising.
    `best` is the largest score of what is left at the true labels, and the number of its set of
    columns; `maximum_scores` are the largest scores under every permutation.
    """

    best: tuple[float, int]
    maximum_scores: FloatArray

    def __init__(
        self, rank: int, kind: GroupCandidates, codes: IntArray, strongest: IntArray, sets: IntArray
    ) -> None:
        self._rank, self._kind, self._codes, self._strongest = rank, kind, codes, strongest
        at = np.searchsorted(sets, codes)
        # Sets that are never left out share the last number.
        is_candidate = np.append(sets, -1)[at] == codes
        numbers = np.append(np.where(is_candidate, at, sets.size), sets.size)
        largest = kind.largest
        self._numbers = numbers[strongest]
        self._values = _root(largest.observed[strongest])
        self._first = 0
        self._left = Remaining(largest.values, numbers[largest.places])
        self._compare()

    def skip(self, gone: BoolArray) -> None:
        """Pass over the candidates that are gone, with the maxima as they are."""
        first = self._first
        while self._first < self._numbers.size and gone[self._numbers[self._first]]:
            self._first += 1
        if first < self._first:
            self._rate()

    def update(self, gone: BoolArray) -> None:
        """Set the maxima to those of what is left."""
        if self._left.leave_out(gone) or self._rated < self._first:
            self._compare()

    def of_set(self, number: int, parent: IntArray) -> list[Candidate]:
        """Return the candidates of one set of columns, with their scores."""
        at = np.flatnonzero(self._numbers == number)
        members = self._kind.score_columns[self._strongest[at]].tolist()
        scores = self._scores(self._values[at]).tolist() if at.size else []
        return [
            Candidate(
                what=self._kind.kind,
                rank=self._rank,
                score_columns=tuple(score_columns),
                columns=tuple(sorted(parent[score_columns].tolist())),
                score=score,
            )
            for score_columns, score in zip(members, scores, strict=True)
        ]

    def others(self, sets: IntArray) -> tuple[IntArray, FloatArray]:
        """Return the codes and scores of all sets of columns that are no candidates."""
        other = np.flatnonzero((self._kind.largest.observed > 0) & ~np.isin(self._codes, sets))
        return self._codes[other], self._scores(_root(self._kind.largest.observed[other]))

    def _compare(self) -> None:
        self._maxima, self._rated = _root(self._left.maxima), self._first
        if self._first < self._numbers.size:
            # All candidates are known at the true labels, whatever was kept of permutations.
            self._maxima[0] = self._values[self._first]
        self.maximum_scores = self._scores(self._maxima)
        self._rate()

    def _rate(self) -> None:
        """Find the best candidate."""
        self.best = -np.inf, -1
        if self._first < self._numbers.size:
            score = self._scores(self._values[self._first : self._first + 1])
            self.best = float(score[0]), int(self._numbers[self._first])

    def _scores(self, values: FloatArray) -> FloatArray:
        # Far beyond maxima that hardly vary a tail underflows to 0.
        pvalues = np.maximum(tail_pvalue_of(values, self._maxima), np.finfo(np.float64).tiny)
        return np.asarray(-np.log(pvalues))


def _root(values: FloatArray | NDArray[np.float32]) -> FloatArray:
    return np.asarray(np.cbrt(values.astype(np.float64)))
