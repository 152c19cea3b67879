"""Single columns: how strongly each differs, and in what.

From z-scores to the odds that a thing differs, with how common each kind is learned from all: of n
things (columns, pairs, triples), each differs in one of K kinds, or in none. Under kind k the
statistic χ² (of ν degrees of freedom) comes from effects of variance τ² in units of the noise:

    BF_ik = mean over τ of (1 + τ²)^(−ν/2) exp(½ χ²_ik τ²/(1 + τ²)),
    odds_i = Σ_k π_k BF_ik / π_0.

The shares π are those that make the data likeliest (EM). So where shifts are common and changes of
standard deviations are not, a large χ² of the latter counts for less than one of location: what the
columns have in common decides what a single one is believed to be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.scan.cells import FAR_OUT
from tellapart.scan.differences import Differences
from tellapart.scan.scores import Scores

if TYPE_CHECKING:
    from tellapart.evidence.shared_scores import KnownScores, OtherColumns


EFFECTS = (1.5, 3.0, 6.0)
"""The τ: barely visible, clear and strong effects, each as likely as the others."""
LARGEST_LOG = 600.0
"""Bayes factors beyond e⁶⁰⁰ are as good as that: their products stay finite."""
STEPS = 60
# How many things may differ before any was looked at, and the least share that may differ in none.
PRIOR_COUNT = 0.5
LEAST_NULL = 0.1


@dataclass(frozen=True)
class Mixture:
    """What was learned of n things.

    Attributes
    ----------
    log_odds : array of length n
        Log of the odds that a thing differs.
    kind_scores : array of shape (K, n)
        log π_k BF_ik: the kind with the largest is the likeliest.
    shares : array of length K
        π, the share of the things that differ in each kind.
    """

    log_odds: FloatArray
    kind_scores: FloatArray
    shares: FloatArray

    @property
    def kind(self) -> IntArray:
        """The likeliest kind of each thing."""
        return np.asarray(self.kind_scores.argmax(axis=0))


def log_bayes_factor(chi2: FloatArray, freedom: int = 1) -> FloatArray:
    """Return log BF of χ² statistics.

    Examples
    --------
    >>> import numpy as np
    >>> log_bayes_factor(np.array([0.0, 4.0, 16.0])).round(2).tolist()
    [-1.06, 0.57, 5.77]
    """
    parts = []
    for effect in EFFECTS:
        square = effect * effect
        parts.append(chi2 * (0.5 * square / (1 + square)) - 0.5 * freedom * np.log1p(square))
    total = np.logaddexp.reduce(parts) - np.log(len(EFFECTS))
    return np.asarray(np.minimum(total, LARGEST_LOG))


def fit_mixture(log_factors: FloatArray, expected: float, alike: IntArray | None = None) -> Mixture:
    """Learn the shares from the log Bayes factors (K × n); `expected` things may differ at first.

    Rows with one number in `alike` are one kind seen in several ways, and have one share each.

    Examples
    --------
    >>> import numpy as np
    >>> factors = log_bayes_factor(np.array([[30.0] + [0.5] * 50, [1.0] * 51]))
    >>> found = fit_mixture(factors, 1.0)
    >>> int(found.log_odds.argmax()), int(found.kind[0]), bool(found.log_odds[1] < 0)
    (0, 0, True)
    """
    n_kinds, n = log_factors.shape
    factors = np.exp(log_factors)
    shares = np.full(n_kinds, min(expected / n, 0.5) / n_kinds)
    for _ in range(STEPS):
        likely = shares[:, np.newaxis] * factors
        likely /= likely.sum(axis=0) + _null_share(shares)
        moved = (likely.sum(axis=1) + PRIOR_COUNT / n_kinds) / (n + PRIOR_COUNT + 1)
        if alike is not None:
            moved = (np.bincount(alike, moved) / np.bincount(alike))[alike]
        still = np.allclose(moved, shares, rtol=1e-3)
        shares = moved
        if still:
            break
    scores = np.log(shares)[:, np.newaxis] + log_factors
    log_odds = np.logaddexp.reduce(scores) - np.log(_null_share(shares))
    return Mixture(np.asarray(log_odds), np.asarray(scores), shares)


def strength(log_odds: FloatArray) -> FloatArray:
    """Return √(2 log(1 + odds)): the evidence as the length of a vector, above 0 whatever the odds.

    Squares of independent evidence add up like χ² statistics.
    """
    return np.asarray(np.sqrt(2 * np.logaddexp(0.0, log_odds)))


def _null_share(shares: FloatArray) -> float:
    return max(1.0 - float(shares.sum()), LEAST_NULL)


# Differences of means in units of their noise.


def standardised(values: Singles) -> Singles:
    """Return columns with mean 0 and variance 1 in single precision; constant ones become 0."""
    centred = values - values.mean(axis=0)
    deviation = centred.std(axis=0)
    flat = deviation <= 1e-6
    return np.asarray(np.where(flat, 0, centred / np.where(flat, 1, deviation)), dtype=np.float32)


def standardised_present(values: Singles, present: Singles | None) -> Singles:
    """Return `standardised` values of the rows that have one, and 0 for what is missing."""
    if present is None:
        return standardised(values)
    rows = np.maximum(present.sum(axis=0), 1)
    centred = (values - (values * present).sum(axis=0) / rows) * present
    deviation = np.sqrt(np.square(centred).sum(axis=0) / rows)
    flat = deviation <= 1e-6
    return np.asarray(np.where(flat, 0, centred / np.where(flat, 1, deviation)), dtype=np.float32)


def zscores(scores: Singles, n_x: int, present: Singles | None = None) -> FloatArray:
    """Return δ/√var(δ) of standardised pooled scores, δ the difference of their sample means.

    The variance is that over permutations of the labels: N²/(m n (N − 1)) for scores of
    variance 1 over the N = m + n pooled rows. Where values are missing, `present` is 1 for those
    that are there, and the rows that have a value are those that count.
    """
    if present is not None:
        of_x, of_y = (part.sum(axis=0, dtype=np.float64) for part in (scores[:n_x], scores[n_x:]))
        k_x, k_y = (part.sum(axis=0, dtype=np.float64) for part in (present[:n_x], present[n_x:]))
        unit = np.sqrt(k_x * k_y * np.maximum(k_x + k_y - 1, 0)) / np.maximum(k_x + k_y, 1)
        return np.asarray((of_x / np.maximum(k_x, 1) - of_y / np.maximum(k_y, 1)) * unit)
    n_rows = scores.shape[0]
    n_y = n_rows - n_x
    unit = math.sqrt(n_x * n_y * (n_rows - 1)) / n_rows
    # The pooled mean is 0, so that the mean of x decides that of y.
    mean_x = scores[:n_x].mean(axis=0, dtype=np.float64)
    return np.asarray(mean_x * (n_rows / n_y) * unit)


def centred_within(scores: Singles, n_x: int) -> Singles:
    """Return scores less their mean in each sample."""
    centred = scores.copy()
    centred[:n_x] -= centred[:n_x].mean(axis=0)
    centred[n_x:] -= centred[n_x:].mean(axis=0)
    return centred


def within_samples(scores: Singles, n_x: int) -> Singles:
    """Return scores centred within each sample, standardised over both."""
    return standardised(centred_within(scores, n_x))


# Scores less what many columns have in common: a shift shows better without shared noise.
#
# Columns that follow common factors (a batch, a patient's size, an index of the market) are noisy
# together. The leading principal components of the normal scores within the samples, those above
# what noise alone would give, stand for the factors, and what is left of each column after its
# regression on them is compared between the samples. Clearly shifted columns have no part in the
# factors: a factor that is shifted itself would make columns differ that do not.


MOST_FACTORS = 5
# Fewer columns than this for each factor could be made of factors alone.
COLUMNS_OF_A_FACTOR = 8
# Columns with a larger |z| are clearly shifted.
SHIFTED = 3.0
# Columns that the factors are learned from at most, spread evenly over all.
MOST_COLUMNS = 500
# How far above the edge of the noise's spectrum, (1 + √(D/N))², an eigenvalue must lie.
ABOVE_NOISE = 1.2


def without_factors(normal: Singles, n_x: int) -> Singles | None:
    """Return the scores (N × P) less their regression on the factors; None where there are none.

    The first `n_x` rows are those of the first sample.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(200, 20)).astype(np.float32)
    >>> without_factors(noise, 100) is None
    True
    >>> common = rng.normal(size=(200, 1)).astype(np.float32)
    >>> rest = without_factors(noise + 2 * common, 100)
    >>> bool(abs(np.corrcoef(rest.T)[0, 1]) < 0.3)
    True
    """
    n_rows = normal.shape[0]
    calm = np.flatnonzero(np.abs(zscores(standardised(normal), n_x)) <= SHIFTED)
    if calm.size < COLUMNS_OF_A_FACTOR:
        return None
    some = normal[:, calm[:: -(-calm.size // MOST_COLUMNS)]]
    within = within_samples(some, n_x)
    correlation = within.T @ within / n_rows
    edge = (1 + np.sqrt(some.shape[1] / n_rows)) ** 2
    # Vectors take longer than values, and most tables have no factors.
    above = int((np.linalg.eigvalsh(correlation) > ABOVE_NOISE * edge).sum())
    count = min(above, MOST_FACTORS, calm.size // COLUMNS_OF_A_FACTOR)
    if count == 0:
        return None
    _, vectors = np.linalg.eigh(correlation)
    factors = standardised(some @ vectors[:, -count:])
    inside = centred_within(factors, n_x)
    slopes = np.linalg.lstsq(inside, centred_within(normal, n_x), rcond=None)[0]
    return standardised(normal - factors @ slopes)


FAR = "far"
"""How far a value lies beyond 1.8 standard deviations: a few outlying rows show best in it."""
RANK = "rank"
"""The ranks themselves: shifts of heavy-tailed columns show best in them."""
MISSING = "missing"
"""Whether the value is missing: where some are."""
FACTOR = "without factors"
"""The score of `tellapart.evidence.columns`."""
SINGLE = ("normal", "clipped", RANK, "spread", "squared", "wave 2", "skew", "fourth", "atom", FAR)
WAVES = ("wave 2", "wave 3", "wave 4")
ANY = ("normal", "skew", "fourth", *WAVES)
REASONS = {
    "normal": "shift",
    "clipped": "shift",
    RANK: "shift",
    FACTOR: "shift",
    "spread": "spread",
    "squared": "spread",
    "wave 2": "spread",
    "skew": "shape",
    "fourth": "shape",
    "atom": "shape",
    FAR: "shape",
    MISSING: "missing",
}
"""What a difference of the mean of each score is called."""


@dataclass(frozen=True)
class ColumnEvidence:
    """The evidence of C columns, by the score that shows each best.

    Attributes
    ----------
    columns : array of length C
        Columns of the samples that vary.
    log_odds : array of length C
        Log of the odds that a column differs.
    scores : tuple of str
        The name of the score that shows the difference of a column best.
    zscores : array of length C
        The z-score of that score.
    places : array of length C
        The score column it stands in: the level, for a categorical column. Of the other columns of
        a wide table, −1 less its place among them.
    made : mapping from name to array
        Scores beyond those of `tellapart.scan.scores`: the ranks, what lies far out, and the
        normal scores without common factors, where there are any.
    known : KnownScores or None
        Scores that are known already.
    """

    columns: IntArray
    log_odds: FloatArray
    scores: tuple[str, ...]
    zscores: FloatArray
    places: IntArray
    made: Mapping[str, Singles]
    known: KnownScores | None = None

    def best_scores(self, scores: Scores, chosen: IntArray) -> Singles:
        """Return the scores that show some of the columns best, one column each."""
        return np.column_stack([self._of(scores, int(c)) for c in chosen])

    def _of(self, scores: Scores, column: int) -> Singles:
        name, place = self.scores[column], int(self.places[column])
        if name in self.made:
            return self.made[name][:, place]
        if self.known is None:
            return scores.of(name)[:, place]
        return self.known.other(-1 - place) if place < 0 else self.known.column(name, place)


def column_evidence(
    scores: Scores,
    n_x: int,
    n_variables: int,
    differences: Differences | None = None,
    known: KnownScores | None = None,
) -> ColumnEvidence:
    """Return how strongly each column differs, about `n_variables` of them at first sight.

    Where the scores are those of drawn rows, `differences` has the z-scores over all rows. Of
    `known` scores, `scores` has U alone.
    """
    present = scores.present
    made: dict[str, Singles] = {}
    if known is None:
        far = np.maximum(np.abs(scores.clipped) - FAR_OUT, 0)
        made[RANK] = standardised_present(special.ndtr(scores.normal), present)
        made[FAR] = standardised_present(far, present)
    # Factors are found as if rows were independent of each other, which a design says they are not.
    by_design = differences is not None and differences.by_design
    adjusted = None if by_design else _without_factors(scores, n_x)
    if adjusted is not None:
        made[FACTOR] = adjusted if present is None else adjusted * present
    held = dict.fromkeys((*SINGLE, *WAVES))
    if known is None:
        table = {name: zscores(scores.of(name), n_x, present) for name in held if name not in made}
    else:
        table = {name: known.zscores[name] for name in held}
    table |= {name: zscores(score, n_x, present) for name, score in made.items()}
    if present is not None:
        made[MISSING] = standardised(1 - present)
        table[MISSING] = zscores(made[MISSING], n_x)
    if differences is not None:
        table = {
            name: differences.aligned(name, zscore, scores.column, scores.level)
            for name, zscore in table.items()
        }
    single = [name for name in (*SINGLE, FACTOR, MISSING) if name in table]
    factors = [log_bayes_factor(table[name] ** 2) for name in single]
    if present is not None:
        # A column without gaps does not differ in them, however common that is among the others.
        whole = (present > 0).all(axis=0) & (table[MISSING] == 0)
        factors[single.index(MISSING)][whole] = -LARGEST_LOG
    # Scores are independent of each other over rows, and not over the units of a design.
    factors += [
        log_bayes_factor(np.sum([table[name] ** 2 for name in group], axis=0), len(group))
        for group in (() if by_design else (WAVES, ANY))
    ]
    columns, first = np.unique(scores.column, return_index=True)
    # A categorical column differs where one of its levels does, each as likely as the others.
    levels = np.diff(first, append=scores.column.size)
    joined = np.logaddexp.reduceat(np.array(factors), first, axis=1) - np.log(levels)
    others = None if known is None else known.others
    if others is not None:
        joined = np.concatenate([joined, _by_shift(others, joined.shape[0])], axis=1)
    mixture = fit_mixture(joined, n_variables)
    best = [single[k] for k in mixture.kind_scores[: len(single), : columns.size].argmax(axis=0)]
    places = np.array(
        [
            start + int(np.abs(table[name][start : start + count]).argmax())
            for name, start, count in zip(best, first, levels, strict=True)
        ],
        dtype=np.intp,
    )
    best_zscores = np.array([table[name][place] for name, place in zip(best, places, strict=True)])
    if others is not None:
        columns = np.append(columns, others.columns)
        best += [SINGLE[0]] * others.columns.size
        best_zscores = np.append(best_zscores, others.zscores)
        places = np.append(places, -1 - np.arange(others.columns.size))
    return ColumnEvidence(columns, mixture.log_odds, tuple(best), best_zscores, places, made, known)


def _by_shift(others: OtherColumns, n_kinds: int) -> FloatArray:
    """Return the log Bayes factors of columns that may differ in U, and are known by nothing else.

    U is the first of the kinds.
    """
    factors = np.full((n_kinds, others.columns.size), -LARGEST_LOG)
    factors[0] = log_bayes_factor(others.zscores**2)
    return factors


def _without_factors(scores: Scores, n_x: int) -> Singles | None:
    """Return the numeric columns' scores without common factors, and 0 for levels of categories.

    The levels of one category exclude each other: what they have in common is no factor.
    """
    numeric = scores.numeric
    rest = without_factors(scores.normal[:, numeric], n_x)
    if rest is None:
        return None
    adjusted = np.zeros_like(scores.normal)
    adjusted[:, numeric] = rest
    return adjusted
