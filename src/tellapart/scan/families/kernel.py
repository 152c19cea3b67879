"""Kernel: the largest MMD² of few columns, reselected under every permutation.

With a_s the MMD² of column s, S_d = max {aᵀz : z ≥ 0, ‖z‖₂ = 1, ‖z‖₀ ≤ d} is the length of the
d largest a_s > 0: the best choice of d columns for the linear kernel at λ = 0, known in closed
form, so that it is chosen again under every permutation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, Singles
from tellapart.scan.pool import Pool, top_sums
from tellapart.scan.requests import N_WAVES, PERIOD
from tellapart.scan.tails import tail_pvalues

NUMBERS = (1, 3, 8)
# Numbers of columns that are compared where nobody says how many to choose.
PATH = (1, 2, 3, 4, 5, 7, 10)
NEARLY = 0.95
# The scalar kernel exp(−(u − v)²/2τ²) of the clipped scores as a Fourier series.
BANDWIDTH = 0.5
# Sums of so few single-precision terms differ by less than this share by their rounding.
ROUNDING = 1e-6
# Of many comparisons the waves that make up 94 % of it do.
SHARED_WAVES = 6
FREQUENCIES = 2 * np.pi / PERIOD * np.arange(1, N_WAVES + 1)


@dataclass(frozen=True)
class KernelScan:
    """The statistics of the kernel family, and how many columns its best choice has."""

    statistics: FloatArray
    n_variables: int


def kernel_statistics(pool: Pool) -> KernelScan:
    """Return S_d² for d = 1, 3, 8, and the number of columns that carries nearly all."""
    return kernel_scan(np.square(column_mmd(pool)))


def kernel_scan(squares: Singles) -> KernelScan:
    """Return the same of the squares of a_s under every permutation, of all columns or the largest.

    The ten largest of each permutation are enough.
    """
    path = [d for d in PATH if d <= squares.shape[1]]
    lengths = np.column_stack(top_sums(squares, tuple(path)))
    surprise = -np.log(tail_pvalues(np.cbrt(lengths))[0])
    # A few columns that carry nearly all of the difference tell more than many that carry it all.
    enough = int(np.argmax(surprise >= NEARLY * surprise.max()))
    return KernelScan(np.column_stack(top_sums(squares, NUMBERS)), path[enough])


def column_mmd(pool: Pool) -> Singles:
    """Return max(a_s − median over permutations, 0) for every column and permutation.

    a_s = Σ_j w_j (δ(cos ω_j V)² + δ(sin ω_j V)²) is MMD² up to a constant, which the median takes
    out. Under a design it is in units of its mean over the permutations.
    """
    weights = np.exp(-0.5 * np.square(FREQUENCIES * BANDWIDTH))
    if pool.labels.shared:
        weights = weights[:SHARED_WAVES]
    total = np.zeros((pool.count, pool.tables.size), dtype=np.float32)
    usual = np.zeros(pool.tables.size)
    mean_squares = None
    for j, weight in enumerate(weights / weights.sum()):
        for wave in pool.sums.waves(j + 1, FREQUENCIES[j]):
            total += np.float32(weight) * np.square(pool.changes(wave))
            mean_squares = pool.labels.null_mean_squares(wave)
            if mean_squares is not None:
                usual += weight * mean_squares
    if mean_squares is not None:
        total /= np.where(usual > 0, usual, np.inf).astype(np.float32)
    excess: Singles = np.subtract(total, np.median(total, axis=0), dtype=np.float32)
    # What rounding leaves of equal values would count: the cube root of its square is large.
    excess[excess <= ROUNDING * total.max(axis=0, initial=0.0)] = 0.0
    return excess
