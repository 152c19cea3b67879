"""Single columns: how strongly each differs, and in what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.evidence.mixture import (
    LARGEST_LOG,
    centred_within,
    fit_mixture,
    log_bayes_factor,
    standardised,
    standardised_present,
    within_samples,
    zscores,
)
from tellapart.evidence.shared_scores import FAR, KnownScores, OtherColumns
from tellapart.scan.cells import FAR_OUT
from tellapart.scan.differences import Differences
from tellapart.scan.scores import Scores

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
