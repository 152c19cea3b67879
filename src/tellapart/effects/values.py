"""Values and levels of one column: those that occur in one sample only, and what changed most.

level_share
    The difference of the proportion of one level: of two, that of the affirmative or of the
    more frequent one, of a few the most significant, its p-value times their number.
candidate_values
    Values of a numeric column that stand apart, chosen from the pooled rows, without labels: the
    scan compares how often they occur.
new_levels
    Levels that occur in one sample only. Let c of the units have a level (units are rows, or those
    of a design). Given the pooled levels, all c belong to the first sample with probability

        ψ = Π_b C(N_b − c_b, m_b − c_b) / C(N_b, m_b),

    over the blocks b of the design, with m_b of N_b units in the first sample; without a design
    there is one block. Over all levels j and both directions P(min ψ_observed ≤ t) is at most the
    sum of the ψ_j ≤ t, which is the p-value given: exact for one level, and never too small in
    finite samples.
level_changes
    The total variation distance ½ Σ_k |p_k − q_k| of a column of many levels. That of the observed
    proportions is too large, by the more the rarer the levels are, so each |p_k − q_k| is reduced
    by its expectation under equality given the pooled count, by the less the more significant the
    level is. The lower limit is that of P(S) − Q(S) for sets S of levels chosen on one half of the
    rows and evaluated on the other, which no set can make exceed the distance. The upper one is
    McDiarmid's, as the observed distance is too large on average. Both hold whatever the levels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.data.columns import place_of_yes
from tellapart.effects.columns import (
    EMPTY,
    LEVELS,
    Column,
    distribution,
    most_significant,
    proportions,
    share,
)
from tellapart.effects.estimate import DesignedRows, Estimate, IndependentRows, Sampling

DISTANCE = "total variation distance"
SIGNIFICANT = 0.05
"""Values and levels with a p-value up to this, of the column, are listed together."""
FEWEST_LEVELS = 10
"""Levels beyond which a column is described by its total variation distance."""
MOST_LISTED = 3
FREQUENT_NEIGHBOUR = 0.25
"""The share of rows that makes a rare value beside it, at the edge of few values, stand apart."""
FEW_VALUES = 10
STANDS_OUT = 4
"""How many times as frequent as its neighbours a value is that stands apart from them."""
ATTAINABLE = 0.005
"""The probability that a value occurs in one sample only, up to which it is a candidate."""
FEWEST_WITH_VALUE = 3
"""Rows that have it, without which no value is a candidate."""
INNER = 0.05
"""What is left out of the opposite end where a gap is compared with the range of the rest."""
EXACT_COUNT = 100
"""Pooled counts up to which expectations are those of the hypergeometric distribution."""


@dataclass(frozen=True)
class Candidate:
    """Values from `low` to `high`, which are equal where it is one repeated value."""

    low: float
    high: float
    count: int


def fewest_rows(n_x: int, n_y: int) -> int:
    """Return the fewest rows with a value that could show that it occurs in one sample only.

    >>> fewest_rows(1000, 1000), fewest_rows(20, 2000)
    (8, 3)
    """
    share = min(n_x, n_y) / (n_x + n_y)
    return max(FEWEST_WITH_VALUE, math.ceil(math.log(ATTAINABLE) / math.log(share)))


def candidate_values(ordered: FloatArray, fewest: int, most: int) -> list[Candidate]:
    """Return the values of a column that stand apart, from all its values in rising order.

    They are, where at least `fewest` and at most `most` rows have them,

    - a value that is `STANDS_OUT` times as frequent as the two values on either side of it;
    - the smallest or largest value, beyond a gap twice as wide as any other; a negative one where
      all others are not; and one beside a frequent value in a column of few values;
    - the rows beyond a gap that is wider than the range of the rest, which varies.

    No label is needed, so that permutations of labels leave the candidates as they are.

    >>> values = np.sort(np.append(np.linspace(0, 1, 100), [-9999.0] * 10))
    >>> candidate_values(values, 5, 50)
    [Candidate(low=-9999.0, high=-9999.0, count=10)]
    """
    last = np.flatnonzero(np.concatenate([ordered[1:] != ordered[:-1], [True]]))
    values, counts = ordered[last], np.diff(last, prepend=-1)
    if values.size < 3:
        return []
    fits = (counts >= fewest) & (counts <= most)
    chosen = [at for at in (0, values.size - 1) if fits[at] and _apart(values, counts, at)]
    first, end = int(0 in chosen), values.size - int(values.size - 1 in chosen)
    frequent = np.zeros(end - first + 4)
    frequent[2:-2] = counts[first:end]
    beside = np.maximum(np.maximum(frequent[:-4], frequent[1:-3]), frequent[3:-1])
    beside = np.maximum(beside, frequent[4:])
    stands = first + np.flatnonzero(fits[first:end] & (counts[first:end] >= STANDS_OUT * beside))
    chosen += stands[np.argsort(-counts[stands], kind="stable")[:2]].tolist()
    candidates = [Candidate(float(values[at]), float(values[at]), int(counts[at])) for at in chosen]
    for sign in (1, -1):
        cut = _far_rows(ordered if sign > 0 else -ordered[::-1], fewest, most)
        if cut:
            low, high = (0, cut - 1) if sign > 0 else (ordered.size - cut, ordered.size - 1)
            far = np.flatnonzero((values >= ordered[low]) & (values <= ordered[high]))
            if not any(ordered[low] <= candidate.low <= ordered[high] for candidate in candidates):
                # Repeated values, each by itself; else all of them together.
                single = far.size <= MOST_LISTED and bool(fits[far].all())
                ranges = far[:, np.newaxis] if single else far[[[0, -1]]]
                candidates += [
                    Candidate(
                        float(values[at[0]]),
                        float(values[at[-1]]),
                        int(counts[at[0] : at[-1] + 1].sum()),
                    )
                    for at in ranges
                ]
    return candidates


def _apart(values: FloatArray, counts: IntArray, at: int) -> bool:
    """Return whether the smallest or largest value stands apart from the others."""
    beside = 1 if at == 0 else at - 1
    with np.errstate(over="ignore"):
        gaps = np.diff(values)
    gap, others = (gaps[0], gaps[1:]) if at == 0 else (gaps[-1], gaps[:-1])
    if gap > 2 * others.max():
        return True
    if at == 0 and values[0] < 0 <= values[1]:
        return True
    rows = int(counts.sum())
    return bool(values.size <= FEW_VALUES and counts[beside] >= FREQUENT_NEIGHBOUR * rows)


def _far_rows(ordered: FloatArray, fewest: int, most: int) -> int:
    """Return how many of the smallest values lie beyond a gap wider than the range of the rest."""
    most = min(most, ordered.size // 2)
    if most < fewest:
        return 0
    inner = ordered[math.ceil((1 - INNER) * (ordered.size - 1))]
    with np.errstate(over="ignore"):
        gaps = ordered[fewest : most + 1] - ordered[fewest - 1 : most]
        range_of_others = inner - ordered[fewest : most + 1]
        far = np.flatnonzero((gaps > range_of_others) & (range_of_others > 0))
    return fewest + int(far[0]) if far.size else 0


def may_stand_apart(ordered: FloatArray, fewest: int, most: int) -> BoolArray:
    """Return which columns may have a candidate, one per row, their values in rising order.

    A quick look at many columns: all others have none.
    """
    n_rows = ordered.shape[1]
    most = min(most, n_rows // 2)
    if most < fewest:
        return np.zeros(ordered.shape[0], dtype=np.bool_)
    repeated = (ordered[:, fewest - 1 :] == ordered[:, : n_rows - fewest + 1]).any(axis=1)
    opposite = math.ceil((1 - INNER) * (n_rows - 1))
    smallest, largest = ordered[:, fewest - 1 : most + 1], ordered[:, n_rows - most - 1 : n_rows]
    largest = largest[:, : most + 2 - fewest][:, ::-1]
    with np.errstate(over="ignore"):
        for rows, inner in ((smallest, opposite), (-largest, n_rows - 1 - opposite)):
            sign = 1 if inner == opposite else -1
            range_of_others = sign * ordered[:, [inner]] - rows[:, 1:]
            repeated |= ((np.diff(rows, axis=1) > range_of_others) & (range_of_others > 0)).any(
                axis=1
            )
    return np.asarray(repeated)


@dataclass(frozen=True, eq=False)
class _Units:
    """The units of rows in both samples (X first), the block of each, and those of X and in all."""

    rows: IntArray
    blocks: IntArray
    of_x: IntArray
    every: IntArray
    n_x: int

    @classmethod
    def of(cls, sampling: Sampling, n_x: int, n_y: int) -> _Units:
        if not isinstance(sampling, DesignedRows):
            blocks = np.zeros(n_x + n_y, dtype=np.intp)
            return cls(np.arange(n_x + n_y), blocks, np.array([n_x]), np.array([n_x + n_y]), n_x)
        first = 1 + int(sampling.units[0].max())
        rows = np.concatenate([sampling.units[0], first + sampling.units[1]])
        blocks = np.zeros(int(rows.max()) + 1, dtype=np.intp)
        blocks[rows] = np.concatenate(sampling.blocks)
        size = int(blocks.max()) + 1
        every = np.bincount(blocks, minlength=size)
        return cls(rows, blocks, np.bincount(blocks[:first], minlength=size), every, first)

    def probability(self, has: BoolArray, sample: int) -> float:
        """Return the probability that all units with a row that `has` a value are of one sample."""
        units = np.unique(self.rows[has])
        counts = np.bincount(self.blocks[units], minlength=self.every.size)
        units_of = self.of_x if sample == 0 else self.every - self.of_x
        if (counts > units_of).any():
            return 0.0
        terms = _log_choose(self.every - counts, units_of - counts)
        terms -= _log_choose(self.every, units_of)
        return float(np.exp(terms.sum()))


def _log_choose(n: IntArray, k: IntArray) -> FloatArray:
    ones = special.gammaln(n + 1.0), special.gammaln(k + 1.0), special.gammaln(n - k + 1.0)
    return np.asarray(ones[0] - ones[1] - ones[2])


def value_proportions(
    x: FloatArray,
    y: FloatArray,
    ranges: Sequence[tuple[float, float]],
    sampling: Sampling | None = None,
) -> Estimate:
    """Return the difference of the proportions of rows with some values.

    Parameters
    ----------
    x, y : arrays of one dimension
        The values, NaN where missing.
    ranges : sequence of pairs of float
        The least and greatest of each, which are equal where it is one value.
    sampling : Sampling or None
        How rows were drawn; None where they are independent.

    Returns
    -------
    Estimate
        Its measure is "… occurs" where one sample has none of them, else "proportion of …"; the
        p-value is that of equal proportions.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.arange(50.0), np.append(np.arange(45.0), [-1.0] * 5)
    >>> value_proportions(x, y, [(-1.0, -1.0)]).measure
    '−1 occurs'
    """
    sampling = sampling or IndependentRows()
    hits = []
    for values in (x, y):
        inside = np.any([(values >= low) & (values <= high) for low, high in ranges], axis=0)
        hits.append(np.where(np.isnan(values), np.nan, inside))
    names = [
        _number(low) if low == high else f"{_number(low)} to {_number(high)}"
        for low, high in ranges
    ]
    one = len(ranges) == 1
    name = names[0] if one else f"{len(ranges)} values"
    if all(np.nansum(of_sample) > 0 for of_sample in hits):
        measure = f"proportion of {name}"
    else:
        measure = f"{name} occur" + ("s" if one and ranges[0][0] == ranges[0][1] else "")
    estimate = proportions(hits[0], hits[1], sampling, measure)
    return replace(estimate, detail="" if one else ", ".join(names))


def level_share(column: Column) -> Estimate | None:
    """Return the difference of the proportion of one level; None of a column of many levels.

    Where a column of two levels differs, their proportions do: its p-value is 0.
    """
    codes, counts = column.levels
    if column.labels is None:
        measure = "prevalence" if codes.tolist() == [0.0, 1.0] else f"proportion of {codes[1]:g}"
        return replace(share(column, float(codes[1]), ""), measure=measure, pvalue=0)
    names = [column.labels[int(code)] for code in codes]
    if len(names) == 2:
        yes = place_of_yes(names)
        k = int(counts.argmax()) if yes is None else yes
        measure = f"proportion of {names[k]!r}" if yes is None else "prevalence"
        return replace(share(column, float(codes[k]), ""), measure=measure, pvalue=0)
    if len(names) > FEWEST_LEVELS:
        return None
    return most_significant(
        [share(column, float(k), repr(name)) for k, name in zip(codes, names, strict=True)]
    )


def any_difference(column: Column) -> Estimate | None:
    """Return the most significant measure of a column, whatever it is.

    Of levels their total variation distance where there are many, else one proportion.
    """
    if column.type == EMPTY:
        return None
    if column.type == LEVELS:
        return level_changes(column) or level_share(column)
    candidates = [*distribution(column), *column.shapes]
    return min(candidates, key=lambda estimate: estimate.pvalue)


def new_levels(column: Column) -> Estimate | None:
    """Return the levels of a categorical column that occur in one sample only.

    Of many, those that are significant by themselves, given the number of levels; else the most
    significant one. None where there are no such levels, or no more than two in all.
    """
    labels, sampling = column.labels, column.sampling
    if labels is None or column.levels[0].size < 3 or column.type == EMPTY:
        return None
    x_codes, y_codes, counts = _counted_levels(column)
    pooled = np.concatenate([x_codes, y_codes])
    units = _Units.of(sampling, x_codes.size, y_codes.size)
    chances = _level_chances(pooled, counts, units, column.plain)
    ordered = np.sort(chances, axis=None)
    running = np.cumsum(ordered)
    levels, samples = np.nonzero((counts > 0) & (counts[:, ::-1] == 0))
    if not levels.size:
        return None
    chance = chances[levels, samples]
    at = np.searchsorted(ordered, chance * (1 + 1e-9), side="right") - 1
    pvalues = np.minimum(running[at], 1.0)
    order = np.lexsort((-counts[levels, samples], pvalues))
    best = order[0]
    sample = int(samples[best])
    listed = [i for i in order if samples[i] == sample and pvalues[i] <= SIGNIFICANT] or [best]
    new = levels[listed]
    hits = [np.isin(codes, new).astype(np.float64) for codes in (x_codes, y_codes)]
    names = ", ".join([repr(labels[k]) for k in new[:MOST_LISTED]])
    names += ", …" if len(new) > MOST_LISTED else ""
    measure = f"{names} occurs" if len(listed) == 1 else f"{len(listed)} levels occur"
    detail = [] if len(listed) == 1 else [names]
    only = np.bincount(samples, minlength=2)
    if only[sample] > len(listed):
        detail.append(f"{only[sample] - len(listed):,} rare levels more")
    if only[1 - sample]:
        detail.append(f"{only[1 - sample]:,} levels of the other sample only")
    estimate = proportions(hits[0], hits[1], sampling, measure)
    return replace(estimate, pvalue=float(pvalues[best]), detail="; ".join(detail))


def _level_chances(
    pooled: IntArray, counts: IntArray, units: _Units, independent: bool
) -> FloatArray:
    """Return the probability that each level is all in the first sample, and in the second."""
    every = counts.sum(axis=1)
    chances = np.zeros((every.size, 2))
    if not independent:
        for k in np.flatnonzero(every):
            chances[k] = [units.probability(pooled == k, sample) for sample in (0, 1)]
        return chances
    n_rows = np.full(every.size, pooled.size)
    for sample in (0, 1):
        rows_of = np.full(every.size, units.n_x if sample == 0 else pooled.size - units.n_x)
        fits = (every > 0) & (every <= rows_of)
        c, m, n = every[fits], rows_of[fits], n_rows[fits]
        chances[fits, sample] = np.exp(_log_choose(n - c, m - c) - _log_choose(n, m))
    return chances


def level_changes(column: Column, seed: int = 0) -> Estimate | None:
    """Return the total variation distance of a column of many levels, and what changed most.

    Parameters
    ----------
    column : Column
        A categorical column. Under a design the distance has no interval and no p-value.
    seed : int
        Divides the rows into halves.

    Returns
    -------
    Estimate or None
        `values` are the distance and 0, that of equal proportions. None where a sample has no value
        or there are at most ten levels.
    """
    labels = column.labels
    if labels is None or column.type == EMPTY or column.levels[0].size <= FEWEST_LEVELS:
        return None
    x_codes, y_codes, counts = _counted_levels(column)
    if not column.plain:
        weighted = [
            np.bincount(codes, side.weights, minlength=len(labels))
            for codes, side in zip((x_codes, y_codes), column.sides, strict=True)
        ]
        shares: FloatArray = np.stack(weighted, axis=1).astype(np.float64)
        plain = min(float(np.abs(shares[:, 0] - shares[:, 1]).sum() / 2), 1.0)
        changes = _largest_changes(shares, counts, labels)
        return Estimate(
            DISTANCE, plain, (plain, 0.0), math.nan, lambda _: (math.nan, math.nan), detail=changes
        )
    sizes = x_codes.size, y_codes.size
    shares = np.asarray(counts / np.array(sizes, dtype=np.float64))
    observed = float(np.abs(shares[:, 0] - shares[:, 1]).sum() / 2)
    excess, by_chance = _excess(counts)
    distance = max(observed - excess, 0.0)
    halves = _cross_fitted(x_codes, y_codes, len(labels), np.random.default_rng(seed))
    noise = 1 / sizes[0] + 1 / sizes[1]

    def limits(confidence: float) -> tuple[float, float]:
        tail = (1 - confidence) / 2
        low = np.mean([half.limits(confidence)[0] for half in halves])
        high = observed + math.sqrt(-math.log(max(tail, 1e-300)) * noise / 2)
        return min(max(float(low), 0.0), distance), min(max(high, distance), 1.0)

    detail = f"observed {observed:.2f}, {by_chance:.2f} by chance alone; "
    detail += _largest_changes(shares, counts, labels)
    pvalue = _set_pvalue(halves)
    return Estimate(DISTANCE, distance, (distance, 0.0), pvalue, limits, detail=detail)


def _excess(counts: IntArray) -> tuple[float, float]:
    """Return what the observed distance is too large by, and its expectation under equality.

    With d = |p − q| of a level, s its standard deviation under equality, z = d/s, and all
    expectations under equality given the pooled count, E[d] · exp(−z²/2)/E[exp(−z²/2)].
    """
    n_x, n_y = (int(n) for n in counts.sum(axis=0))
    n_rows = n_x + n_y
    every = counts.sum(axis=1)
    present = every > 0
    pooled, of_x = every[present], counts[present, 0]
    deviation = np.sqrt(
        pooled / n_rows * (1 - pooled / n_rows) * (1 / n_x + 1 / n_y) * n_rows / (n_rows - 1)
    )
    deviation = np.maximum(deviation, 1e-12)
    expected, damped = deviation * math.sqrt(2 / math.pi), np.full(pooled.size, math.sqrt(0.5))
    for count in np.unique(pooled[pooled <= EXACT_COUNT]):
        k = np.arange(max(0, count - n_y), min(count, n_x) + 1)
        logs = _log_choose(np.full(k.size, n_x), k)
        logs += _log_choose(np.full(k.size, n_y), count - k)
        chances = np.exp(logs - logs.max())
        chances /= chances.sum()
        away = np.abs(k / n_x - (count - k) / n_y)
        at = pooled == count
        unit = float(deviation[at][0])
        expected[at] = chances @ away
        damped[at] = chances @ np.exp(-np.square(away / unit) / 2)
    away = np.abs(of_x / n_x - (pooled - of_x) / n_y)
    excess = expected * np.exp(-np.square(away / deviation) / 2) / damped
    return float(excess.sum() / 2), float(expected.sum() / 2)


def _cross_fitted(x: IntArray, y: IntArray, size: int, rng: np.random.Generator) -> list[Estimate]:
    """Return P(S) − Q(S) on each half of the rows, S the levels more frequent in X on the other."""
    halves = [np.array_split(rng.permutation(codes), 2) for codes in (x, y)]
    shares = [
        [np.bincount(codes, minlength=size) / max(codes.size, 1) for codes in of_sample]
        for of_sample in halves
    ]
    estimates = []
    for k in (0, 1):
        inside = shares[0][1 - k] > shares[1][1 - k]
        hits = [inside[of_sample[k]].astype(np.float64) for of_sample in halves]
        estimates.append(proportions(hits[0], hits[1], IndependentRows(), "set of levels"))
    return estimates


def _set_pvalue(halves: Sequence[Estimate]) -> float:
    """Return the p-value at which the lower limit of the distance is 0."""
    low, high = 0.0, 1.0 - 1e-12
    if np.mean([half.limits(1e-9)[0] for half in halves]) <= 0:
        return 1.0
    if np.mean([half.limits(high)[0] for half in halves]) > 0:
        return 1 - high
    for _ in range(40):
        middle = (low + high) / 2
        if np.mean([half.limits(middle)[0] for half in halves]) > 0:
            low = middle
        else:
            high = middle
    return 1 - low


def _largest_changes(shares: FloatArray, counts: IntArray, labels: Sequence[str]) -> str:
    """Return the levels of one sample only, and the largest changes, in words."""
    only = [int(np.count_nonzero((counts[:, s] > 0) & (counts[:, 1 - s] == 0))) for s in (0, 1)]
    changes = np.abs(shares[:, 0] - shares[:, 1])
    largest = np.argsort(-changes, kind="stable")[:MOST_LISTED]
    texts = [
        f"{labels[k]!r} {_percent(shares[k, 0])} and {_percent(shares[k, 1])}"
        for k in largest
        if changes[k] > 0
    ]
    every = int(np.count_nonzero(counts.sum(axis=1)))
    text = f"{every:,} levels, {only[0]:,} in the first sample only, {only[1]:,} in the second only"
    return text + ("; largest changes " + ", ".join(texts) if texts else "")


def _counted_levels(column: Column) -> tuple[IntArray, IntArray, IntArray]:
    """Return the codes of both samples, and how often each label occurs (labels × samples)."""
    assert column.labels is not None
    x, y = (side.values.astype(np.intp) for side in column.sides)
    size = len(column.labels)
    return x, y, np.stack([np.bincount(codes, minlength=size) for codes in (x, y)], axis=1)


def _number(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")


def _percent(share: float) -> str:
    value = 100 * share
    return f"{value:.{0 if value >= 10 or value == 0 else 1 if value >= 0.1 else 3}f} %"
