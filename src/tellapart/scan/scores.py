"""Scores of the pooled rows: what the families of differences average. No label is seen here.

Per numeric column, each with mean 0 and variance 1 over the pooled rows:

    normal    U, normal scores of the mid-ranks
    clipped   V, (value − median)/(1.4826·MAD), clipped at ±3.5
    squared   G, V² less its regression on V
    spread    H, U² − 1 clipped to [−2.5, 4]
    skew      U³ − 3U clipped to ±5
    fourth    U⁴ − 6U² + 3 clipped to [−6, 12], less its regression on H
    waves     cos(jπF), j = 2, 3, 4, F the mid-rank in (0, 1)
    atom      1 where the value is the column's most frequent one, if it is frequent

all but the first two less their regression on U, so that a shift does not count twice and a
column of two values has no shape. A categorical column has the indicator of each level as U and V.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.interrupts import check_interrupts
from tellapart.threads import in_threads

Singles = NDArray[np.float32]

CLIP = 3.5
SHAPES = ("spread", "squared", "wave 2", "wave 3", "wave 4", "skew", "fourth", "atom")
# Levels of a categorical column with a score of their own; the others share one.
MOST_LEVELS = 20
# What is left of a score after its regression on U must vary by at least this share.
LEAST_REST = 1e-3
# A value is frequent where it makes up at least this share of the rows.
LEAST_ATOM = 0.02
# A spread below this share of the largest distance from the median is none.
LEAST_SPREAD = 1e-12
# What one thread takes at a time.
COLUMNS_AT_A_TIME = 16
# Values read at a time, 64 MB.
BLOCK_ENTRIES = 8_000_000


@dataclass(frozen=True)
class Scores:
    """Scores of the pooled rows (N × P), for P score columns of the varying columns.

    Attributes
    ----------
    normal, clipped : array of shape (N, P)
        U and V.
    shapes : mapping from name to array of shape (N, P)
        See the module; 0 for what a column does not have.
    column : array of length P
        The column of the samples that each score column belongs to.
    level : tuple of str or None
        The level that a score column indicates; None for numeric columns.
    constant : array
        Columns of the samples that do not vary and have no scores.
    """

    normal: Singles
    clipped: Singles
    shapes: Mapping[str, Singles]
    column: IntArray
    level: tuple[str | None, ...]
    constant: IntArray

    @property
    def numeric(self) -> IntArray:
        """Places of the score columns that belong to numeric columns."""
        return np.flatnonzero([level is None for level in self.level])

    def of(self, name: str) -> Singles:
        """Return one matrix of scores by its name."""
        return {"normal": self.normal, "clipped": self.clipped, **self.shapes}[name]


def make_scores(samples: Samples, n_jobs: int = 1) -> Scores:
    """Return the scores of every varying column."""
    n_rows = samples.n_x + samples.n_y
    parts: list[dict[str, Singles]] = []
    column: list[int] = []
    level: list[str | None] = []
    constant: list[int] = []
    step = max(BLOCK_ENTRIES // n_rows, 1)
    for start in range(0, samples.n_columns, step):
        check_interrupts()
        places = np.arange(start, min(start + step, samples.n_columns))
        values = np.concatenate([samples.x[:, places], samples.y[:, places]])
        varies = values.min(axis=0) < values.max(axis=0)
        constant.extend(places[~varies].tolist())
        categorical = np.array([samples.kinds[s] == "categorical" for s in places])
        numbers = np.flatnonzero(varies & ~categorical)
        if numbers.size:
            groups = [
                numbers[i : i + COLUMNS_AT_A_TIME]
                for i in range(0, numbers.size, COLUMNS_AT_A_TIME)
            ]
            blocks = [values[:, own] for own in groups]
            parts += in_threads(_numeric_scores, blocks, n_jobs)
            column.extend(places[numbers].tolist())
            level.extend([None] * numbers.size)
        for s in np.flatnonzero(varies & categorical):
            name = samples.names[places[s]]
            scores, levels = _level_scores(values[:, s], samples.categories[name])
            parts.append(scores)
            column.extend([int(places[s])] * len(levels))
            level.extend(levels)
    if not parts:
        empty = np.zeros((n_rows, 0), dtype=np.float32)
        parts = [dict.fromkeys(("normal", "clipped", *SHAPES), empty)]
    order = np.argsort(np.array(column, dtype=np.intp), kind="stable")
    held = {
        name: np.ascontiguousarray(np.concatenate([part[name] for part in parts], axis=1)[:, order])
        for name in ("normal", "clipped", *SHAPES)
    }
    return Scores(
        normal=held.pop("normal"),
        clipped=held.pop("clipped"),
        shapes=held,
        column=np.array(column, dtype=np.intp)[order],
        level=tuple(level[i] for i in order),
        constant=np.array(constant, dtype=np.intp),
    )


def _numeric_scores(values: FloatArray) -> dict[str, Singles]:
    n_rows = values.shape[0]
    ranks = stats.rankdata(values, axis=0)
    quantile = (ranks - 0.5) / n_rows
    normal = standardised(special.ndtri(quantile))
    clipped = robust_units(values)
    square = np.square(normal)
    raw = {
        "spread": np.clip(square - 1, -2.5, 4),
        "squared": np.square(clipped),
        "wave 2": np.cos(2 * np.pi * quantile),
        "wave 3": np.cos(3 * np.pi * quantile),
        "wave 4": np.cos(4 * np.pi * quantile),
        "skew": np.clip((square - 3) * normal, -5, 5),
        "fourth": np.clip(np.square(square) - 6 * square + 3, -6, 12),
        "atom": _atoms(values, ranks),
    }
    shapes = {
        name: without(score, clipped if name == "squared" else normal)
        for name, score in raw.items()
    }
    shapes["fourth"] = without(shapes["fourth"], shapes["spread"])
    return {
        "normal": normal.astype(np.float32),
        "clipped": standardised(clipped).astype(np.float32),
        **{name: score.astype(np.float32) for name, score in shapes.items()},
    }


def robust_units(values: FloatArray) -> FloatArray:
    """Return (v − median)/spread clipped at ±3.5; the spread is the MAD, else the deviation."""
    centre, half_spread = robust_scale(values)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.clip((values / 2 - centre / 2) / half_spread, -CLIP, CLIP)


def robust_scale(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the median and half the spread of each column.

    Halves, as the difference of two huge numbers of opposite sign is not a number.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        median = np.median(values, axis=0)
        half = values / 2 - median / 2
        largest = np.abs(half).max(axis=0)
        scaled = half / np.where(largest > 0, largest, 1.0)
        spread = 1.4826 * np.median(np.abs(scaled), axis=0)
        spread = np.where(spread > LEAST_SPREAD, spread, scaled.std(axis=0)) * largest
    return median, np.where(spread > 0, spread, 1.0)


def _atoms(values: FloatArray, ranks: FloatArray) -> FloatArray:
    """Return 1 where a value is the most frequent of its column, if it is frequent, else 0."""
    n_rows, n_columns = values.shape
    atoms = np.zeros((n_rows, n_columns))
    least = max(5, LEAST_ATOM * n_rows)
    twice = np.rint(2 * ranks).astype(np.intp)
    for s in range(n_columns):
        # Equal values share a mid-rank: counting those finds the most frequent value.
        counts = np.bincount(twice[:, s])
        top = int(counts.argmax())
        if least <= counts[top] <= n_rows - least:
            atoms[:, s] = twice[:, s] == top
    return atoms


def _level_scores(
    codes: FloatArray, labels: tuple[str, ...]
) -> tuple[dict[str, Singles], list[str]]:
    """Return the indicators of the levels that occur; one of two levels says all."""
    present, position, counts = np.unique(codes, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    named, rare = order[:MOST_LEVELS], order[MOST_LEVELS:]
    if present.size == 2:
        named = named[:1]
    indicators = position[:, np.newaxis] == named
    names = [labels[int(present[i])] for i in named]
    if rare.size > 1:
        indicators = np.column_stack([indicators, np.isin(position, rare)])
        names.append(f"{rare.size} rare levels")
    scores = standardised(indicators.astype(np.float64)).astype(np.float32)
    nothing = np.zeros_like(scores)
    return {"normal": scores, "clipped": scores, **dict.fromkeys(SHAPES, nothing)}, names


def standardised(values: FloatArray) -> FloatArray:
    """Return columns with mean 0 and variance 1; constant ones become 0."""
    centred = values - values.mean(axis=0)
    deviation = centred.std(axis=0)
    flat = deviation <= 1e-9 * np.maximum(np.abs(values).max(axis=0), 1e-300)
    return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, deviation)))


def without(values: FloatArray, base: FloatArray) -> FloatArray:
    """Return each column less its regression on the same column of `base`, standardised."""
    unit, own = standardised(values), standardised(base)
    slope = np.mean(unit * own, axis=0)
    rest = unit - slope * own
    keep = np.mean(np.square(rest), axis=0) >= LEAST_REST
    return np.asarray(np.where(keep, standardised(rest), 0.0))
