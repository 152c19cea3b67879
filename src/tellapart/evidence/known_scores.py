"""Scores of rows that several choices share: what is known of them need not be made again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.evidence.pooled_ranks import PooledRanks
from tellapart.evidence.zscores import standardised
from tellapart.scan.scores import Scores, Singles
from tellapart.scan.units import FAR_OUT
from tellapart.scan.wide_scores import WideScores

FAR = "far"
"""How far a value lies beyond 1.8 spreads: a few outlying rows show best in it."""


@dataclass(frozen=True, eq=False)
class OtherColumns:
    """Columns of a wide table of which U is known, and no other score.

    Attributes
    ----------
    scores : WideScores
        U of these columns and others.
    places : array
        Where these stand among them.
    zscores : array
        The z-scores of U.
    """

    scores: WideScores
    places: IntArray
    zscores: FloatArray

    @property
    def columns(self) -> IntArray:
        """Their places among the columns of the samples."""
        return self.scores.columns[self.places]


@dataclass(frozen=True, eq=False)
class KnownScores:
    """The scores of all rows of two samples, made without labels, and their z-scores.

    Attributes
    ----------
    scores : Scores
        Of all rows, in an order of their own.
    order : array of length N
        Which of them are the rows of X, then those of Y.
    zscores : mapping from name to array
        Of every score column.
    constant : array
        Which columns of the samples do not vary.
    others : OtherColumns or None
        Columns that have no such scores.
    ranks : PooledRanks or None
        The rows in the order of every column that has such scores.
    """

    scores: Scores
    order: IntArray
    zscores: Mapping[str, FloatArray]
    constant: BoolArray
    others: OtherColumns | None = None
    ranks: PooledRanks | None = None

    @cached_property
    def of_samples(self) -> Scores:
        """U in the order of the samples."""
        return replace(self.scores, held={"normal": self.scores.normal[self.order]})

    def column(self, name: str, place: int) -> Singles:
        """Return one score of one score column, in the order of the samples."""
        if name != FAR:
            return np.asarray(self.scores.of(name)[self.order, place])
        beyond = np.abs(self.scores.clipped[self.order, place]) - np.float32(FAR_OUT)
        return standardised(np.maximum(beyond, 0)[:, np.newaxis])[:, 0]

    def other(self, place: int) -> Singles:
        """Return U of one of the other columns, in the order of the samples."""
        assert self.others is not None
        places = self.others.places[place : place + 1]
        return np.asarray(self.others.scores.dense(places)[self.order, 0])
