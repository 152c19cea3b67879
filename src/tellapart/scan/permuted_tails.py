"""How far sums reach when labels are permuted: scores that go on where ranks end.

A statistic is, exactly or to first order, a sum Σ_g ℓ_g a_g over the G bins that carry the label
of x, a share w of them. With a_g less their mean and M_k = mean of a_g^k, permutations give it

    skewness  γ = (1 − 2w) M₃/M₂^{3/2} / √(G w(1 − w))
    excess    κ = ((1 − 6w(1 − w)) M₄/M₂² − 3(1 − 2w)²) / (G w(1 − w)).

In a column of rare values both are large, the more so where one sample is small: a few rows decide
its sum. As many permutations as anyone would run do not show how far that sum reaches where many
columns are compared; γ and κ do. Of the normal inverse Gaussian distribution with mean 0,
variance 1 and these two (κ at least 5γ²/3, which is the least it has) the exponent of the tail is

    s(z) = α√(η² + y²) − βy − ηq,    y = z + ηβ/q,    q² = α² − β²,

z²/2 for γ = κ = 0, and growing like |z| in heavy tails. What κ lacks of that least makes tails
lighter: √(2s) = r becomes r + lack·(r³ − 3r)/24. On the side away from the skewness s is at most
z²/2: there the sum of a lopsided column may or may not be short of room, which γ and κ do not tell.

s is the score; exp(−s) is the order of the chance of a value beyond z, on its own side. z is the
statistic less its mean, in deviations, both over all *other* permutations, so that a large change
does not hide behind the deviation it makes.

The true labels are treated like every permutation, and γ and κ see pooled rows alone. So scores
are exchangeable under H₀ and what their maxima say is valid in finite samples, whether the tails
fit or not; the better they fit, the less one column stands in the way of the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.compiling import compiled
from tellapart.permutation.bins import Singles

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

    def scores(self, statistics: FloatArray | Singles) -> FloatArray:
        """Return s of statistics of shape (permutations, columns), signed; see the module.

        >>> rng = np.random.default_rng(0)
        >>> z = rng.standard_normal((1000, 1))
        >>> tails = PermutedTails(np.zeros(1), np.zeros(1))
        >>> bool(abs(tails.scores(z)[0, 0] - z[0, 0] ** 2 / 2) < 0.1)
        True
        """
        count, size = statistics.shape
        mean, squares, largest = np.zeros(size), np.zeros(size), np.zeros(size)
        _spreads(statistics, mean, squares, largest)
        flat = squares <= count * np.square(LEAST_DEVIATION * np.maximum(1.0, 10 * largest))
        found = np.empty(statistics.shape)
        alpha, beta, square, shift, base, light = self.shape
        held = np.where(flat, 1.0, squares)
        _score(statistics, mean, held, alpha, beta, square, shift, base, light, found)
        found[:, flat] = NOTHING
        return found

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
    deviation, skewness, kurtosis : arrays of length P
        √M₂, M₃/M₂^{3/2} and M₄/M₂²; a deviation of 0 is one of rounding.
    """

    n_bins: int
    share: float
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
            deviation=np.sqrt(np.where(varies, square, 0.0)),
            skewness=cube / unit**1.5,
            kurtosis=power / unit**2,
        )

    @property
    def _rows(self) -> float:
        """G·w(1 − w), by which permuted sums come closer to normal ones."""
        return self.n_bins * self.share * (1 - self.share)

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
    mean /= count
    for e in range(count):
        for p in range(size):
            squares[p] += (statistics[e, p] - mean[p]) ** 2


# No order of sums is at stake: loops are over columns, each by itself.
FAST = {"nnan", "ninf", "nsz", "arcp"}


@compiled(fastmath=FAST)
def exponent(z, square, alpha, beta, eta_square, shift, base, light):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return s of what lies z deviations off its mean, `square` being z²."""
    y = z + shift
    own = alpha * math.sqrt(eta_square + y * y) - beta * y - base
    own = min(own, square / 2) if z * beta < 0 else own
    more = 1.0 + light * (2.0 * own - 3.0)
    return own * more * more


@compiled(fastmath=FAST)
def _score(  # type: ignore[no-untyped-def]  # pragma: no cover
    statistics, mean, squares, alpha, beta, eta_square, shift, base, light, found
):  # fmt: skip
    count, size = statistics.shape
    others = count - 1.0
    share = others / count
    for e in range(count):
        for p in range(size):
            # Off the mean of the others, in deviations of the others.
            off = (statistics[e, p] - mean[p]) / share
            rest = max(squares[p] - off * off * share, LEAST_REST * squares[p])
            found[e, p] = off * math.sqrt(others / rest)
        # By itself: a loop over fewer arrays is one that compilers make vectors of.
        for p in range(size):
            z = found[e, p]
            found[e, p] = exponent(
                z, z * z, alpha[p], beta[p], eta_square[p], shift[p], base[p], light[p]
            )
