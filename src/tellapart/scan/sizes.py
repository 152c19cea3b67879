"""How much a few columns, pairs and triples differ, by their rows alone, without permutations.

A column can change in several aspects: its mean, its spread, the share of a level, the forms of its
shape; a pair in several correlations, a triple in two products. Each aspect has an effect with a
bootstrap interval (`tellapart.scan.effects`). Where it is open which aspect to tell of, it is the
one whose effect is the most widths of its interval away from none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tellapart.data.chunks.chunked_samples import in_chunks
from tellapart.data.chunks.fold import block_rows
from tellapart.data.samples import Samples
from tellapart.permutation.designed_bins import draw_bins_of
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.scan.bin_sums import BinSums
from tellapart.scan.describe import Describer
from tellapart.scan.families import pair as pair_family
from tellapart.scan.families.correlation import CORRELATED, ProductKind
from tellapart.scan.families.missingness import asked_missing
from tellapart.scan.families.triple import SCORES
from tellapart.scan.finding import LOCATION, MISSING, SHAPE, SHARE, SPREAD, Finding
from tellapart.scan.groups_of_columns import Candidate
from tellapart.scan.outline import OUTLINED, Outline
from tellapart.scan.pool import Pool
from tellapart.scan.requests import Pairs, ProductOfThree, Requests, Triples
from tellapart.scan.scores import score_rows
from tellapart.scan.sums import Sums
from tellapart.scan.tables import Tables, tables_of
from tellapart.threads import one_blas_thread

UNTESTED = math.nan
"""The p-value of a size that no test was made of."""
PAIR_KINDS = (CORRELATED, *pair_family.KINDS)
LEAST_WIDTH = 1e-12

Aspect = tuple[str, str | int]
"""Which kind of change, and of what: a level, a form of shape, a product and its order."""
Aspects = dict[Aspect, Callable[[], Finding]]
"""What can be told, and what tells it."""


class Sizes:
    """Sizes of the changes of some columns of two samples, and of groups of them.

    Parameters
    ----------
    samples : Samples
        The rows.
    columns : sequence of int
        The columns to tell of, those of all groups among them.
    groups : sequence of tuples of int
        Pairs and triples of them.
    rng : numpy Generator
        Draws the resamples of the intervals.
    labels : KeyedBins or None
        The bins to draw, where these are known.
    like : Describer or None
        Whoever has drawn them already.
    """

    def __init__(
        self,
        samples: Samples,
        columns: Sequence[int],
        groups: Sequence[tuple[int, ...]],
        rng: np.random.Generator,
        labels: KeyedBins | None = None,
        like: Describer | None = None,
    ) -> None:
        self._place = {column: place for place, column in enumerate(columns)}
        rows = in_chunks(samples.columns(list(columns)))
        labels = labels or draw_bins_of(rows, 1, rng)
        pooled = Outline.of(rows)
        self._tables = tables_of(rows, pooled)
        requests = replace(self._requests(groups), missing=asked_missing(rows))
        if requests.missing is not None:
            requests.count_present()
        bins, step = labels.without_labels(), block_rows(self._tables.size)
        with one_blas_thread():
            x, y = (
                store.fold(BinSums(self._tables, bins, requests, sample), step)
                for sample, store in enumerate((rows.x, rows.y))
            )
        outline = score_rows(self._tables, pooled.values[:0], 1, OUTLINED)
        x.adjust_with(y, labels)
        sums = Sums(x, y, labels.full, requests.present_of)
        pool = Pool(self._tables, outline, labels, requests, sums)
        self._describer = Describer(rows.names, pool, rng, like)

    def aspects(self, columns: tuple[int, ...], kinds: Sequence[str] = ()) -> Aspects:
        """Return what can be told of one, two or three columns.

        Of one column what is of these kinds, the share of a level counting as location, and
        nothing where it never varies; of several their dependence, and nothing of categories.
        """
        if len(columns) == 1:
            return self._of_column(columns[0], kinds)
        members = [self._numeric(column) for column in columns]
        scores = tuple(score for score in members if score is not None)
        if len(scores) < len(columns):
            return {}
        if len(columns) == 3:
            return {(what, ""): self._joint(what, columns, scores) for what in SCORES}
        found: Aspects = {}
        for kind in PAIR_KINDS:
            orders = [scores] if kind.first == kind.second else [scores, scores[::-1]]
            for order, own in enumerate(orders):
                found[kind.name, order] = self._joint(kind, columns, own)
        return found

    def _of_column(self, column: int, kinds: Sequence[str]) -> Aspects:
        tables, found = self._tables, Aspects()
        missed = self._describer.missing_place(self._place[column])
        if MISSING in kinds and missed is not None:
            found[MISSING, ""] = lambda: self._describer.missing(missed, UNTESTED)
            return found
        for score in self._scores(column):
            level = tables.level[score]
            shapeless = bool(tables.shapeless[score])
            if level is not None:
                found[SHARE, level] = self._single(score, SHARE)
            elif LOCATION in kinds or shapeless:
                found[LOCATION, ""] = self._single(score, LOCATION)
            if SPREAD in kinds and not shapeless:
                found[SPREAD, ""] = self._single(score, SPREAD)
            if SHAPE in kinds and not shapeless:
                for shape in _shapes(tables, score):
                    found[SHAPE, shape] = self._single(score, SHAPE, shape)
        return found

    def _single(self, score: int, kind: str, shape: str = "") -> Callable[[], Finding]:
        return lambda: self._describer.score_column(score, kind, UNTESTED, shape)

    def _joint(
        self, what: ProductKind | str, columns: tuple[int, ...], scores: tuple[int, ...]
    ) -> Callable[[], Finding]:
        candidate = Candidate(what, 0, scores, columns, 0.0)
        if len(scores) == 2:
            return lambda: self._describer.pair(candidate, UNTESTED)
        return lambda: self._describer.triple(candidate, UNTESTED)

    def _scores(self, column: int) -> list[int]:
        place = self._place[column]
        return [int(score) for score in np.flatnonzero(self._tables.column == place)]

    def _numeric(self, column: int) -> int | None:
        scores = self._scores(column)
        numeric = len(scores) == 1 and self._tables.level[scores[0]] is None
        return scores[0] if numeric else None

    def _requests(self, groups: Sequence[tuple[int, ...]]) -> Requests:
        """Ask for the products of the groups whose columns are numeric and vary."""
        requests = Requests()
        members = [[self._numeric(column) for column in group] for group in groups]
        usable = [scores for scores in members if None not in scores]
        two = np.array([s for s in usable if len(s) == 2], dtype=np.intp).reshape(-1, 2)
        three = np.array([s for s in usable if len(s) == 3], dtype=np.intp).reshape(-1, 3)
        if two.size:
            for kind in PAIR_KINDS:
                pairs = pair_family.pairs_of(kind, Pairs(two[:, 0], two[:, 1]))
                requests.pairs[kind.name] = kind.of(pairs)
        if three.size:
            triples = Triples(*three.T)
            for what, score in SCORES.items():
                requests.triples[what] = ProductOfThree(score, triples)
        return requests


def strongest(aspects: Aspects) -> tuple[Aspect, Finding] | None:
    """Return the aspect that shows the most, with its size; None of none."""
    told = [(aspect, describe()) for aspect, describe in aspects.items()]
    return max(told, key=lambda one: clearness(one[1]), default=None)


def clearness(found: Finding) -> float:
    """Return how many widths of its interval an effect is away from none.

    >>> clearness(Finding("location", ("age",), 0.01, -0.4, (-0.5, -0.3), (1, 2), "mean"))
    2.0
    """
    low, high = found.interval
    effect = found.effect
    if found.kind == SPREAD:
        if min(low, effect) <= 0:
            return math.inf
        low, high, effect = math.log(low), math.log(high), math.log(effect)
    return round(abs(effect) / max(high - low, LEAST_WIDTH), 12)


def _shapes(tables: Tables, score: int) -> list[str]:
    frequent = not math.isnan(float(tables.frequent[score]))
    return ["skewness", "kurtosis", *(["atom"] if frequent else [])]
