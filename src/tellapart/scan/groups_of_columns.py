"""Pairs and triples that stand out: candidates, their scores, and step-down adjusted p-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray
from tellapart.scan.adjusted import Maxima
from tellapart.scan.largest import Largest
from tellapart.scan.tails import tail_pvalue_of, tail_pvalues


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
    """Scores −log p of pairs or triples, each kind against its own maxima."""

    def __init__(self, kinds: Sequence[Kind], parent: IntArray) -> None:
        # A kind without any pair, or whose products never vary, has nothing to say.
        self._kinds = [kind for kind in kinds if kind.largest.values.any()]
        self._maxima = [_root(kind.largest.maximum()) for kind in self._kinds]
        self._parent = parent
        every = [c for place in range(len(self._kinds)) for c in self._candidates(place)]
        self.candidates = sorted(every, key=lambda candidate: -candidate.score)

    def largest(self) -> FloatArray:
        """Return the largest score of all under every permutation."""
        scores = [-np.log(tail_pvalues(m[:, np.newaxis])[:, 0]) for m in self._maxima]
        return np.asarray(np.max(scores, axis=0))

    def rest(self, named: set[tuple[int, ...]]) -> FloatArray:
        """Return the largest score under every permutation without the columns named."""
        if not named:
            return self.largest()
        scores = []
        for kind, maxima in zip(self._kinds, self._maxima, strict=True):
            held = np.unique(kind.largest.places)
            held = held[held >= 0]
            members = np.sort(self._parent[kind.score_columns[held]], axis=1)
            out = held[[tuple(member) in named for member in members.tolist()]]
            values = _root(kind.largest.maximum_without(out))
            scores.append(-np.log(tail_pvalue_of(values, maxima)))
        return np.asarray(np.max(scores, axis=0))

    def _candidates(self, place: int) -> list[Candidate]:
        kind = self._kinds[place]
        at = kind.largest.places[0]
        used = at >= 0
        values = _root(kind.largest.values[0, used])
        scores = -np.log(tail_pvalue_of(values, self._maxima[place]))
        columns = kind.score_columns[at[used]]
        return [
            Candidate(
                what=kind.what,
                rank=place,
                score_columns=tuple(map(int, own)),
                columns=tuple(sorted(map(int, self._parent[own]))),
                score=float(score),
            )
            for own, score in zip(columns, scores, strict=True)
        ]


def name_groups(
    maxima: Maxima, name: str, scores: GroupScores, alpha: float
) -> list[tuple[Candidate, float]]:
    """Return the candidates with an adjusted p-value of at most alpha, each set of columns once.

    What was named is left out of the maxima, and the others are looked at again until no more are
    named. Of several kinds of change of the same columns the first kind, the simplest, names it.
    """
    named: dict[tuple[int, ...], tuple[Candidate, float]] = {}
    floor = 0.0
    while True:
        left = [c for c in scores.candidates if c.columns not in named]
        if not left:
            break
        values = np.array([candidate.score for candidate in left])
        pvalues = maxima.adjusted(name, values, scores.rest(set(named)))
        new: dict[tuple[int, ...], tuple[Candidate, float]] = {}
        for candidate, pvalue in zip(left, np.maximum(pvalues, floor).tolist(), strict=True):
            if pvalue > alpha:
                continue
            before = new.get(candidate.columns)
            if before is None or candidate.rank < before[0].rank:
                new[candidate.columns] = (candidate, pvalue)
        if not new:
            break
        named.update(new)
        floor = max(pvalue for _, pvalue in new.values())
    return list(named.values())


def _root(values: FloatArray | NDArray[np.float32]) -> FloatArray:
    return np.asarray(np.cbrt(values.astype(np.float64)))
