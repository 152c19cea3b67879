"""Triple: three columns whose product changes, though no two of them do.

With standardised scores a, b, c the change is that of the third joint cumulant within the samples,

    κ = E[abc] − E[a]E[bc] − E[b]E[ac] − E[c]E[ab] + 2E[a]E[b]E[c],

over the deviation of abc in the pooled rows: shifts and correlations do not count. The scores are
signs about the median, and ranks. The statistics: the largest square of the signs over all triples,
and of either over the triples that stand out in the pooled rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tellapart.arrays import FloatArray, IntArray
from tellapart.interrupts import check_interrupts
from tellapart.permutation.bins import Singles
from tellapart.scan.largest import Largest
from tellapart.scan.pairs import BLOCK_ENTRIES
from tellapart.scan.pool import Pool
from tellapart.scan.reductions import cumulant_changes, triple_products
from tellapart.scan.scores import standardised

# Values kept of each permutation, for the findings.
MANY_KEPT = 8
# Columns with almost all rows on one side are left out: products of three rare values are a
# matter of single rows.
LEAST_SIDE = 0.1
MOST_KURTOSIS = 8.0
# A product that varies less than this is constant.
LEAST_VARIANCE = 1e-6
# Triples that stand out in the pooled rows and are looked at apart.
SCREENED = 200
# Multiplications of the pooled rows that look for them.
MOST_SCREENING = 4_000_000_000
MOST_SCREENED_COLUMNS = 100


@dataclass(frozen=True)
class Triples:
    """Triples (s_q, t_q, u_q) of score columns of different columns."""

    s: IntArray
    t: IntArray
    u: IntArray

    @property
    def size(self) -> int:
        """Number of triples."""
        return int(self.s.size)

    def columns(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the three members of every triple."""
        return self.s, self.t, self.u


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


def signs(normal: Singles) -> Singles:
    """Return ±1 about the median, standardised; of the two ways to split ties the more even."""
    middle = np.median(normal, axis=0)
    above, least = normal > middle, normal >= middle
    uneven = np.abs(above.mean(axis=0) - 0.5) > np.abs(least.mean(axis=0) - 0.5)
    halves = np.where(uneven, least, above)
    scores = standardised(halves.astype(np.float64)).astype(np.float32)
    return np.asarray(scores * _even_enough(halves))


def rank_scores(normal: Singles) -> Singles:
    """Return the ranks, standardised, from the normal scores."""
    scores = standardised(special.ndtr(normal.astype(np.float64))).astype(np.float32)
    return np.asarray(scores * (np.square(np.square(scores)).mean(axis=0) <= MOST_KURTOSIS))


def _even_enough(halves: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which columns have enough rows on either side for products of several to occur."""
    return np.asarray(np.abs(halves.mean(axis=0) - 0.5) <= 0.5 - LEAST_SIDE)


SCORES = {"signs": signs, "ranks": rank_scores}


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


def triple_statistics(pool: Pool, triples: Triples, wider: IntArray) -> TripleScan:
    """Return the statistics of the triples; more columns, `wider`, are screened without labels."""
    kinds: list[TripleKind] = []
    for name, score in SCORES.items():
        values = score(pool.scores.normal)
        chosen = screened_triples(values, wider, pool.scores.column)
        # Signs see most of what ranks see, at half the cost of looking at all triples by both.
        for own in (triples, chosen) if name == "signs" else (chosen,):
            kept = Largest.empty(pool.count, MANY_KEPT)
            _each_triple(pool, values, own, kept)
            kinds.append(TripleKind(name, kept, own))
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


def _each_triple(pool: Pool, values: Singles, triples: Triples, kept: Largest) -> None:
    """Take the changes of all triples into `kept`."""
    if triples.size == 0:
        return
    used, place = np.unique(np.concatenate([triples.s, triples.t, triples.u]), return_inverse=True)
    own = np.ascontiguousarray(values[:, used])
    s, t, u = place.reshape(3, -1)
    mean_x, mean_y = pool.labels.means(own)
    (tu, su, st), pairs_x, pairs_y = _pair_means(pool, own, ((t, u), (s, u), (s, t)))
    sizes = np.float32(pool.labels.n_x), np.float32(pool.labels.n_y)
    step = max(BLOCK_ENTRIES // pool.count, 1)
    for start in range(0, triples.size, step):
        check_interrupts()
        block = slice(start, start + step)
        places = (s[block], t[block], u[block])
        opposite = (tu[block], su[block], st[block])
        products = _products(pool, own, places)

        def change(rows: slice) -> None:
            of_x = pool.labels.labels[rows] @ products.of_bins + products.always  # noqa: B023
            cumulant_changes(
                of_x, products.total, products.scale, *places, *opposite, *sizes,  # noqa: B023
                mean_x[rows], mean_y[rows], pairs_x[rows], pairs_y[rows],
            )  # fmt: skip
            kept.add(rows, block, of_x)  # noqa: B023

        pool.each_slice(change)


def _pair_means(
    pool: Pool, own: Singles, pairs: tuple[tuple[IntArray, IntArray], ...]
) -> tuple[tuple[IntArray, ...], Singles, Singles]:
    """Return E[ab] within x and within y of every pair that occurs, and where each one stands."""
    size = own.shape[1]
    codes = np.concatenate([a * size + b for a, b in pairs])
    present, place = np.unique(codes, return_inverse=True)
    products = own[:, present // size] * own[:, present % size]
    x, y = pool.labels.means(products)
    return tuple(place.reshape(len(pairs), -1)), x, y


@dataclass(frozen=True)
class _Products:
    """Sums of abc: over each bin, over the rows that are always x, over all; and 1/deviation."""

    of_bins: Singles
    always: Singles
    total: Singles
    scale: Singles


def _products(pool: Pool, own: Singles, places: tuple[IntArray, IntArray, IntArray]) -> _Products:
    labels, n_triples = pool.labels, places[0].size
    sums = np.empty((labels.n_bins, n_triples), dtype=np.float32)
    squares = np.empty_like(sums)

    def add(bins: slice) -> None:
        triple_products(own, labels.rows[bins], *places, sums[bins], squares[bins])

    pool.each_bin(add)
    always = np.zeros(n_triples, dtype=np.float32)
    total = sums.sum(axis=0, dtype=np.float64)
    square = squares.sum(axis=0, dtype=np.float64)
    s, t, u = places
    for rows, is_x in ((labels.fixed_x, True), (labels.fixed_y, False)):
        part = own[rows]
        products = part[:, s] * part[:, t] * part[:, u]
        total += products.sum(axis=0)
        square += np.square(products).sum(axis=0)
        if is_x:
            always = products.sum(axis=0)
    variance = square / labels.n_rows - np.square(total / labels.n_rows)
    scale = np.where(variance > LEAST_VARIANCE, 1 / np.sqrt(np.maximum(variance, 1e-12)), 0.0)
    return _Products(sums, always, total.astype(np.float32), scale.astype(np.float32))
