"""Every column's own test: unadjusted p-value, familywise adjusted p-value and q-value.

The unadjusted p-value of a column is the rank of its score among all permutations, ties counted
against rejection: valid in finite samples. Where fewer than ten permutations come up to the
observed score, such a rank is coarse, and never below 1/(B + 1): there a tail takes its place
(Knijnenburg et al. 2009). A score s is the exponent of a normal tail, so that

    t = −log 2Φ(−√(2s))

has an exponential tail of mean 1 where s fits, of one statistic or of the largest of several. Over
the (k₀ + 1)-th largest t of the permutations, u, with k₀ = ⌊B/10⌋, the mean excess m is that of the
column, drawn to 1 by `PRIOR` excesses more where it is smaller, and

    p = (k₀ + 1)/(B + 1) · exp(−(t − u)/m).

Where the squared coefficient of variation of the k₀ excesses, v, exceeds the 1 of an exponential
tail by more than three standard errors, the tail is that of the generalised Pareto distribution
with the same mean and variance, which is heavier: ξ = (1 − 1/v)/2, σ = m(1 + 1/v)/2, and
(1 + ξx/σ)^(−1/ξ) in place of exp(−x/m).

The tail is used only where it fits: v must be at most `MOST_VARIATION`, as many permutations as
came up to the score must not be surprising (a probability of at least `PLAUSIBLE` under the Poisson
distribution with mean pB), and k₀ must be at least `FEWEST`. No p-value is smaller than one over
the number of all labellings. Such a p-value is approximate, and marked so; all others are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.permutation.pvalues import benjamini_hochberg
from tellapart.scan.tails import TIE

TAIL_SHARE = 0.1
FEWEST = 19
"""Excesses that a tail is fitted to, at least."""
FEW_REACHED = 10
"""Permutations that come up to a score, from which on a rank is precise."""
PLAUSIBLE = 0.05
MOST_VARIATION = 6.0
"""Tails that vary by more are no tails of the generalised Pareto distribution, or hardly any."""
PRIOR = 100.0
"""Excesses of mean 1 that a mean excess below 1 is drawn to."""


@dataclass(frozen=True, eq=False)
class ColumnTests:
    """The test of every column, in the order of the columns.

    Attributes
    ----------
    names : tuple of str
        The columns.
    pvalue : array
        Unadjusted: valid for a single column; 1 for a column that does not vary.
    adjusted : array
        Adjusted for the familywise error rate over all columns, pairs and triples.
    qvalue : array
        The smallest level at which Benjamini and Hochberg's procedure over the unadjusted p-values
        of all columns that vary rejects the column.
    approximate : array of bool
        Whether `pvalue`, which fewer than ten permutations came up to, is that of a tail that was
        fitted to them.
    n_compared : int
        Columns that vary, over which q-values are computed.

    Examples
    --------
    >>> import numpy as np, tellapart as ta
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3)) + [0, 1, 0]
    >>> tests = ta.two_sample_test(X, Y, random_state=0).column_tests
    >>> tests.names, tests.pvalue < 0.001
    (('x0', 'x1', 'x2'), array([False,  True, False]))
    """

    names: tuple[str, ...]
    pvalue: FloatArray
    adjusted: FloatArray
    qvalue: FloatArray
    approximate: BoolArray
    n_compared: int = 0

    @classmethod
    def of(
        cls, names: Sequence[str], unadjusted: Unadjusted, adjusted: FloatArray, compared: BoolArray
    ) -> ColumnTests:
        """Return the tests of columns, of which those that were `compared` share q-values."""
        qvalue = np.ones(len(names))
        qvalue[compared] = benjamini_hochberg(unadjusted.pvalue[compared])
        return cls(
            tuple(names),
            unadjusted.pvalue,
            adjusted,
            qvalue,
            unadjusted.approximate,
            int(compared.sum()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the tests as plain Python values, ready for JSON."""
        return {
            "names": list(self.names),
            "pvalue": self.pvalue.tolist(),
            "adjusted": self.adjusted.tolist(),
            "qvalue": self.qvalue.tolist(),
            "approximate": self.approximate.tolist(),
        }


@dataclass(frozen=True, eq=False)
class Unadjusted:
    """Unadjusted p-values, and which of them are approximate."""

    pvalue: FloatArray
    approximate: BoolArray

    @classmethod
    def none(cls, size: int) -> Unadjusted:
        """Return p-values of 1."""
        return cls(np.ones(size), np.zeros(size, dtype=np.bool_))

    @classmethod
    def of(cls, table: FloatArray, log_labellings: float, *, exact: bool) -> Unadjusted:
        """Return the p-values of units with a table of scores, the true labels first.

        Parameters
        ----------
        table : array of shape (permutations, units)
            Scores s ≥ 0, exponents of tails.
        log_labellings : float
            The logarithm of the number of all labellings.
        exact : bool
            Whether all of them are in the table.

        Examples
        --------
        >>> scores = np.random.default_rng(0).chisquare(1, size=(1000, 1)) / 2
        >>> scores[0] = 12.0
        >>> known = Unadjusted.of(scores, 100.0, exact=False)
        >>> bool(known.approximate[0] and 1e-7 < known.pvalue[0] < 1e-5)
        True
        """
        count = table.shape[0]
        own = table[0]
        # Rounding is of the size of the scores that are compared.
        reached = (table[1:] >= own * (1 - TIE)).sum(axis=0)
        pvalue = (1 + reached) / count
        approximate = np.zeros(own.size, dtype=np.bool_)
        inside = int(TAIL_SHARE * (count - 1))
        few = np.flatnonzero((reached < FEW_REACHED) & (own > 0))
        if exact or inside < FEWEST or few.size == 0:
            return cls(pvalue, approximate)
        tail, fits = _tail(exponential(table[:, few]), inside)
        tail = np.where(fits, np.maximum(tail, np.exp(-log_labellings)), 0.0)
        of_few = cls.by_tail(reached[few], tail, count, fits)
        pvalue[few], approximate[few] = of_few.pvalue, of_few.approximate
        return cls(pvalue, approximate)

    @classmethod
    def by_tail(
        cls,
        reached: NDArray[np.integer],
        tail: FloatArray,
        count: int,
        fits: BoolArray | None = None,
    ) -> Unadjusted:
        """Return the p-values of a tail where few of `count` − 1 permutations come up to a score.

        It must make as many as did plausible; elsewhere p-values are those of ranks.
        """
        plausible = special.pdtrc(reached - 1, tail * (count - 1)) >= PLAUSIBLE
        approximate = (reached < FEW_REACHED) & ((reached == 0) | plausible)
        if fits is not None:
            approximate &= fits
        return cls(np.where(approximate, tail, (1 + reached) / count), approximate)

    def some(self, units: IntArray) -> Unadjusted:
        """Return the p-values of some units."""
        return Unadjusted(self.pvalue[units], self.approximate[units])

    @classmethod
    def joined(cls, parts: Sequence[Unadjusted]) -> Unadjusted:
        """Return the p-values of several sets of units, one after the other."""
        return cls(
            np.concatenate([part.pvalue for part in parts]),
            np.concatenate([part.approximate for part in parts]),
        )


def exponential(scores: FloatArray) -> FloatArray:
    """Return −log 2Φ(−√(2s))."""
    return np.asarray(-special.log_ndtr(-np.sqrt(2 * scores)) - np.log(2))


def _tail(values: FloatArray, inside: int) -> tuple[FloatArray, BoolArray]:
    """Return the tail p-values of the first row among the others, and where the tail fits."""
    others = np.partition(values[1:], values.shape[0] - 2 - inside, axis=0)
    start = others[-inside - 1]
    excesses = others[-inside:] - start
    mean = excesses.mean(axis=0)
    usable = mean > TIE * np.maximum(start, 1e-300)
    held = np.where(usable, mean, 1.0)
    variation = np.square(excesses).mean(axis=0) / np.square(held) - 1
    heavy = variation > 1 + 3 * 2 / np.sqrt(inside)
    beyond = values[0] - start
    drawn = np.maximum((inside * held + PRIOR) / (inside + PRIOR), held)
    inverse = 1 / np.where(heavy, variation, 1.0)
    shape = np.where(heavy, (1 - inverse) / 2, 0.5)
    scale = held * (1 + inverse) / 2
    pareto = (1 + shape * np.maximum(beyond, 0) / scale) ** (-1 / shape)
    tail = np.where(heavy, pareto, np.exp(-beyond / drawn))
    pvalues = (inside + 1) / values.shape[0] * tail
    return np.asarray(pvalues), np.asarray(usable & (variation <= MOST_VARIATION))
