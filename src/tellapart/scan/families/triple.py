"""Triple: three columns whose product changes, though no two of them do.

With standardised scores a, b, c the change is that of the third joint cumulant within the samples,

    κ = E[abc] − E[a]E[bc] − E[b]E[ac] − E[c]E[ab] + 2E[a]E[b]E[c],

over the deviation of abc in the pooled rows: shifts and correlations do not count. The scores are
signs about the median, and ranks. The statistics: the largest square of the signs over all triples,
and of either over the triples that stand out in the pooled rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import Budget
from tellapart.interrupts import check_interrupts
from tellapart.scan.family import (
    Family,
    FamilyPlan,
    FamilyResult,
    GroupCandidates,
    ScanState,
    Skipped,
    columns_for_triples,
)
from tellapart.scan.features import Pairs, Product, Segments, Triples, add_triples
from tellapart.scan.loops import cumulant_changes, present_cumulant_changes
from tellapart.scan.pool import Largest, Pool
from tellapart.scan.scores import Scores
from tellapart.scan.sums import CumulantSums

# Values kept of each permutation, for the maxima of what is not named.
MANY_KEPT = 8
# Columns with almost all rows at one value are left out: products of three rare values are a
# matter of single rows.
MOST_KURTOSIS = 8.0
# A product that varies less than this is constant.
LEAST_VARIANCE = 1e-6
# Triples that stand out in the pooled rows and are looked at apart.
SCREENED = 200
# All triples take part of what a family can afford: those that stand out come on top.
SHARE = 3


@dataclass(frozen=True, eq=False)
class TripleGroup:
    """Triples to look at by one score, found without labels.

    Attributes
    ----------
    score : str
        "signs" or "ranks".
    triples : Triples
        The triples.
    scale : array
        1/deviation of abc in the pooled rows; 0 where it hardly varies.
    opposite : three arrays
        Where bc, ac and ab of each triple stand among the pairs.
    products, pairs : Product
        What is summed: abc of all triples, or of more than these, and every ab that occurs.
    within : array or None
        Where the triples stand among those of `products`; None where they are the same.
    """

    score: str
    triples: Triples
    scale: Singles
    opposite: tuple[IntArray, IntArray, IntArray]
    products: Product
    pairs: Product
    within: IntArray | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class TriplePlan(FamilyPlan):
    """The triples to look at, in groups."""

    groups: tuple[TripleGroup, ...]


class Triple(Family):
    """Three columns whose product changes, though no two of them do."""

    name = "triple"
    weight = 0.5
    description = "three-way interactions that no pair of the columns shows"
    work = 7
    fewest_rows = 8

    def plan(self, state: ScanState, budget: Budget) -> TriplePlan | Skipped:
        """Look at all triples of some columns, and at those that stand out among more columns."""
        dependence, scores = state.dependence, state.scores
        columns = dependence.most(columns_for_triples(state.affordable(budget, SHARE)))
        triples = all_triples(columns, scores.column)
        needed = None if triples.size else "three columns that vary"
        reason = state.why_skipped(self.fewest_rows, needed)
        if reason is not None:
            return Skipped(reason)
        most = screening_columns(scores.normal.shape[0], budget) * state.effort ** (1 / 3)
        groups = plan_triples(scores, triples, dependence.most(int(most)))
        return TriplePlan(
            features=tuple(f for group in groups for f in (group.products, group.pairs)),
            note=state.screening_note("triples", columns, state.n_varying),
            groups=groups,
        )

    def run(self, contrasts: Pool, plan: TriplePlan) -> FamilyResult:
        """Return the largest change of every group."""
        candidates: list[GroupCandidates] = []
        for group in plan.groups:
            kept = Largest.empty(contrasts.count, MANY_KEPT, group.triples.size)
            _each_triple(contrasts, group, kept)
            members = np.column_stack(group.triples)
            candidates.append(GroupCandidates(group.score, kept, members))
        largest = [one.largest.maximum() for one in candidates]
        return FamilyResult(np.column_stack(largest).astype(np.float64), tuple(candidates))


SCORES = {"signs": "sign", "ranks": "rank"}
"""What triples and fours are made of, and the scores of `tellapart.scan.cells` that it is."""


def usable_scores(outline: Scores, name: str) -> Singles:
    """Return signs or ranks of the pooled rows, 0 where one value makes up nearly all of them."""
    scores = outline.of(SCORES[name])
    return np.asarray(scores * (np.square(np.square(scores)).mean(axis=0) <= MOST_KURTOSIS))


def all_triples(columns: IntArray, parent: IntArray) -> Triples:
    """Return the triples of these score columns, no two of them levels of one column."""
    i, j, k = _triangle(columns.size)
    s, t, u = columns[i], columns[j], columns[k]
    apart = (parent[s] != parent[t]) & (parent[t] != parent[u]) & (parent[s] != parent[u])
    return Triples(s[apart], t[apart], u[apart])


def _triangle(size: int) -> tuple[IntArray, IntArray, IntArray]:
    i, j = np.triu_indices(size, 1)
    repeats = size - 1 - j
    first = np.repeat(i, repeats)
    second = np.repeat(j, repeats)
    starts = np.cumsum(repeats) - repeats
    third = np.arange(first.size) - np.repeat(starts, repeats) + second + 1
    return first, second, third


def plan_triples(outline: Scores, triples: Triples, wider: IntArray) -> tuple[TripleGroup, ...]:
    """Return what to look at: `triples`, and those that stand out among more columns, `wider`."""
    groups: list[TripleGroup] = []
    present = outline.present
    for name in SCORES:
        values = usable_scores(outline, name)
        chosen = screened_triples(values, wider, outline.column)
        # Signs see most of what ranks see, at half the cost of looking at all triples by both.
        if name == "signs":
            groups.append(_group(name, values, present, triples))
            groups.append(_some_of(groups[-1], chosen) or _group(name, values, present, chosen))
        else:
            groups.append(_group(name, values, present, chosen))
    return tuple(groups)


def _some_of(group: TripleGroup, chosen: Triples) -> TripleGroup | None:
    """Return a group of some of the triples of another one, if all of them are there."""
    size = max((int(c.max()) + 1 for c in group.triples if c.size), default=1)
    codes, wanted = (
        (triples.s * size + triples.t) * size + triples.u for triples in (group.triples, chosen)
    )
    order = np.argsort(codes, kind="stable")
    places = np.searchsorted(codes[order], wanted)
    if codes.size == 0 or (places == codes.size).any() or (codes[order[places]] != wanted).any():
        return None
    within = order[places]
    tu, su, st = (member[within] for member in group.opposite)
    return replace(
        group, triples=chosen, scale=group.scale[within], opposite=(tu, su, st), within=within
    )


def _group(score: str, values: Singles, present: Singles | None, triples: Triples) -> TripleGroup:
    s, t, u = triples
    size = values.shape[1]
    codes = np.concatenate([a * size + b for a, b in ((t, u), (s, u), (s, t))])
    distinct, place = np.unique(codes, return_inverse=True)
    tu, su, st = place.reshape(3, -1)
    name = SCORES[score]
    return TripleGroup(
        score=score,
        triples=triples,
        scale=_scale(values, present, triples),
        opposite=(tu, su, st),
        products=Product((name,) * 3, triples),
        pairs=Product((name,) * 2, Pairs(distinct // size, distinct % size)),
    )


def _scale(values: Singles, present: Singles | None, triples: Triples) -> Singles:
    """Return 1/deviation of the products over the pooled rows, 0 for what hardly varies.

    Where values are missing, of the rows that have all three.
    """
    whole = Segments(np.array([0, values.shape[0]]), np.array([0]))

    def total(scores: Singles) -> FloatArray:
        sums = np.zeros((1, triples.size), dtype=np.float32)
        if triples.size:
            add_triples(triples, np.ascontiguousarray(scores.T), whole, sums)
        return np.asarray(sums[0], dtype=np.float64)

    rows = values.shape[0] if present is None else np.maximum(total(present), 1.0)
    moments = [total(scores) / rows for scores in (values, np.square(values))]
    variance = moments[1] - np.square(moments[0])
    scale = np.where(variance > LEAST_VARIANCE, 1 / np.sqrt(np.maximum(variance, 1e-12)), 0.0)
    return np.asarray(scale, dtype=np.float32)


def screening_columns(n_rows: int, budget: Budget) -> int:
    """Return how many columns can be screened for triples: N·P³ multiplications."""
    by_work = int((budget.triple_screening_products / n_rows) ** (1 / 3))
    return min(by_work, budget.triple_screening_columns)


def screened_triples(values: Singles, columns: IntArray, parent: IntArray) -> Triples:
    """Return the triples whose mean product over the pooled rows is largest."""
    used = np.ascontiguousarray(values[:, columns])
    source = parent[columns]
    strongest: list[tuple[FloatArray, IntArray, IntArray, IntArray]] = []
    second, third = np.triu_indices(columns.size, 1)
    distinct = source[second] != source[third]
    for i in range(columns.size - 2):
        check_interrupts()
        later = used[:, i + 1 :]
        # mean(a_i a_j a_k) for all i < j < k: one product of matrices for each i.
        products = (later * used[:, i : i + 1]).T @ later
        pairs = slice(int(np.searchsorted(second, i + 1)), None)
        j, k = second[pairs], third[pairs]
        strength = np.abs(products[j - i - 1, k - i - 1]) / used.shape[0]
        strength[~(distinct[pairs] & (source[j] != source[i]) & (source[k] != source[i]))] = 0.0
        if strength.size > SCREENED:
            top = np.argpartition(-strength, SCREENED)[:SCREENED]
            j, k, strength = j[top], k[top], strength[top]
        strongest.append((strength, np.full(j.size, i), j, k))
    if not strongest:
        none = np.zeros(0, dtype=np.intp)
        return Triples(none, none, none)
    strength, first, second, third = map(np.concatenate, zip(*strongest, strict=True))
    best = np.argsort(-strength, kind="stable")[:SCREENED]
    best = best[strength[best] > 0]
    return Triples(columns[first[best]], columns[second[best]], columns[third[best]])


def _each_triple(pool: Pool, group: TripleGroup, kept: Largest) -> None:
    """Take the changes of all triples of a group into `kept`."""
    if group.triples.size == 0:
        return
    sums = pool.sums.feature(group.products)
    if group.within is not None:
        sums = sums.some(group.within)
    plain, pairs = pool.sums.of(SCORES[group.score]), pool.sums.feature(group.pairs)
    # Of the columns in use only: then those of neighbouring triples lie side by side.
    used, place = np.unique(np.concatenate(group.triples), return_inverse=True)
    members = place.reshape(3, -1)
    mean_x, mean_y = (np.take(mean, used, axis=1) for mean in pool.score_means(SCORES[group.score]))
    pairs_x, pairs_y = pool.means(pairs)
    triples, opposite = group.triples, group.opposite
    cumulants = CumulantSums(sums, plain, pairs, triples, opposite, pool.labels.n_rows)
    scale = pool.labels.null_scale(cumulants, group.scale)
    assert scale is not None
    pool.each_change(
        sums,
        (cumulant_changes, present_cumulant_changes),
        lambda block: (scale[block], *(columns[block] for columns in (*members, *opposite))),
        lambda rows: (mean_x[rows], mean_y[rows], pairs_x[rows], pairs_y[rows]),
        kept.add,
    )
