"""Higher: four columns whose product changes, and directions across three to five columns.

There are too many of either to look at under every permutation, and no need to: what differs
between the samples stands out in the pooled rows, too, unless it cancels there exactly. So the
pooled rows, without labels, name the few candidates, and the permutations test those:

    four columns    whose mean product differs most from what their correlations explain,
    directions      v, sums ±z_i ±z_j … of 3, 4 or 5 normal scores, for which the mean of
                    cos(ωv/|v|) differs most from that of a normal variable of the same variance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.data.samples import draw_rows
from tellapart.interrupts import check_interrupts
from tellapart.permutation.labels import TwoSampleSums
from tellapart.scan.families.triple import SCORES, usable_scores
from tellapart.scan.pool import Pool
from tellapart.scan.requests import Directions, ProductOfFour, Requests
from tellapart.scan.scores import Scores

# Columns among which fours are sought: their pairs are multiplied with their pairs.
FOUR_COLUMNS = 40
MOST_FOURS_WORK = 8_000_000_000
FOURS = 50
DIRECTION_COLUMNS = 40
FREQUENCY = 2.5
# Directions of one size that are extended by a further column, and that are tested.
EXTENDED = {3: 1000, 4: 200}
TESTED = 60
# Rows that name the candidates.
MOST_ROWS = 2_000
# A deviation below this share of the largest value is rounding.
FLAT = 1e-6


def four_columns(n_rows: int) -> int:
    """Return how many columns can be searched for fours: N·P⁴/2 multiplications.

    >>> four_columns(400), four_columns(40_000)
    (40, 40)
    """
    return min(int((2 * MOST_FOURS_WORK / min(n_rows, MOST_ROWS)) ** 0.25), FOUR_COLUMNS)


@dataclass(frozen=True, eq=False)
class HigherGroups:
    """Fours and directions, found without labels.

    Attributes
    ----------
    fours : mapping from str to array of shape (k, 4)
        By the score whose products stand out.
    scales : mapping from str to array
        1/deviation of those products in the pooled rows; 0 where they do not vary.
    directions : Directions
        With mean and deviation of the sums along each in the pooled rows.
    wave_scale : array
        1/deviation of their waves.
    """

    fours: dict[str, IntArray]
    scales: dict[str, FloatArray]
    directions: Directions
    wave_scale: FloatArray

    def ask(self, requests: Requests) -> Requests:
        """Return the requests with what the statistics need."""
        for name, columns in self.fours.items():
            requests.fours[name] = ProductOfFour(SCORES[name], columns)
        return replace(requests, directions=self.directions)


def screening_rows(n_rows: int, rng: np.random.Generator) -> IntArray:
    """Return the rows that name the candidates: of many some, drawn from both samples alike."""
    return draw_rows(n_rows, MOST_ROWS, rng)


def plan_higher(
    outline: Scores, for_fours: IntArray, for_directions: IntArray, seen: IntArray
) -> HigherGroups:
    """Return the candidates among some columns; the rows `seen` name them."""
    fours: dict[str, IntArray] = {}
    scales: dict[str, FloatArray] = {}
    for name in SCORES:
        values = usable_scores(outline, name)
        fours[name] = found = _fours(values[seen], for_fours, outline.column)
        scales[name] = _inverse_deviation(np.prod(values[:, found], axis=2))
        if outline.present is not None:
            # A product with a missing value is 0: of the rows that have all four, it varies more.
            scales[name] *= np.sqrt(np.prod(outline.present[:, found], axis=2).mean(axis=0))
    weights = _directions(outline.normal[seen], for_directions, outline.column)
    sums = outline.normal.astype(np.float64) @ weights.T
    mean, inverse = sums.mean(axis=0), _inverse_deviation(sums)
    waves = np.cos(FREQUENCY * (sums - mean) * inverse)
    directions = Directions(weights, mean, inverse, FREQUENCY)
    return HigherGroups(fours, scales, directions, _inverse_deviation(waves))


def higher_statistics(pool: Pool, groups: HigherGroups) -> FloatArray:
    """Return the largest δ² of the products of four, by signs and ranks, and of the directions."""
    columns = [_largest(pool, pool.sums.fours(name), groups.scales[name]) for name in groups.fours]
    columns.append(_largest(pool, pool.sums.directions, groups.wave_scale))
    return np.column_stack(columns)


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
    own = values[:, columns]
    i, j = np.triu_indices(columns.size, 1)
    products = own[:, i] * own[:, j]
    products -= products.mean(axis=0)
    correlation = own.T @ own / own.shape[0]
    # What normal variables of these correlations would have: r_ac r_bd + r_ad r_bc.
    explained = correlation[i][:, i] * correlation[j][:, j]
    explained += correlation[i][:, j] * correlation[j][:, i]
    strength = np.abs(products.T @ products / own.shape[0] - explained)
    squares = np.square(products)
    strength /= np.sqrt(np.maximum(squares.T @ squares / own.shape[0], 1e-6))
    family = parent[columns]
    pairs = np.stack([family[i], family[j]])
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
    found = np.zeros((0, normal.shape[1]))
    if columns.size < 3:
        return found
    own = normal[:, columns]
    together = (parent[columns][:, np.newaxis] == parent[columns]).astype(np.float64)
    correlation = (own.T @ own).astype(np.float64) / own.shape[0]
    i, j = np.triu_indices(columns.size, 1)
    pairs = np.zeros((2 * i.size, columns.size))
    both = np.arange(i.size)
    pairs[both, i] = pairs[both + i.size, i] = 1.0
    pairs[both, j], pairs[both + i.size, j] = 1.0, -1.0
    pairs = pairs[~((pairs != 0) @ together > 1)[np.arange(2 * i.size), np.tile(i, 2)]]
    directions = pairs
    for size in (3, 4, 5):
        check_interrupts()
        directions = _extended(own, directions, correlation, together, size)
        wide = np.zeros((min(directions.shape[0], TESTED), normal.shape[1]))
        wide[:, columns] = directions[:TESTED]
        found = np.concatenate([found, wide])
        if size in EXTENDED:
            directions = directions[: EXTENDED[size]]
    return found


def _extended(
    own: Singles, directions: FloatArray, correlation: FloatArray, together: FloatArray, size: int
) -> FloatArray:
    """Return the directions with one more column, ± , the farthest from normal first."""
    frequency = np.float32(FREQUENCY / np.sqrt(size))
    phase = frequency * (own @ directions.T.astype(np.float32))
    cosine, sine = np.cos(phase), np.sin(phase)
    angle = frequency * own
    # mean cos(p ± a) = mean(cos p cos a) ∓ mean(sin p sin a): two products for both signs.
    even = (cosine.T @ np.cos(angle)).astype(np.float64) / own.shape[0]
    odd = (sine.T @ np.sin(angle)).astype(np.float64) / own.shape[0]
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
