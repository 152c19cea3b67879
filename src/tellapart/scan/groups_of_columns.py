"""Pairs and triples that stand out: candidates, their scores, and step-down adjusted p-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.scan.adjusted import Named
from tellapart.scan.largest import Largest
from tellapart.scan.tails import tail_pvalue_of


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of product: its largest changes, and the score columns that each place stands for.

    `what` is the kind itself, for whoever describes a finding; kinds come from simple to less so.
    """

    what: Any
    largest: Largest
    score_columns: IntArray


@dataclass(frozen=True, eq=False)
class Candidate:
    """A pair or triple among those that changed most at the true labels.

    `rank` is the place of its kind, 0 for the simplest.
    """

    what: Any
    rank: int
    score_columns: tuple[int, ...]
    columns: tuple[int, ...]
    score: float


class GroupScores:
    """Scores −log p of pairs or triples, each kind against the maxima of what is left of it.

    `taken` holds, for every set of columns that was taken, its candidates, those of the simplest
    kind first, with the scores that they had then.
    """

    def __init__(self, kinds: Sequence[Kind], parent: IntArray) -> None:
        # A kind without any pair, or whose products never vary, has nothing to say.
        self._kinds = [kind for kind in kinds if kind.largest.values.any()]
        # Sets of columns by number, and that of every value kept; the last stands for none.
        members = [np.sort(parent[kind.score_columns], axis=1) for kind in self._kinds]
        found = np.unique(np.concatenate(members), axis=0, return_inverse=True) if members else None
        self._sets: IntArray = np.empty((0, 0), dtype=np.intp) if found is None else found[0]
        self._numbers: list[IntArray] = []
        if found is not None:
            ends = np.cumsum([len(own) for own in members])[:-1]
            numbers = np.split(found[1].reshape(-1), ends)
            for kind, own in zip(self._kinds, numbers, strict=True):
                self._numbers.append(np.append(own, len(self._sets))[kind.largest.places])
        self._gone = np.zeros(len(self._sets) + 1, dtype=np.bool_)
        self.taken: list[list[Candidate]] = []
        self._update()

    def maxima(self) -> FloatArray:
        """Return the largest score of what is left, under every permutation."""
        return self._maxima

    def strongest(self) -> float | None:
        """Return the largest score at the true labels; None if no candidate is left."""
        return self.candidates[0].score if self.candidates else None

    def take(self) -> None:
        """Leave out the columns of the strongest candidate, whatever the kind."""
        columns = self.candidates[0].columns
        own = [candidate for candidate in self.candidates if candidate.columns == columns]
        self.taken.append(sorted(own, key=lambda candidate: candidate.rank))
        self._gone[:-1] |= (self._sets == columns).all(axis=1)
        self._update()

    def named(self, named: Named, alpha: float) -> list[tuple[Candidate, float]]:
        """Return what was taken with its adjusted p-values, each set of columns once.

        Of several kinds of change of the same columns the simplest that alone would be named is.
        """
        told = []
        for own, pvalue, reference in zip(self.taken, named.pvalues, named.references, strict=True):
            pvalues = reference.pvalues(np.array([candidate.score for candidate in own]))
            pvalues = np.maximum(pvalues, pvalue)
            first = int(np.flatnonzero(pvalues <= alpha)[0])
            told.append((own[first], float(pvalues[first])))
        return told

    def _update(self) -> None:
        """Set the maxima and the candidates to those of what is left."""
        scores, every = [], []
        for rank, (kind, numbers) in enumerate(zip(self._kinds, self._numbers, strict=True)):
            gone = self._gone[numbers]
            maxima = _root(kind.largest.maximum_without(gone))
            scores.append(-np.log(tail_pvalue_of(maxima, maxima)))
            every += self._candidates(rank, gone[0], maxima)
        self._maxima = np.asarray(np.max(scores, axis=0)) if scores else np.empty(0)
        self.candidates = sorted(every, key=lambda candidate: -candidate.score)

    def _candidates(self, rank: int, gone: BoolArray, maxima: FloatArray) -> list[Candidate]:
        kind = self._kinds[rank]
        at = kind.largest.places[0]
        left = (at >= 0) & ~gone
        values = _root(kind.largest.values[0, left])
        scores = -np.log(tail_pvalue_of(values, maxima))
        return [
            Candidate(
                what=kind.what,
                rank=rank,
                score_columns=tuple(map(int, own)),
                columns=tuple(map(int, self._sets[number])),
                score=float(score),
            )
            for own, number, score in zip(
                kind.score_columns[at[left]], self._numbers[rank][0, left], scores, strict=True
            )
        ]


def _root(values: FloatArray | NDArray[np.float32]) -> FloatArray:
    return np.asarray(np.cbrt(values.astype(np.float64)))
