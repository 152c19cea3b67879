"""From statistics under all permutations to p-values that go on below 1/(number of permutations).

The p-value of a statistic is its rank among all permutations, ties counted against rejection.
In the top tenth an exponential tail continues it: with u the (k₀ + 1)-th largest of k values and
k₀ = ⌊k/10⌋,

    p = (k₀ + 1)/k · exp(−(s − u)/mean excess over u).

Every permutation is treated alike, the true labels included, so what is made of these p-values
is exchangeable under H₀, whether the tail fits or not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, Singles
from tellapart.compiling import compiled

TAIL_SHARE = 0.1
# Fewer values than this in the top tenth say nothing of a tail.
FEWEST = 5
# Statistics closer than this, in units of the largest, are a tie: single precision sums differ
# by the order of their terms.
TIE = 1e-5


def rank_pvalues(values: FloatArray) -> FloatArray:
    """Return #{e' : T(e') ≥ T(e)}/k for each row e, column by column.

    >>> rank_pvalues(np.array([[3.0], [1.0], [3.0], [2.0]])).ravel().tolist()
    [0.5, 1.0, 0.5, 0.75]
    """
    return _ranked(values, np.sort(values, axis=0))


def tail_pvalues(values: FloatArray) -> FloatArray:
    """Return the p-values with their tails; see the module.

    >>> import numpy as np
    >>> p = tail_pvalues(np.arange(1000.0)[:, np.newaxis]).ravel()
    >>> bool(p[0] == 1.0 and p[500] == 0.5 and 1e-2 < p[990] < 0.05)
    True
    """
    rising = np.sort(values, axis=0)
    pvalues = _ranked(values, rising)
    count = values.shape[0]
    inside = int(TAIL_SHARE * count)
    if inside < FEWEST:
        return pvalues
    start = rising[count - inside - 1]
    excess = (rising[count - inside :] - start).mean(axis=0)
    usable = excess > TIE * np.maximum(np.abs(rising[-1]), 1e-300)
    beyond = (values - start) / np.where(usable, excess, 1.0)
    tail = (inside + 1) / count * np.exp(-np.maximum(beyond, 0.0))
    return np.asarray(np.where(usable & (beyond > 0), tail, pvalues))


def tail_pvalue_of(observed: FloatArray, values: FloatArray) -> FloatArray:
    """Return where `observed` lies among one vector of `values`, by rank and tail.

    How large the largest of them is does not count: with x₁ ≥ x₂ ≥ … ≥ x_{k₀} the excesses over u,
    the mean excess is that of a sample of which the largest is censored,

        (x₂ + x₂ + x₃ + … + x_{k₀})/(k₀ − 1).

    >>> values = np.random.default_rng(0).exponential(size=200)
    >>> values[0] = values.max() + 1
    >>> before = tail_pvalue_of(values[1:], values)
    >>> values[0] *= 100
    >>> bool((tail_pvalue_of(values[1:], values) == before).all())
    True
    """
    rising = np.sort(values)
    count = values.shape[0]
    # Rounding is of the size of what is compared, which one value that is far off is not.
    tolerance = TIE * max(abs(rising[0]), abs(rising[max(count - 2, 0)]))
    pvalues = (count - np.searchsorted(rising, observed - tolerance, side="left")) / count
    pvalues = np.maximum(pvalues, 1 / (count + 1))
    inside = int(TAIL_SHARE * count)
    if inside < FEWEST:
        return np.asarray(pvalues)
    start = rising[count - inside - 1]
    excesses = rising[count - inside : -1] - start
    excess = float(excesses.sum() + excesses[-1]) / (inside - 1)
    if excess <= TIE * max(abs(float(rising[-2])), 1e-300):
        return np.asarray(pvalues)
    beyond = np.maximum((observed - start) / excess, 0.0)
    return np.asarray(np.where(beyond > 0, (inside + 1) / count * np.exp(-beyond), pvalues))


def _ranked(values: FloatArray, rising: FloatArray) -> FloatArray:
    count = values.shape[0]
    tolerance = TIE * np.maximum(np.abs(rising[0]), np.abs(rising[-1]))
    pvalues = np.empty(values.shape)
    for q in range(values.shape[1]):
        at = np.searchsorted(rising[:, q], values[:, q] - tolerance[q], side="left")
        pvalues[:, q] = (count - at) / count
    return pvalues


# How far sums reach when labels are permuted: scores that go on where ranks end.
#
# A statistic is, exactly or to first order, a sum Σ_g ℓ_g a_g over the G bins that carry the label
# of x, a share w of them. With a_g less their mean and M_k = mean of a_g^k, permutations give it
#
#     skewness  γ = (1 − 2w) M₃/M₂^{3/2} / √(G w(1 − w))
#     excess    κ = ((1 − 6w(1 − w)) M₄/M₂² − 3(1 − 2w)²) / (G w(1 − w)).
#
# In a column of rare values both are large, the more so where one sample is small: a few rows
# decide its sum. As many permutations as anyone would run do not show how far that sum reaches
# where many columns are compared; γ and κ do. Of the normal inverse Gaussian distribution with
# mean 0, variance 1 and these two (κ at least 5γ²/3, which is the least it has) the exponent of
# the tail is
#
#     s(z) = α√(η² + y²) − βy − ηq,    y = z + ηβ/q,    q² = α² − β²,
#
# z²/2 for γ = κ = 0, and growing like |z| in heavy tails. What κ lacks of that least makes tails
# lighter: √(2s) = r becomes r + lack·(r³ − 3r)/24. On the side away from the skewness s is at
# most z²/2: there the sum of a lopsided column may or may not be short of room, which γ and κ do
# not tell.
#
# s is the score; exp(−s) is the order of the chance of a value beyond z, on its own side. z is the
# statistic less its mean, in deviations, both over all permutations that there are where a formula
# gives them (`tellapart.permutation.labels.Labels.null_moments`): those of a few hundred would blur
# every score. Else both are those of all *other* permutations that were drawn, so that a large
# change does not hide behind the deviation it makes.
#
# The true labels are treated like every permutation, and γ and κ see pooled rows alone. So scores
# are exchangeable under H₀ and what their maxima say is valid in finite samples, whether the tails
# fit or not; the better they fit, the less one column stands in the way of the others.


NOTHING = 0.0
"""The score of what cannot change: no other is smaller."""
# Deviations below this are rounding: statistics are of the order of 1, in single precision.
LEAST_DEVIATION = 1e-6
# Room above the least excess that a skewness allows, where the distribution degenerates.
ROOM = 0.05
LEAST_EXCESS = 1e-3
# What tails may lack of that excess, and be corrected for.
MOST_LACKING = 0.25
# Of the squares of a column this share at least is that of the other permutations.
LEAST_REST = 1e-3


@dataclass(frozen=True, eq=False)
class PermutedTails:
    """Skewness and excess of statistics, one of each per column, over all permutations."""

    skewness: FloatArray
    excess: FloatArray

    def scores(
        self,
        statistics: FloatArray | Singles,
        moments: tuple[FloatArray, FloatArray] | None = None,
    ) -> FloatArray:
        """Return s of statistics of shape (permutations, columns), signed; see the module.

        `moments` are mean and deviation of every column over all permutations, 0 for what does not
        vary; None: they are estimated.

        >>> rng = np.random.default_rng(0)
        >>> z = rng.standard_normal((1000, 1))
        >>> tails = PermutedTails(np.zeros(1), np.zeros(1))
        >>> bool(abs(tails.scores(z)[0, 0] - z[0, 0] ** 2 / 2) < 0.1)
        True
        """
        count, size = statistics.shape
        if moments is not None:
            mean, deviation = moments
            flat = deviation <= 0
            scores = (statistics - mean) / np.where(flat, 1.0, deviation)
            _exponents(*self.shape, scores)
        else:
            mean, squares, largest = np.zeros(size), np.zeros(size), np.zeros(size)
            _spreads(statistics, mean, squares, largest)
            flat = squares <= count * np.square(LEAST_DEVIATION * np.maximum(1.0, 10 * largest))
            scores = np.empty(statistics.shape)
            _score(statistics, mean, np.where(flat, 1.0, squares), *self.shape, scores)
        scores[:, flat] = NOTHING
        return scores

    @property
    def shape(self) -> tuple[FloatArray, ...]:
        """α, β, η², ηβ/q, ηq and 1/24 of the excess that is lacking, of every column."""
        square = np.square(self.skewness)
        least = 5 / 3 * (1 + ROOM) * square + LEAST_EXCESS
        excess = np.maximum(self.excess, least)
        lacking = np.minimum(excess - self.excess, MOST_LACKING)
        steep = 3 / (excess - 4 / 3 * square)
        lean = self.skewness * np.sqrt(steep) / 3
        rest = 1 - np.square(lean)
        q = np.sqrt(steep / rest)
        alpha = q / np.sqrt(rest)
        beta, eta = lean * alpha, steep / q
        return alpha, beta, np.square(eta), eta * beta / q, eta * q, lacking / 24


@dataclass(frozen=True, eq=False)
class BinMoments:
    """Moments of a feature's sums over single bins, of all columns, without regard to labels.

    Attributes
    ----------
    n_bins, share : int, float
        G, and w, the share of bins that carry the label of x.
    mean, deviation, skewness, kurtosis : arrays of length P
        The mean, √M₂, M₃/M₂^{3/2} and M₄/M₂²; a deviation of 0 is one of rounding.
    """

    n_bins: int
    share: float
    mean: FloatArray
    deviation: FloatArray
    skewness: FloatArray
    kurtosis: FloatArray

    @classmethod
    def of(cls, parts: Sequence[Singles], share: float) -> BinMoments:
        """Return the moments of sums over bins, in parts of shape (bins, P) whatever the labels."""
        totals = np.zeros((4, parts[0].shape[1]))
        for part in parts:
            _add_powers(part, totals)
        n_bins = sum(part.shape[0] for part in parts)
        first, second, third, fourth = totals / n_bins
        square = second - first**2
        varies = square > LEAST_DEVIATION**2
        unit = np.where(varies, square, 1.0)
        cube = third - 3 * first * second + 2 * first**3
        power = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
        return cls(
            n_bins=n_bins,
            share=share,
            mean=first,
            deviation=np.sqrt(np.where(varies, square, 0.0)),
            skewness=cube / unit**1.5,
            kurtosis=power / unit**2,
        )

    @property
    def _rows(self) -> float:
        """G·w(1 − w), by which permuted sums come closer to normal ones."""
        return self.n_bins * self.share * (1 - self.share)

    def sum_over_x(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and deviation over all permutations of the sum over the bins of x."""
        deviation = np.sqrt(self._rows * self.n_bins / max(self.n_bins - 1, 1)) * self.deviation
        return self.n_bins * self.share * self.mean, deviation

    def of_sum(self) -> PermutedTails:
        """Return the tails of the sum itself."""
        w = self.share
        excess = (1 - 6 * w * (1 - w)) * self.kurtosis - 3 * (1 - 2 * w) ** 2
        return PermutedTails((1 - 2 * w) * self.skewness / np.sqrt(self._rows), excess / self._rows)

    def of_root(self, mean: float) -> PermutedTails:
        """Return the tails of √(sum over x / rows) − √(sum over y / rows), to first order.

        With u = √M₂/mean, `mean` that of a bin's sum, the root takes (3/2)u off M₃/M₂^{3/2}, and
        adds (1 − 3w(1 − w))(6u² − 6u M₃/M₂^{3/2}) to the excess times G w(1 − w). Nothing is left
        of either for variances of normal columns in which one sample is small.
        """
        plain, w, u = self.of_sum(), self.share, self.deviation / mean
        more = (1 - 3 * w * (1 - w)) * 6 * u * (u - self.skewness)
        return PermutedTails(
            plain.skewness - (1 - 2 * w) * 1.5 * u / np.sqrt(self._rows),
            plain.excess + more / self._rows,
        )


@compiled
def _add_powers(sums, totals):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add up the first four powers of the sums, column by column."""
    for g in range(sums.shape[0]):
        for p in range(sums.shape[1]):
            a = float(sums[g, p])
            square = a * a
            totals[0, p] += a
            totals[1, p] += square
            totals[2, p] += square * a
            totals[3, p] += square * square


@compiled
def _spreads(statistics, mean, squares, largest):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Set the mean of every column, the squares about it, and the largest size."""
    count, size = statistics.shape
    for e in range(count):
        for p in range(size):
            mean[p] += statistics[e, p]
            largest[p] = max(largest[p], abs(statistics[e, p]))
    for p in range(size):
        mean[p] /= count
    for e in range(count):
        for p in range(size):
            squares[p] += (statistics[e, p] - mean[p]) ** 2


# No order of sums is at stake: loops are over columns, each by itself.
FAST = {"nnan", "ninf", "nsz", "arcp"}


@compiled(fastmath=FAST)
def exponent(z, square, alpha, beta, eta_square, shift, base, light):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return s of what lies z deviations off its mean, `square` being z²."""
    y = z + shift
    tail = alpha * math.sqrt(eta_square + y * y) - beta * y - base
    tail = min(tail, square / 2) if z * beta < 0 else tail
    more = 1.0 + light * (2.0 * tail - 3.0)
    return tail * more * more


@compiled(fastmath=FAST)
def _score(  # type: ignore[no-untyped-def]  # pragma: no cover
    statistics, mean, squares, alpha, beta, eta_square, shift, base, light, scores
):  # fmt: skip
    count, size = statistics.shape
    others = count - 1.0
    share = others / count
    for e in range(count):
        for p in range(size):
            # Off the mean of the others, in deviations of the others.
            off = (statistics[e, p] - mean[p]) / share
            rest = max(squares[p] - off * off * share, LEAST_REST * squares[p])
            scores[e, p] = off * math.sqrt(others / rest)
        # By itself: a loop over fewer arrays is one that compilers make vectors of.
        for p in range(size):
            z = scores[e, p]
            scores[e, p] = exponent(
                z, z * z, alpha[p], beta[p], eta_square[p], shift[p], base[p], light[p]
            )


@compiled(fastmath=FAST)
def _exponents(alpha, beta, eta_square, shift, base, light, scores):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Turn deviations off the mean into scores."""
    for e in range(scores.shape[0]):
        for p in range(scores.shape[1]):
            z = scores[e, p]
            scores[e, p] = exponent(
                z, z * z, alpha[p], beta[p], eta_square[p], shift[p], base[p], light[p]
            )


# One p-value from several families of statistics, all under one set of permutations.
#
# p_k(e) is the p-value of statistic k (its cube root, which is closer to an exponential tail),
# s_f(e) = log Σ_k 1/p_k(e) the score of a family, p_f(e) the p-value of that score, and
#
#     C(e) = Σ_f w_f / p_f(e),        p = #{e : C(e) ≥ C(e₀)}/(B + 1).
#
# All of it treats the true labels e₀ like every other permutation, so (C(e₀), …, C(e_B)) is
# exchangeable under H₀ and P(p ≤ α) ≤ α in finite samples.


# Combined values closer than this share are a tie: the exponential of a tail widens the
# differences of single-precision sums.
COMBINATION_TIE = 1e-4


@dataclass(frozen=True)
class Combined:
    """The combination of all families under every permutation, the true labels first.

    Attributes
    ----------
    values : array
        log C(e).
    pvalues : mapping from family to float
        The valid p-value of each family by itself.
    """

    values: FloatArray
    pvalues: Mapping[str, float]


def family_score(statistics: FloatArray) -> FloatArray:
    """Return s_f = log Σ_k 1/p_k for statistics of shape (permutations, k).

    The smallest p_k decides, and others that are small, too, add to it.
    """
    pvalues = tail_pvalues(np.cbrt(np.maximum(statistics, 0.0)))
    return np.asarray(np.log((1 / pvalues).sum(axis=1)))


def combine(scores: Mapping[str, FloatArray], weights: Mapping[str, float]) -> Combined:
    """Combine the scores s_f of the families, each with its weight."""
    table = np.column_stack(list(scores.values()))
    ranks = rank_pvalues(table)[0]
    shares = np.array([weights[name] for name in scores])
    values = np.log((shares / tail_pvalues(table)).sum(axis=1))
    return Combined(values, dict(zip(scores, map(float, ranks), strict=True)))
