"""Higher: four columns whose product changes, and directions across three to five columns.

There are too many of either to look at under every permutation, and no need to: what differs
between the samples stands out in the pooled rows, too, unless it cancels there exactly. So the
pooled rows, without labels, name the few candidates, and the permutations test those:

    four columns    whose mean product differs most from what their correlations explain,
    directions      v, sums ±z_i ±z_j … of 3, 4 or 5 normal scores, for which the mean of
                    cos(ωv/|v|) differs most from that of a normal variable of the same variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import Budget
from tellapart.interrupts import check_interrupts
from tellapart.permutation.labels import TwoSampleSums
from tellapart.scan.families.triple import SCORES, usable_scores
from tellapart.scan.family import Family, FamilyPlan, FamilyResult, ScanState, Skipped
from tellapart.scan.features import Directions, Feature, Product
from tellapart.scan.pool import Pool
from tellapart.scan.scores import Scores

# Columns among which fours are sought: their pairs are multiplied with their pairs.
FOUR_COLUMNS = 40
FOURS = 50
DIRECTION_COLUMNS = 40
FREQUENCY = 2.5
# Directions of one size that are extended by a further column, and that are tested.
EXTENDED = {3: 1000, 4: 200}
TESTED = 60
# A deviation below this share of the largest value is rounding.
FLAT = 1e-6


@dataclass(frozen=True, eq=False, kw_only=True)
class HigherPlan(FamilyPlan):
    """Fours and directions, found without labels, and 1/deviation of each in the pooled rows.

    The scale of what does not vary is 0.
    """

    scales: dict[Feature, FloatArray]


class Higher(Family):
    """Four columns whose product changes, and directions across three to five columns."""

    name = "higher"
    weight = 0.5
    description = "interactions of four columns, and projections of three to five"
    work = 5
    fewest_rows = 16

    def plan(self, state: ScanState, budget: Budget) -> HigherPlan | Skipped:
        """Find the fours and directions that stand out in the pooled rows."""
        share, scores = state.effort ** (1 / 4), state.scores
        most = four_columns(scores.normal.shape[0], budget)
        for_fours = state.dependence.most(int(most * share))
        needed = None if for_fours.size >= 4 else "four columns that vary"
        reason = state.why_skipped(self.fewest_rows, needed)
        if reason is not None:
            return Skipped(reason)
        for_directions = state.dependence.most(int(DIRECTION_COLUMNS * share), scores.numeric)
        candidates = plan_higher(scores, for_fours, for_directions, state.screening)
        return HigherPlan(features=tuple(candidates), scales=candidates)

    def run(self, contrasts: Pool, plan: HigherPlan) -> FamilyResult:
        """Return the largest δ² of the fours, by signs and ranks, and of the directions."""
        largest = [
            _largest(contrasts, contrasts.sums.feature(feature), scale)
            for feature, scale in plan.scales.items()
        ]
        return FamilyResult(np.column_stack(largest))


def four_columns(n_rows: int, budget: Budget) -> int:
    """Return how many columns can be searched for fours: N·P⁴/2 multiplications.

    >>> four_columns(400, Budget()), four_columns(40_000, Budget())
    (40, 40)
    """
    n_rows = min(n_rows, budget.screening_rows)
    return min(int((2 * budget.four_products / n_rows) ** 0.25), FOUR_COLUMNS)


def plan_higher(
    pooled_scores: Scores, for_fours: IntArray, for_directions: IntArray, seen: IntArray
) -> dict[Feature, FloatArray]:
    """Return the candidates among some columns with their scales; the rows `seen` name them."""
    candidates: dict[Feature, FloatArray] = {}
    for name, score in SCORES.items():
        values = usable_scores(pooled_scores, name)
        columns = _fours(values[seen], for_fours, pooled_scores.column)
        scale = _inverse_deviation(np.prod(values[:, columns], axis=2))
        if pooled_scores.present is not None:
            # A product with a missing value is 0: of the rows that have all four, it varies more.
            scale *= np.sqrt(np.prod(pooled_scores.present[:, columns], axis=2).mean(axis=0))
        candidates[Product((score,) * 4, tuple(columns.T))] = scale
    weights = _directions(pooled_scores.normal[seen], for_directions, pooled_scores.column)
    sums = pooled_scores.normal.astype(np.float64) @ weights.T
    mean, inverse = sums.mean(axis=0), _inverse_deviation(sums)
    waves = np.cos(FREQUENCY * (sums - mean) * inverse)
    candidates[Directions(weights, mean, inverse, FREQUENCY)] = _inverse_deviation(waves)
    return candidates


def _largest(pool: Pool, sums: TwoSampleSums, scale: FloatArray) -> FloatArray:
    if sums.size == 0:
        return np.zeros(pool.count)
    null_scale = pool.labels.null_scale(sums, scale)
    assert null_scale is not None
    changes = pool.changes(sums) * null_scale.astype(np.float32)
    return np.asarray(np.square(changes).max(axis=1), dtype=np.float64)


def _inverse_deviation(values: FloatArray | Singles) -> FloatArray:
    """Return 1/deviation of each column; 0 for what does not vary."""
    deviation = values.std(axis=0, dtype=np.float64)
    flat = deviation <= FLAT * np.maximum(np.abs(values).max(axis=0, initial=0.0), 1e-300)
    return np.asarray(np.where(flat, 0.0, 1 / np.where(flat, 1.0, deviation)))


def _fours(values: Singles, columns: IntArray, parent: IntArray) -> IntArray:
    """Return the fours of columns whose product stands out in the pooled rows."""
    if columns.size < 4:
        return np.zeros((0, 4), dtype=np.intp)
    scores, n_rows = values[:, columns], values.shape[0]
    i, j = np.triu_indices(columns.size, 1)
    products = scores[:, i] * scores[:, j]
    products -= products.mean(axis=0)
    correlation = scores.T @ scores / n_rows
    # What normal variables of these correlations would have: r_ac r_bd + r_ad r_bc.
    explained = correlation[i][:, i] * correlation[j][:, j]
    explained += correlation[i][:, j] * correlation[j][:, i]
    strength = np.abs(products.T @ products / n_rows - explained)
    squares = np.square(products)
    strength /= np.sqrt(np.maximum(squares.T @ squares / n_rows, 1e-6))
    source = parent[columns]
    pairs = np.stack([source[i], source[j]])
    distinct = i[:, np.newaxis] < i
    for a in range(2):
        for b in range(2):
            distinct &= pairs[a][:, np.newaxis] != pairs[b]
    distinct &= (pairs[0] != pairs[1])[:, np.newaxis] & (pairs[0] != pairs[1])
    strength[~distinct] = 0.0
    most = min(FOURS, int(np.count_nonzero(strength)))
    best = np.argpartition(-strength.ravel(), max(most - 1, 0))[:most]
    p, q = np.unravel_index(np.sort(best), strength.shape)
    return columns[np.column_stack([i[p], j[p], i[q], j[q]])]


def _directions(normal: Singles, columns: IntArray, parent: IntArray) -> FloatArray:
    """Return rows of ±1 and 0, one per direction, over all score columns."""
    tested = np.zeros((0, normal.shape[1]))
    if columns.size < 3:
        return tested
    scores = normal[:, columns]
    together = (parent[columns][:, np.newaxis] == parent[columns]).astype(np.float64)
    correlation = (scores.T @ scores).astype(np.float64) / scores.shape[0]
    i, j = np.triu_indices(columns.size, 1)
    pairs = np.zeros((2 * i.size, columns.size))
    both = np.arange(i.size)
    pairs[both, i] = pairs[both + i.size, i] = 1.0
    pairs[both, j], pairs[both + i.size, j] = 1.0, -1.0
    pairs = pairs[~((pairs != 0) @ together > 1)[np.arange(2 * i.size), np.tile(i, 2)]]
    directions = pairs
    for size in (3, 4, 5):
        check_interrupts()
        directions = _extended(scores, directions, correlation, together, size)
        wide = np.zeros((min(directions.shape[0], TESTED), normal.shape[1]))
        wide[:, columns] = directions[:TESTED]
        tested = np.concatenate([tested, wide])
        if size in EXTENDED:
            directions = directions[: EXTENDED[size]]
    return tested


def _extended(
    scores: Singles,
    directions: FloatArray,
    correlation: FloatArray,
    together: FloatArray,
    size: int,
) -> FloatArray:
    """Return the directions with one more column, ± , the farthest from normal first."""
    frequency = np.float32(FREQUENCY / np.sqrt(size))
    phase = frequency * (scores @ directions.T.astype(np.float32))
    cosine, sine = np.cos(phase), np.sin(phase)
    angle = frequency * scores
    # mean cos(p ± a) = mean(cos p cos a) ∓ mean(sin p sin a): two products for both signs.
    even = (cosine.T @ np.cos(angle)).astype(np.float64) / scores.shape[0]
    odd = (sine.T @ np.sin(angle)).astype(np.float64) / scores.shape[0]
    variance = np.einsum("ij,jk,ik->i", directions, correlation, directions)
    slope = directions @ correlation
    taken = (directions != 0) @ together > 0
    best: list[FloatArray] = []
    strengths: list[FloatArray] = []
    for sign in (1.0, -1.0):
        spread = variance[:, np.newaxis] + 1.0 + 2.0 * sign * slope
        strength = np.abs(even - sign * odd - np.exp(-0.5 * float(frequency) ** 2 * spread))
        strength[taken] = 0.0
        most = min(2 * max(EXTENDED.values()), strength.size)
        top = np.argpartition(-strength.ravel(), most - 1)[:most]
        row, column = np.unravel_index(top, strength.shape)
        new = directions[row].copy()
        new[np.arange(most), column] = sign
        best.append(new)
        strengths.append(strength[row, column])
    every, strength = np.concatenate(best), np.concatenate(strengths)
    every = every[strength > 0]
    strength = strength[strength > 0]
    # Each direction once, whichever way its columns were found, with its first column positive.
    first = (every != 0).argmax(axis=1)
    every *= every[np.arange(every.shape[0]), first][:, np.newaxis]
    # Rows of bytes are compared as such, far faster than rows of numbers.
    rows = np.ascontiguousarray(every.astype(np.int8)).view(f"V{every.shape[1]}").ravel()
    _, once = np.unique(rows, return_index=True)
    return every[once[np.argsort(-strength[once], kind="stable")]]
