"""Missingness: which values are missing, whatever the others are.

With I_s = 1 where a row misses column s, p_s its share among all rows, and c = Σ_s I_s what a row
misses in all: the largest δ(I_s)²/(p_s(1 − p_s)) and the sum of the five largest, δ(c)²,
δ((c − mean c)²)², and the largest change of cov(I_s, I_t) within the samples over the pooled
deviations of both. All rows count, also those that take part with none of their values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, Singles
from tellapart.data.chunked_samples import ChunkedSamples
from tellapart.scan.pool import Pool, top_sums
from tellapart.scan.requests import MissingValues
from tellapart.scan.tails import BinMoments

FEW = 5
# Columns whose pairs are looked at: those that are missing most evenly in the pooled rows.
MOST_PAIRED = 40


@dataclass(frozen=True)
class MissingScan:
    """The statistics of the family, and how much the share of each column changed.

    `scores` are those of `tellapart.scan.tails`, one row per permutation and one entry for
    every column of the pattern, and `names` those columns.
    """

    statistics: FloatArray
    scores: FloatArray
    names: tuple[str, ...]


def asked_missing(samples: ChunkedSamples) -> MissingValues | None:
    """Return what to sum of what rows miss, decided by the pooled rows; None where none does."""
    pattern = samples.pattern
    if pattern is None:
        return None
    share = pattern.indicators(samples.pooled.values).mean(axis=0)
    even = np.sort(np.argsort(-share * (1 - share), kind="stable")[:MOST_PAIRED])
    i, j = np.triu_indices(even.size, 1)
    return MissingValues(pattern, even[i], even[j])


def missing_statistics(pool: Pool) -> MissingScan:
    """Return the five statistics of what is missing."""
    asked = pool.requests.missing
    assert asked is not None
    size = len(asked.pattern.names)
    halves = pool.sums.missing
    of_x, of_y = pool.means(halves)
    changes = of_x - of_y
    mean = halves.total() / pool.labels.n_rows
    share = mean[:size]
    deviation = np.sqrt(np.maximum(share * (1 - share), 1e-12)).astype(np.float32)
    shares = np.square(changes[:, :size] / deviation)
    counts = changes[:, size].astype(np.float64)
    # (c − mean)² = c² − 2·mean·c + constant.
    uneven = changes[:, size + 1] - 2 * mean[size] * counts
    together = _covariances(of_x, asked, deviation) - _covariances(of_y, asked, deviation)
    most = np.square(together).max(axis=1) if together.shape[1] else np.zeros(pool.count)
    one, few = top_sums(shares, (1, FEW))
    statistics = np.column_stack([one, few, np.square(counts), np.square(uneven), most])
    parts = [part[:, :size] for part in halves.permuted(pool.labels.n_moved_of)]
    moments = BinMoments.of(parts, pool.labels.n_bins_of[0] / pool.labels.n_bins)
    return MissingScan(
        statistics.astype(np.float64),
        moments.of_sum().scores(changes[:, :size]),
        asked.pattern.names,
    )


def _covariances(means: Singles, asked: MissingValues, deviation: Singles) -> Singles:
    """Return cov(I_s, I_t) within a sample for every pair, in pooled deviations."""
    joint = means[:, len(asked.pattern.names) + 2 :] - means[:, asked.s] * means[:, asked.t]
    return np.asarray(joint / (deviation[asked.s] * deviation[asked.t]))
