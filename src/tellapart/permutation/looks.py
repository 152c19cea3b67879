"""Further permutations while the verdict is open, by looks that keep the level exactly.

Labels e₀ (observed) and e₁, …, e_M are the leaves of a tree with equal branches: batches of n₁
labellings, groups of n₂ = g·n₁, and so on up to all M + 1. A look of size n computes a statistic of
the n labellings of one branch. It may depend on all of them as long as it treats them alike (ranks
among them, tails fitted to them, medians over a batch). From it follows the rank p-value of each.
The observed labelling goes through the looks at the branches that contain it:

- p ≤ low or p > high: the verdict is settled, and p is reported;
- else further labellings are drawn, up to the next branch.

At the next look labellings that are settled keep their side: those with p ≤ low are placed above
all that are open, those with p > high below (`placed`). `Looks` holds the sizes and the bounds.

Validity. Under H₀ the labellings are exchangeable, so their joint law is invariant under every
symmetry of the tree, and these take every leaf to every other. Suppose that all looks at all
branches had been made. Order the M + 1 labellings: settled low at the first look, by p there;
settled low at the second; …; open at the last look, by its statistic; settled high at the last look
but one, by p; …; settled high at the first. This order commutes with the symmetries, so the place
of the observed labelling in it, over M + 1, is a Q with P(Q ≤ x) ≤ x. What is reported is never
smaller than Q. For among n values at most x·n have a rank p-value ≤ x. So in every branch of a look
at most x·n labellings were settled low before it or have p ≤ x at it, for x above the `low` of the
look before. Over all branches these are x·(M + 1), which bounds the place of a labelling that is
settled with p = x, on either side. At the last look the place is counted. Hence P(p ≤ x) ≤ x for
every x, whatever was decided on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tellapart.arrays import FloatArray

UNLIKELY = 1e-3
"""A verdict is settled by p-values that are this unlikely where p is alpha in the long run."""
VARIANCE_FACTOR = 4
"""Statistics that are calibrated on their own permutations make p-values vary more between seeds
than counts do: their variance is at most about this many times that of a count."""
CLEAR_FLOOR = 0.2
"""A p-value at its floor settles the verdict where the floor is at most this share of alpha."""
FEWEST_PERMUTATIONS = 999
"""Fewer permutations than this are drawn as asked, whatever the verdict."""
MIDDLE_LOOK = 5
"""Batches of the second look, where there are at least twice as many in all."""
MOST_BATCHES = 20

Sides = NDArray[np.int8]
"""1 where a labelling is settled low, −1 where it is settled high, 0 where it is open."""
T = TypeVar("T")


@dataclass(frozen=True)
class Look:
    """A look at so many labellings, and the p-values that settle the verdict there."""

    size: int
    low: float
    high: float


@dataclass(frozen=True)
class Looks:
    """The looks at the labels, from small to large; after the last one the verdict stands.

    Attributes
    ----------
    looks : tuple of Look
        Each size is a multiple of the one before.
    """

    looks: tuple[Look, ...]

    @classmethod
    def of(cls, n_permutations: int, most: int, alpha: float) -> Looks:
        """Return the looks that begin with so many permutations, of at most `most`.

        >>> [look.size for look in Looks.of(999, 19_999, 0.05).looks]
        [1000, 5000, 20000]
        >>> first = Looks.of(999, 19_999, 0.05).looks[0]
        >>> first.low, first.high
        (0.012, 0.1)
        >>> len(Looks.of(199, 19_999, 0.05).looks), len(Looks.of(999, 999, 0.05).looks)
        (1, 1)
        """
        batch = n_permutations + 1
        batches = min((most + 1) // batch, MOST_BATCHES)
        numbers = [1]
        if n_permutations >= FEWEST_PERMUTATIONS and batches > 1:
            if batches >= 2 * MIDDLE_LOOK:
                numbers.append(MIDDLE_LOOK)
                batches -= batches % MIDDLE_LOOK
            numbers.append(batches)
        sizes = [number * batch for number in numbers]
        looks: list[Look] = []
        for size in sizes:
            low, high = bounds_of(size, alpha)
            looks.append(Look(size, max(low, looks[-1].low) if looks else low, high))
        return cls(tuple(looks))

    @property
    def batch(self) -> int:
        """Labellings of the first look."""
        return self.looks[0].size

    def settled(self, place: int, pvalue: float) -> bool:
        """Say whether the verdict is settled at the look of this place, if it was open before."""
        look, last = self.looks[place], place == len(self.looks) - 1
        return last or self._low_before(place) < pvalue <= look.low or pvalue > look.high

    def follow(
        self,
        first: T,
        statistic: Callable[[Sequence[T]], FloatArray],
        further: Callable[[int], Sequence[T] | None],
        tolerance: float = 0.0,
        values: FloatArray | None = None,
    ) -> FloatArray:
        """Return the statistic of all labellings of the look that settles the verdict.

        Its rank p-value is valid. The observed labelling comes first.

        Parameters
        ----------
        first : object
            What is known of the first batch, in which the observed labelling is the first.
        statistic : callable
            From the batches of a branch to the statistic of their labellings, in the same order.
        further : callable
            Draws so many further batches; None where it cannot, for reasons that have nothing to do
            with the labels.
        tolerance : float
            Statistics this close are a tie, and count against rejection.
        values : array or None
            The statistic of the first batch, where it is known.
        """
        batches = [first]
        values = statistic(batches) if values is None else values
        for place in range(1, len(self.looks)):
            if self.settled(place - 1, float(rank_pvalues_of(values, tolerance)[0])):
                break
            more = further(self.looks[place].size // self.batch - len(batches))
            if more is None:
                break
            batches.extend(more)
            values, _ = self._placed(batches, statistic, tolerance, place)
        return values

    def _low_before(self, place: int) -> float:
        """Return `low` of the look before."""
        return self.looks[place - 1].low if place else 0.0

    def _placed(
        self,
        batches: Sequence[T],
        statistic: Callable[[Sequence[T]], FloatArray],
        tolerance: float,
        place: int,
    ) -> tuple[FloatArray, Sides]:
        """Return the values at a look, and the sides on which labellings were settled before it."""
        values = statistic(batches)
        if place == 0:
            return values, np.zeros(values.size, dtype=np.int8)
        before, low_before = self.looks[place - 1], self._low_before(place - 1)
        n_batches = before.size // self.batch
        sides: list[Sides] = []
        for start in range(0, len(batches), n_batches):
            branch = batches[start : start + n_batches]
            earlier, side = self._placed(branch, statistic, tolerance, place - 1)
            pvalues = rank_pvalues_of(earlier, tolerance)
            still_open = side == 0
            side[still_open & (low_before < pvalues) & (pvalues <= before.low)] = 1
            side[still_open & (pvalues > before.high)] = -1
            sides.append(side)
        side = np.concatenate(sides)
        return placed(values, side), side


def bounds_of(count: int, alpha: float) -> tuple[float, float]:
    """Return the p-values of `count` labellings, observed one included, that settle a verdict.

    Where p is alpha in the long run, a p-value at most the first occurs with probability of about
    `UNLIKELY` at most, and likewise one above the second. A p-value at its floor settles the
    verdict too, where alpha is at least five times as large.

    >>> bounds_of(1000, 0.05), bounds_of(1000, 0.01), bounds_of(5000, 0.05)
    ((0.012, 0.1), (0.001, 0.04), (0.032, 0.0704))
    """
    effective = max(count // VARIANCE_FACTOR, 1)
    others = np.arange(effective)
    at_most = special.bdtr(others, effective - 1, alpha)
    at_least = np.concatenate([[1.0], 1 - at_most[:-1]])
    low = int(np.count_nonzero(at_most <= UNLIKELY)) / effective
    if low < 1 / count <= CLEAR_FLOOR * alpha:
        low = 1 / count
    return low, int(np.count_nonzero(at_least > UNLIKELY)) / effective


def rank_pvalues_of(values: FloatArray, tolerance: float) -> FloatArray:
    """Return #{e' : T(e') + tolerance ≥ T(e)}/n of each of n values.

    >>> rank_pvalues_of(np.array([3.0, 1.0, 2.0, 2.0]), 0.0).tolist()
    [0.25, 1.0, 0.75, 0.75]
    """
    rising = np.sort(values) + tolerance
    return np.asarray((values.size - np.searchsorted(rising, values, side="left")) / values.size)


def placed(values: FloatArray, sides: Sides) -> FloatArray:
    """Return values with those settled low above all that are open, and those high below.

    >>> placed(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 0, -1], dtype=np.int8)).tolist()
    [3.0, 2.0, 3.0, 2.0]
    """
    still_open = values[sides == 0]
    if still_open.size == 0:
        return values
    above = np.where(sides > 0, np.maximum(values, still_open.max()), values)
    return np.asarray(np.where(sides < 0, np.minimum(values, still_open.min()), above))
