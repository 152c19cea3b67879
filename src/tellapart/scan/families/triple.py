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
from tellapart.interrupts import check_interrupts
from tellapart.scan.bin_sums import Segments, add_triples
from tellapart.scan.loops import cumulant_changes, present_cumulant_changes
from tellapart.scan.pairs import BLOCK_ENTRIES, Largest
from tellapart.scan.pool import Pool
from tellapart.scan.requests import Pairs, ProductOfThree, ProductOfTwo, Requests, Triples
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
# Multiplications of the pooled rows that look for them.
MOST_SCREENING = 4_000_000_000
MOST_SCREENED_COLUMNS = 100


@dataclass(frozen=True, eq=False)
class TripleGroup:
    """Triples to look at by one score, found without labels.

    Attributes
    ----------
    name : str
        By which the sums of the products are asked for.
    score : str
        "signs" or "ranks".
    triples : Triples
        The triples.
    scale : array
        1/deviation of abc in the pooled rows; 0 where it hardly varies.
    pairs : Pairs
        Every pair ab that occurs in them.
    opposite : three arrays
        Where bc, ac and ab of each triple stand among the pairs.
    within : array or None
        Where the triples stand among those of the group of the same name, which has the sums;
        None where this group has its own.
    """

    name: str
    score: str
    triples: Triples
    scale: Singles
    pairs: Pairs
    opposite: tuple[IntArray, IntArray, IntArray]
    within: IntArray | None = None

    @property
    def pairs_name(self) -> str:
        """By which the sums of the products of two are asked for."""
        return f"pairs of {self.name}"

    def ask(self, requests: Requests) -> None:
        """Ask for the sums that the changes need, unless another group has them."""
        if self.within is not None:
            return
        score = SCORES[self.score]
        requests.triples[self.name] = ProductOfThree(score, self.triples)
        requests.pairs[self.pairs_name] = ProductOfTwo(score, score, self.pairs)


@dataclass(frozen=True)
class TripleKind:
    """The largest changes of signs or of ranks, among all triples or those that stand out."""

    score: str
    largest: Largest
    triples: Triples


@dataclass(frozen=True)
class TripleScan:
    """The statistics of the triples, and their largest changes of each kind."""

    statistics: FloatArray
    kinds: tuple[TripleKind, ...]


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
    there = outline.present
    for name in SCORES:
        values = usable_scores(outline, name)
        chosen = screened_triples(values, wider, outline.column)
        # Signs see most of what ranks see, at half the cost of looking at all triples by both.
        if name == "signs":
            groups.append(_group(f"{name}, all", name, values, there, triples))
            groups.append(
                _part(groups[-1], chosen) or _group(f"{name}, few", name, values, there, chosen)
            )
        else:
            groups.append(_group(f"{name}, few", name, values, there, chosen))
    return tuple(groups)


def _part(group: TripleGroup, chosen: Triples) -> TripleGroup | None:
    """Return a group of some of the triples of another one, if all of them are there."""
    size = max((int(c.max()) + 1 for c in group.triples.columns() if c.size), default=1)
    codes, wanted = (
        (triples.s * size + triples.t) * size + triples.u for triples in (group.triples, chosen)
    )
    order = np.argsort(codes, kind="stable")
    found = np.searchsorted(codes[order], wanted)
    if codes.size == 0 or (found == codes.size).any() or (codes[order[found]] != wanted).any():
        return None
    within = order[found]
    tu, su, st = (member[within] for member in group.opposite)
    return replace(
        group, triples=chosen, scale=group.scale[within], opposite=(tu, su, st), within=within
    )


def _group(
    name: str, score: str, values: Singles, there: Singles | None, triples: Triples
) -> TripleGroup:
    s, t, u = triples.columns()
    size = values.shape[1]
    codes = np.concatenate([a * size + b for a, b in ((t, u), (s, u), (s, t))])
    present, place = np.unique(codes, return_inverse=True)
    tu, su, st = place.reshape(3, -1)
    return TripleGroup(
        name=name,
        score=score,
        triples=triples,
        scale=_scale(values, there, triples),
        pairs=Pairs(present // size, present % size),
        opposite=(tu, su, st),
    )


def _scale(values: Singles, there: Singles | None, triples: Triples) -> Singles:
    """Return 1/deviation of the products over the pooled rows, 0 for what hardly varies.

    Where values are missing, of the rows that have all three: those `there`.
    """
    whole = Segments(np.array([0, values.shape[0]]), np.array([0]))

    def total(own: Singles) -> FloatArray:
        sums = np.zeros((1, triples.size), dtype=np.float32)
        if triples.size:
            add_triples(triples, np.ascontiguousarray(own.T), whole, sums)
        return np.asarray(sums[0], dtype=np.float64)

    rows = values.shape[0] if there is None else np.maximum(total(there), 1.0)
    moments = [total(own) / rows for own in (values, np.square(values))]
    variance = moments[1] - np.square(moments[0])
    scale = np.where(variance > LEAST_VARIANCE, 1 / np.sqrt(np.maximum(variance, 1e-12)), 0.0)
    return np.asarray(scale, dtype=np.float32)


def triple_statistics(pool: Pool, groups: tuple[TripleGroup, ...]) -> TripleScan:
    """Return the statistics of the triples."""
    kinds: list[TripleKind] = []
    for group in groups:
        kept = Largest.empty(pool.count, MANY_KEPT, group.triples.size)
        _each_triple(pool, group, kept)
        kinds.append(TripleKind(group.score, kept, group.triples))
    statistics = np.column_stack([kind.largest.maximum() for kind in kinds]).astype(np.float64)
    return TripleScan(statistics, tuple(kinds))


def screening_columns(n_rows: int) -> int:
    """Return how many columns can be screened for triples: N·P³ multiplications."""
    return min(int((MOST_SCREENING / n_rows) ** (1 / 3)), MOST_SCREENED_COLUMNS)


def screened_triples(values: Singles, columns: IntArray, parent: IntArray) -> Triples:
    """Return the triples whose mean product over the pooled rows is largest."""
    used = np.ascontiguousarray(values[:, columns])
    family = parent[columns]
    found: list[tuple[FloatArray, IntArray, IntArray, IntArray]] = []
    for i in range(columns.size - 2):
        check_interrupts()
        later = used[:, i + 1 :]
        # mean(a_i a_j a_k) for all i < j < k: one product of matrices for each i.
        means = np.abs((later * used[:, i : i + 1]).T @ later) / used.shape[0]
        own = family[i + 1 :]
        means[~((own != family[i]) & (own != family[i])[:, np.newaxis])] = 0.0
        means[own[:, np.newaxis] == own] = 0.0
        j, k = np.triu_indices(own.size, 1)
        strength = means[j, k]
        if strength.size > SCREENED:
            top = np.argpartition(-strength, SCREENED)[:SCREENED]
            j, k, strength = j[top], k[top], strength[top]
        found.append((strength, np.full(j.size, i), j + i + 1, k + i + 1))
    if not found:
        none = np.zeros(0, dtype=np.intp)
        return Triples(none, none, none)
    strength, first, second, third = (np.concatenate(part) for part in zip(*found, strict=True))
    best = np.argsort(-strength, kind="stable")[:SCREENED]
    best = best[strength[best] > 0]
    return Triples(columns[first[best]], columns[second[best]], columns[third[best]])


def _each_triple(pool: Pool, group: TripleGroup, kept: Largest) -> None:
    """Take the changes of all triples of a group into `kept`."""
    if group.triples.size == 0:
        return
    sums = pool.sums.triples(group.name)
    if group.within is not None:
        sums = sums.some(group.within)
    total = sums.total().astype(np.float32)
    plain, pairs = pool.sums.of(SCORES[group.score]), pool.sums.pairs(group.pairs_name)
    mean_x, mean_y = pool.score_means(SCORES[group.score])
    pairs_x, pairs_y = pool.means(pairs)
    n_x, n_y = pool.labels.counts
    members, opposite = group.triples.columns(), group.opposite
    cumulants = CumulantSums(sums, plain, pairs, members, opposite, pool.labels.n_rows)
    scale = pool.labels.null_scale(cumulants, group.scale)
    assert scale is not None
    present = sums.present
    n_rows = total if present is None else present.total().astype(np.float32)
    both = 1 / np.float32(pool.labels.n_x) + 1 / np.float32(pool.labels.n_y)
    share = np.float32(pool.labels.n_x / pool.labels.n_rows)
    step = max(BLOCK_ENTRIES // pool.count, 1)
    for start in range(0, group.triples.size, step):
        check_interrupts()
        block = slice(start, start + step)
        s, t, u = (member[block] for member in group.triples.columns())
        tu, su, st = (member[block] for member in group.opposite)
        of_products = pool.labels.sums_over_x(sums, block)
        if present is not None:
            of_rows = pool.labels.sums_over_x(present, block)

        def change(rows: slice) -> None:
            of_x = of_products(rows)  # noqa: B023
            places = (scale[block], s, t, u, tu, su, st)  # noqa: B023
            means = mean_x[rows], mean_y[rows], pairs_x[rows], pairs_y[rows]
            if present is None:
                cumulant_changes(of_x, total[block], *places, n_x[rows], n_y[rows], *means)  # noqa: B023
            else:
                counts = of_rows(rows)  # noqa: B023
                every = n_rows[block]  # noqa: B023
                present_cumulant_changes(
                    of_x, counts, total[block], every, *places, both, share, *means,  # noqa: B023
                )  # fmt: skip
            kept.add(rows, block, of_x)  # noqa: B023

        pool.each_slice(change)
