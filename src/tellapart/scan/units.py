"""Values in robust units: V, clipped, and G, its square without what V says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray

CLIP = 3.5
FAR_OUT = 1.8
"""Spreads beyond which a value counts as far out."""
# A spread below this share of the largest distance from the median is none.
LEAST_SPREAD = 1e-12
# What is left of a score after its regression on another must vary by at least this share.
LEAST_REST = 1e-3


@dataclass(frozen=True, eq=False)
class Units:
    """How score columns turn values v into c = clip((v/2 − centre/2)/half_spread), V and G.

    V = (c − mean)·scale and G = square·c² + slope·c + offset, all arrays of length P. `far_scale`
    is 1/deviation of max(|V| − 1.8, 0). `is_level` marks indicators of levels, whose V is their U.
    """

    centre: FloatArray
    half_spread: FloatArray
    mean: FloatArray
    scale: FloatArray
    square: FloatArray
    slope: FloatArray
    offset: FloatArray
    far_scale: FloatArray
    is_level: NDArray[np.bool_]

    @classmethod
    def of_levels(cls, size: int) -> Units:
        """Return the units of indicators, which need none."""
        zero = np.zeros(size)
        one = np.ones(size)
        return cls(zero, one, zero, zero, zero, zero, zero, zero, np.ones(size, dtype=bool))

    @classmethod
    def joined(cls, parts: Sequence[Units]) -> Units:
        """Return the units of several parts, one after the other."""
        empty = cls.of_levels(0)
        names = [field.name for field in fields(cls)]
        return cls(
            *(np.concatenate([getattr(part, name) for part in (empty, *parts)]) for name in names)
        )

    @cached_property
    def turning(self) -> FloatArray:
        """What turns values into V and G: the arrays from `centre` to `offset`, one per row."""
        return np.stack(
            [
                self.centre,
                self.half_spread,
                self.mean,
                self.scale,
                self.square,
                self.slope,
                self.offset,
            ]
        )

    def some(self, places: IntArray | slice) -> Units:
        """Return the units of some score columns."""
        return Units(*(getattr(self, field.name)[places] for field in fields(self)))


def measure_units(values: FloatArray) -> Units:
    """Return the units of numeric columns, from pooled rows of shape (rows, columns)."""
    centre, half_spread = robust_scale(values)
    clipped = robust_units(values, centre, half_spread)
    mean, scale = _moments(clipped)
    square_mean, square_scale = _moments(np.square(clipped))
    own = (clipped - mean) * scale
    unit = (np.square(clipped) - square_mean) * square_scale
    slope = np.mean(unit * own, axis=0)
    rest = np.mean(np.square(unit - slope * own), axis=0)
    keep = rest >= LEAST_REST
    # G = ((c² − m₂)/s₂ − slope·(c − m₁)/s₁)/deviation of that.
    inverse = np.where(keep, 1 / np.sqrt(np.where(keep, rest, 1.0)), 0.0)
    return Units(
        centre=centre,
        half_spread=half_spread,
        mean=mean,
        scale=scale,
        square=square_scale * inverse,
        slope=-slope * scale * inverse,
        offset=(slope * scale * mean - square_mean * square_scale) * inverse,
        far_scale=_moments(np.maximum(np.abs(own) - FAR_OUT, 0))[1],
        is_level=np.zeros(mean.size, dtype=bool),
    )


def _moments(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means and inverse deviations; 0 for what does not vary."""
    mean = values.mean(axis=0)
    deviation = values.std(axis=0)
    flat = deviation <= 1e-9 * np.maximum(np.abs(values).max(axis=0), 1e-300)
    return mean, np.where(flat, 0.0, 1 / np.where(flat, 1.0, deviation))


def robust_units(values: FloatArray, centre: FloatArray, half_spread: FloatArray) -> FloatArray:
    """Return (v − median)/spread clipped at ±3.5."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.clip((values / 2 - centre / 2) / half_spread, -CLIP, CLIP)


def robust_scale(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the median and half the spread of each column: the MAD, else the deviation.

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
