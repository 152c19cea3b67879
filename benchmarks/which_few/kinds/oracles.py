"""Selectors that are told the kind of difference, not the columns: what the data can give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
from scipy.stats import norm, rankdata

from which_few.table import Encoded, FloatArray, IntArray, Table, encode

Oracle: TypeAlias = Callable[[Table, Table, int], IntArray]
RIDGE = 0.1
COSINES = 6


def _parts(data: Encoded, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    return values[data.labels == 0], values[data.labels == 1]


def _scores(values: FloatArray) -> FloatArray:
    """Return the normal scores of each column."""
    return np.asarray(norm.ppf((rankdata(values, axis=0) - 0.5) / len(values)))


def _welch(x: FloatArray, y: FloatArray) -> FloatArray:
    variance = x.var(axis=0, ddof=1) / len(x) + y.var(axis=0, ddof=1) / len(y)
    return np.asarray((x.mean(axis=0) - y.mean(axis=0)) / np.sqrt(np.maximum(variance, 1e-300)))


def location(X: Table, Y: Table, d: int) -> IntArray:
    """Take the largest differences of means in units of their error."""
    data = encode(X, Y)
    return data.best(np.abs(_welch(*_parts(data, data.values))), d)


def ranks(X: Table, Y: Table, d: int) -> IntArray:
    """Take the largest differences of mean normal scores."""
    data = encode(X, Y)
    return data.best(np.abs(_welch(*_parts(data, _scores(data.values)))), d)


def _spread_scores(data: Encoded) -> FloatArray:
    x, y = _parts(data, data.values)
    sizes = [np.log(np.abs(part - np.median(part, axis=0)) + 0.1) for part in (x, y)]
    return np.abs(_welch(sizes[0], sizes[1]))


def spread(X: Table, Y: Table, d: int) -> IntArray:
    """Take the largest differences of the log distance from the median."""
    data = encode(X, Y)
    return data.best(_spread_scores(data), d)


def shape(X: Table, Y: Table, d: int) -> IntArray:
    """Take the largest sums of squared differences of cosines of the ranks."""
    data = encode(X, Y)
    part = np.pi * (rankdata(data.values, axis=0) - 0.5) / len(data.values)
    waves = np.stack([np.cos(j * part) for j in range(1, COSINES + 1)])
    change = waves[:, data.labels == 0].mean(axis=1) - waves[:, data.labels == 1].mean(axis=1)
    return data.best(np.sum(change**2, axis=0), d)


def tail(X: Table, Y: Table, d: int) -> IntArray:
    """Take the largest differences of the share of rows at one end of the pooled rows."""
    data = encode(X, Y)
    part = (rankdata(data.values, axis=0) - 0.5) / len(data.values)
    ends = [_welch(*_parts(data, end.astype(float))) for end in (part < 0.06, part > 0.94)]
    return data.best(np.max(np.abs(ends), axis=0), d)


def precision(X: Table, Y: Table, d: int) -> IntArray:
    """Take columns one by one, each the best beside those taken, by the ridged distance."""
    data = encode(X, Y)
    x, y = _parts(data, data.standardised)
    shift = x.mean(axis=0) - y.mean(axis=0)
    within = (len(x) * np.cov(x.T) + len(y) * np.cov(y.T)) / len(data.values)
    within += RIDGE * np.eye(len(within))
    taken: list[int] = []
    for _ in range(d):
        gains = np.full(len(shift), -np.inf)
        for column in set(range(len(shift))) - set(taken):
            trial = [*taken, column]
            gains[column] = shift[trial] @ np.linalg.solve(
                within[np.ix_(trial, trial)], shift[trial]
            )
        taken.append(int(gains.argmax()))
    return np.asarray(taken)


def _fisher_change(data: Encoded, values: FloatArray) -> FloatArray:
    x, y = _parts(data, values)
    change = [np.arctanh(np.clip(np.corrcoef(part.T), -0.999, 0.999)) for part in (x, y)]
    return np.abs(np.triu(change[0] - change[1], 1)) / np.sqrt(1 / len(x) + 1 / len(y))


def _largest_pairs(change: FloatArray, d: int) -> list[int]:
    found: dict[int, None] = {}
    for cell in np.argsort(-change, axis=None):
        found.update(dict.fromkeys(int(k) for k in np.unravel_index(cell, change.shape)))
        if len(found) >= d:
            break
    return list(found)[:d]


def correlation(X: Table, Y: Table, d: int) -> IntArray:
    """Take the pairs whose correlation of normal scores changes most."""
    data = encode(X, Y)
    return np.asarray(_largest_pairs(_fisher_change(data, _scores(data.values)), d))


def sizes(X: Table, Y: Table, d: int) -> IntArray:
    """Take the pairs whose correlation of squared normal scores changes most."""
    data = encode(X, Y)
    squares = np.clip(_scores(data.values) ** 2 - 1, -2.5, 4)
    return np.asarray(_largest_pairs(_fisher_change(data, squares), d))


def links(X: Table, Y: Table, d: int) -> IntArray:
    """Take the columns whose correlations with all others change most."""
    data = encode(X, Y)
    change = _fisher_change(data, _scores(data.values)) ** 2
    return data.best(np.sum(change + change.T, axis=0), d)


def triple(X: Table, Y: Table, d: int) -> IntArray:
    """Take the three columns the sign of whose product changes most."""
    data = encode(X, Y)
    signs = np.sign(data.values - np.median(data.values, axis=0))
    weight = np.where(data.labels == 0, 1 / np.sum(data.labels == 0), -1 / np.sum(data.labels))
    best, found = -1.0, (0, 1, 2)
    for s, t in combinations(range(signs.shape[1] - 1), 2):
        change = np.abs((weight * signs[:, s] * signs[:, t]) @ signs[:, t + 1 :])
        if len(change) and change.max() > best:
            best, found = float(change.max()), (s, t, t + 1 + int(change.argmax()))
    return np.asarray(found)[:d]


def mixture(shifts: int, spreads: int) -> Oracle:
    """Return an oracle that takes so many shifts, so many spreads, and pairs for the rest."""

    def several(X: Table, Y: Table, d: int) -> IntArray:
        data = encode(X, Y)
        means = np.abs(_welch(*_parts(data, data.values)))
        found = [int(k) for k in np.argsort(-means)[:shifts]]
        found += _without(np.argsort(-_spread_scores(data)), found)[:spreads]
        change = _fisher_change(data, _scores(data.values))
        pairs = _largest_pairs(change, d - len(found))
        return np.asarray([*found, *_without(pairs, found)])

    return several


def _without(order: Sequence[int] | IntArray, taken: Sequence[int]) -> list[int]:
    return [int(k) for k in order if int(k) not in taken]
