"""Pairs and triples of columns whose dependence differs, whatever the columns do by themselves.

Every sample is scored by its own ranks, so that all columns have the same distribution in both: a
shift or another standard deviation of one column cannot pass for a change of its dependence on
others. Of pairs the correlations r of the scores are compared. With the influence
ψ = ab − r(a² + b²)/2 of a row on r, var(r) = E ψ²/n, so that

    z = (r_x − r_y)/√(v (1/m + 1/n)),   v the mean of E ψ² over both samples.

Of triples the mean products of three signs, or of three clipped normal scores, are compared: z is
their difference over its standard error, from the variance of the products within the samples.
Both are bent to the tails that few rows give (`normal_tail` with min(m, n)/2 degrees of freedom).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.compiling import compiled
from tellapart.evidence.columns import fit_mixture, log_bayes_factor, standardised
from tellapart.permutation.design_units import normal_tail
from tellapart.scan.differences import Differences
from tellapart.scan.scores import without
from tellapart.threads import in_threads


@dataclass(frozen=True)
class CopulaScores:
    """Scores of one sample's columns: `normal`, `spread` (their size) and `wave` (the middle)."""

    normal: Singles
    spread: Singles
    wave: Singles

    @classmethod
    def of(cls, values: FloatArray) -> CopulaScores:
        """Rank the columns of one sample and score them."""
        return cls.of_ranks(mid_ranks(values))

    @classmethod
    def of_ranks(cls, ranks: FloatArray) -> CopulaScores:
        """Score the columns of one sample by their mid-ranks."""
        quantile = (ranks - 0.5) / ranks.shape[0]
        normal = special.ndtri(quantile)
        normal = standardised(normal.astype(np.float32)).astype(np.float64)
        spread = without(np.clip(normal * normal - 1, -2.5, 4), normal)
        wave = without(np.cos(2 * np.pi * quantile), normal)
        return cls(normal.astype(np.float32), spread.astype(np.float32), wave.astype(np.float32))

    def columns(self, places: IntArray) -> CopulaScores:
        """Return the scores of some of the columns."""
        return CopulaScores(self.normal[:, places], self.spread[:, places], self.wave[:, places])

    def by_name(self, name: str) -> Singles:
        """Return one matrix of scores."""
        return {"normal": self.normal, "spread": self.spread, "wave": self.wave}[name]


def mid_ranks(values: FloatArray) -> FloatArray:
    """Return the rank of each value in its column from 1 on, the mean rank where values are equal.

    As `scipy.stats.rankdata`, without the second that loading scipy.stats takes.

    >>> mid_ranks(np.array([[3.0], [1.0], [3.0], [2.0]])).ravel().tolist()
    [3.5, 1.0, 3.5, 2.0]
    """
    ranks = np.empty(values.shape, order="F")
    columns = np.asfortranarray(values)
    _rank(columns, np.asfortranarray(np.argsort(columns, axis=0)), ranks)
    return ranks


@compiled
def _rank(values, order, ranks):  # type: ignore[no-untyped-def]  # pragma: no cover
    n_rows = values.shape[0]
    for s in range(values.shape[1]):
        first = 0
        while first < n_rows:
            last = first
            while last + 1 < n_rows and values[order[last + 1, s], s] == values[order[first, s], s]:
                last += 1
            for place in range(first, last + 1):
                ranks[order[place, s], s] = (first + last) / 2 + 1
            first = last + 1


@dataclass(frozen=True, eq=False)
class Group:
    """Columns whose dependence may have changed.

    Attributes
    ----------
    columns : tuple of int
        Two or three columns of the samples.
    log_odds : float
        Log of the odds that their dependence changed.
    zscore : float
        The change in units of its noise.
    score : array of length N
        The product of their scores in every row, whose mean is what changed.
    """

    columns: tuple[int, ...]
    log_odds: float
    zscore: float
    score: Singles


KINDS = (
    ("normal", "normal"),
    ("spread", "spread"),
    ("wave", "wave"),
    ("normal", "spread"),
    ("spread", "normal"),
)
# The last two are one kind, seen from either column: which comes first says nothing.
ALIKE = np.array([0, 1, 2, 3, 3])
FEWEST_ROWS_IN_PAIRS = 16
MOST_PAIRED_COLUMNS = 1_000
"""Columns whose pairs are looked at: half a million pairs."""
LEAST_VARIANCE = 1e-3
FEWEST_ROWS_IN_TRIPLES = 24
MOST_TRIPLE_COLUMNS = 100
"""Columns whose triples are looked at: 160,000 triples…"""
MOST_WORK = 1_000_000_000
"""…unless the rows times the cube of the columns would be more than this."""
LEAST_TRIPLE_VARIANCE = 0.05
CLIP = 2.0
# The median of |z| of pairs that do not differ: scores of ties and atoms are noisier than they say.
MEDIAN = 0.6745


def find_pairs(
    x: CopulaScores,
    y: CopulaScores,
    columns: IntArray,
    most: int,
    differences: Differences | None = None,
    n_jobs: int = 1,
) -> list[Group]:
    """Return the pairs that more likely differ than not, the most likely first, `most` at most.

    `columns` are the columns of the samples that the scores stand for. Where the scores are those
    of drawn rows, `differences` has the changes of correlation over all rows. Under a design they
    are all that is judged: rows are not independent of each other.
    """
    if columns.size < 2:
        return []
    first, second = np.triu_indices(columns.size, 1)
    if differences is not None and differences.by_design:
        unknown = np.full(first.size, np.nan)
        changes = differences.correlation_changes(columns[first], columns[second], unknown)
        judged = np.flatnonzero(~np.isnan(changes))
        if judged.size == 0:
            return []
        first, second, alike = first[judged], second[judged], ALIKE[:1]
        table = calibrated(changes[np.newaxis, judged], None)
    else:

        def zscores_of(kind: tuple[str, str]) -> FloatArray:
            a, b = kind
            zscores = _zscores(x.by_name(a), x.by_name(b), y.by_name(a), y.by_name(b))
            return np.asarray(zscores[first, second])

        table = np.array(in_threads(zscores_of, KINDS, n_jobs))
        table, alike = calibrated(table, min(x.normal.shape[0], y.normal.shape[0]), ALIKE), ALIKE
        if differences is not None:
            table[0] = differences.correlation_changes(columns[first], columns[second], table[0])

    def product(kind: int, pair: int) -> Singles:
        a, b = KINDS[kind]
        s, t = first[pair], second[pair]
        return np.concatenate([side.by_name(a)[:, s] * side.by_name(b)[:, t] for side in (x, y)])

    return _likely(table, alike, most, columns[np.stack([first, second])], product)


def _likely(
    table: FloatArray,
    alike: IntArray | None,
    most: int,
    members: IntArray,
    product: Callable[[int, int], Singles],
) -> list[Group]:
    """Return the groups that more likely differ than not, by z-scores (kinds × groups).

    `members` are the columns of every group, one row each, and `product` gives the products of the
    scores of one kind for one group.
    """
    mixture = fit_mixture(log_bayes_factor(table**2), 1.0, alike)
    groups = []
    for place in np.argsort(-mixture.log_odds, kind="stable")[:most].tolist():
        if mixture.log_odds[place] <= 0:
            break
        kind, columns = int(mixture.kind[place]), tuple(members[:, place].tolist())
        log_odds, zscore = float(mixture.log_odds[place]), float(table[kind, place])
        groups.append(Group(columns, log_odds, zscore, product(kind, place)))
    return groups


def calibrated(table: FloatArray, fewer: int | None, alike: IntArray | None = None) -> FloatArray:
    """Return z-scores with the tails that so few rows give, and no wider than noise in the middle.

    `fewer` are the rows of the smaller sample; None where the z-scores have normal tails already.

    Most pairs and triples do not differ: the median of their |z| tells how noisy they are. Rows of
    the table with one number in `alike` are one kind, and have one noise.
    """
    bent = table if fewer is None else normal_tail(table, fewer / 2)
    kinds = np.arange(len(bent)) if alike is None else alike
    sizes = np.abs(bent)
    noise = np.array([np.median(sizes[kinds == kind]) for kind in kinds])[:, np.newaxis] / MEDIAN
    return np.asarray(bent / np.maximum(noise, 1.0))


def _zscores(ax: Singles, bx: Singles, ay: Singles, by: Singles) -> FloatArray:
    n_x, n_y = ax.shape[0], ay.shape[0]
    r_x, v_x = _correlation(ax, bx)
    r_y, v_y = _correlation(ay, by)
    variance = np.maximum((n_x * v_x + n_y * v_y) / (n_x + n_y), LEAST_VARIANCE)
    return np.asarray((r_x - r_y) / np.sqrt(variance * (1 / n_x + 1 / n_y)))


def _correlation(a: Singles, b: Singles) -> tuple[FloatArray, FloatArray]:
    """Return the correlations of every column of a with every one of b, and E ψ²."""
    n = a.shape[0]
    a2, b2 = a * a, b * b
    r = np.asarray(a.T @ b / n, dtype=np.float64)
    squares = a2.T @ b2 / n
    cubes = ((a2 * a).T @ b + a.T @ (b2 * b)) / n
    fourth_a, fourth_b = (a2 * a2).mean(axis=0), (b2 * b2).mean(axis=0)
    fourths = fourth_a[:, np.newaxis] + fourth_b + 2 * squares
    return r, np.asarray(squares - r * cubes + r * r * fourths / 4, dtype=np.float64)


def most_columns(n_rows: int) -> int:
    """Return the number of columns whose triples can be looked at within the work allowed.

    Examples
    --------
    >>> most_columns(300), most_columns(10_000)
    (100, 46)
    """
    return min(MOST_TRIPLE_COLUMNS, int((MOST_WORK / n_rows) ** (1 / 3)))


def find_triples(
    x: CopulaScores, y: CopulaScores, columns: IntArray, most: int, n_jobs: int = 1
) -> list[Group]:
    """Return the triples that more likely differ than not, as `find_pairs` does for pairs."""
    if columns.size < 3:
        return []
    kinds = [
        (np.sign(x.normal), np.sign(y.normal)),
        (_clipped(x.normal), _clipped(y.normal)),
    ]

    def triples_of(s: int) -> tuple[IntArray, FloatArray]:
        """Return the triples of column s and two later ones, and their z-scores."""
        t, r = np.triu_indices(columns.size - s - 1, 1)
        members = np.stack([np.full(t.size, s), t + s + 1, r + s + 1])
        return members, np.array([_zscores_of_triples(*sides, s)[t, r] for sides in kinds])

    members, zscores = zip(*in_threads(triples_of, range(columns.size - 2), n_jobs), strict=True)
    triples = np.concatenate(members, axis=1)
    fewer = min(x.normal.shape[0], y.normal.shape[0])
    table = calibrated(np.concatenate(zscores, axis=1), fewer)

    def product(kind: int, triple: int) -> Singles:
        return np.concatenate([side[:, triples[:, triple]].prod(axis=1) for side in kinds[kind]])

    return _likely(table, None, most, columns[triples], product)


def _zscores_of_triples(x: Singles, y: Singles, s: int) -> FloatArray:
    """Return the z-scores of the triples of column s and two later ones."""
    n_x, n_y = x.shape[0], y.shape[0]
    mean_x, square_x = _products(x, s)
    mean_y, square_y = _products(y, s)
    variance = (n_x * (square_x - mean_x**2) + n_y * (square_y - mean_y**2)) / (n_x + n_y)
    noise = np.sqrt(np.maximum(variance, LEAST_TRIPLE_VARIANCE) * (1 / n_x + 1 / n_y))
    return np.asarray((mean_x - mean_y) / noise, dtype=np.float64)


def _products(values: Singles, s: int) -> tuple[Singles, Singles]:
    """Return the means of the products of column s and two later ones, and of their squares."""
    later = values[:, s + 1 :]
    first = values[:, s : s + 1]
    squares = later * later
    mean = (first * later).T @ later / len(values)
    square = (first * first * squares).T @ squares / len(values)
    return np.asarray(mean), np.asarray(square)


def _clipped(normal: Singles) -> Singles:
    return standardised(np.clip(normal, -CLIP, CLIP))
