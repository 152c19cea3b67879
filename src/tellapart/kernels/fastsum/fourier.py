"""Fourier features of the Gaussian kernel of one column, summed over groups of rows.

    exp(−u²/2) = Σ_m w_m cos(m h u),  h = 2π / (R + √(2 ln 1/ε)),  R = range / τ,
    w_m = h / √(2π) · exp(−(m h)²/2), doubled for m ≥ 1,

so that features √w_m (cos m h u, sin m h u) have the kernel for their inner product, to 1e-13. The
sums need one pass over the values and no matrix with a row for each of them: the cosine of m h u
follows from that of (m − 1) h u by a rotation.
"""

from __future__ import annotations

import math

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled

# Truncation of the series and distance of its periodic images, both below 1e-14.
_TAIL = math.sqrt(2 * math.log(1e14))
# Values whose rotations run side by side.
_LANES = 16


def count_modes(extent: float) -> float:
    """Return the number of features for values that span `extent` bandwidths.

    >>> count_modes(10.0), count_modes(math.inf)
    (49.0, inf)
    """
    if not math.isfinite(extent):
        return math.inf
    return 2.0 * math.ceil(_TAIL / (2 * math.pi / (extent + _TAIL))) + 1


def extent_of(values: FloatArray, bandwidth: float) -> float:
    """Return range / τ, infinite where it is no float."""
    low, high = float(values.min()), float(values.max())
    with np.errstate(over="ignore"):
        return float(np.float64(high / 2 - low / 2) / bandwidth * 2)


def fourier_sums(
    values: FloatArray, starts: IntArray, bandwidth: float, extent: float, centre: float
) -> FloatArray:
    """Return the sums over each group of the features, one row per group.

    Parameters
    ----------
    values : array of length N
        Group after group.
    starts : array of length G + 1
        Where each group begins, and where the last ends.
    bandwidth : float
        τ.
    extent : float
        The features hold for values at most that many τ apart.
    centre : float
        Taken from the values first: sums with the same centre and extent belong together.
    """
    modes = int(count_modes(extent)) // 2
    step = 2 * math.pi / (extent + _TAIL)
    frequencies = step * np.arange(modes + 1)
    weights = step / math.sqrt(2 * math.pi) * np.exp(-0.5 * np.square(frequencies))
    weights[1:] *= 2
    sums = np.zeros((starts.shape[0] - 1, 2 * modes + 1))
    _add_modes(values, starts, centre, bandwidth, step, modes, sums)
    sums *= np.sqrt(np.concatenate([weights, weights[1:]]))
    return sums


@compiled(fastmath={"contract", "reassoc"})
def _add_modes(values, starts, centre, bandwidth, step, modes, sums):  # type: ignore[no-untyped-def]
    cosine, sine = np.empty(_LANES), np.empty(_LANES)
    c, s = np.empty(_LANES), np.empty(_LANES)
    for group in range(starts.shape[0] - 1):
        row = sums[group]
        stop = starts[group + 1]
        row[0] += stop - starts[group]
        for first in range(starts[group], stop, _LANES):
            lanes = min(_LANES, stop - first)
            for lane in range(lanes):
                angle = (values[first + lane] - centre) / bandwidth * step
                cosine[lane] = np.cos(angle)
                sine[lane] = np.sin(angle)
                c[lane] = 1.0
                s[lane] = 0.0
            for mode in range(1, modes + 1):
                of_c = 0.0
                of_s = 0.0
                for lane in range(lanes):
                    turned = c[lane] * cosine[lane] - s[lane] * sine[lane]
                    s[lane] = s[lane] * cosine[lane] + c[lane] * sine[lane]
                    c[lane] = turned
                    of_c += turned
                    of_s += s[lane]
                row[mode] += of_c
                row[modes + mode] += of_s
