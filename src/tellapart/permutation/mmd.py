"""The null distribution and the p-value: every permutation of the held-out rows at once.

Under H₀ the rows of the pooled test half are exchangeable, and kernel, bandwidth and z were
fixed on other rows. So the statistic of the true labels is one of the statistics of random
labels, and its rank is a p-value that holds in finite samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.interrupts import check_interrupts
from tellapart.kernels.base import FittedKernel
from tellapart.permutation.labels import MEMORY_BUDGET, Permutations, draw_permutations
from tellapart.permutation.nulls import PermutationNull, null_of

LABEL_BLOCK = 16_000_000
"""Bytes of unpacked labels at a time: more of them only leave the cache."""
TIE_TOLERANCE = 1e-12
"""Two statistics closer than this times the largest |K| are a tie."""


@dataclass(frozen=True)
class _Forms:
    """What the statistic needs of K per permutation e, the diagonal of K left out."""

    within: FloatArray  # eᵀKe
    touching: FloatArray  # eᵀK1
    total: float  # 1ᵀK1
    magnitude: float  # a bound on |K|, the scale of rounding errors


def permutation_test(
    samples: Samples,
    kernel: FittedKernel,
    z: FloatArray,
    *,
    n_permutations: int,
    alpha: float,
    rng: np.random.Generator,
    memory_budget: int = MEMORY_BUDGET,
) -> PermutationNull:
    """Test MMD²_u(z) of two samples against all, or many random, permutations of their rows.

    p = (1 + #{i : T_i ≥ T}) / (N_p + 1) with N_p random permutations. When there are at most
    N_p distinct ones they are all enumerated, the true one included, and
    p = #{i : T_i ≥ T} / count. Statistics equal up to rounding count as ties, against the
    rejection: P(p ≤ α) ≤ α under H₀ for every sample size.

    Parameters
    ----------
    samples : Samples
        The held-out rows: not those on which `kernel` and `z` were chosen.
    kernel : FittedKernel
        The kernel with its bandwidths frozen.
    z : array of length D
        The weights.
    n_permutations : int
        Number of random permutations, N_p.
    alpha : float
        The level, for `threshold` only.
    rng : numpy Generator
        The p-value is the same for the same generator state, whatever the memory budget.
    memory_budget : int
        Bytes that blocks of the Gram matrix and of the labels may take.

    Returns
    -------
    PermutationNull
        Statistic, null distribution, p-value and critical value.
    """
    labels = draw_permutations(samples.n_x, samples.n_y, n_permutations, rng, memory_budget)
    # Only the chosen columns take part: of a wide sample, or a sparse one, no others are copied.
    used = np.flatnonzero(z)
    pooled = np.concatenate([samples.x[:, used], samples.y[:, used]])
    kernel, z = kernel.columns(used), z[used]
    forms = _feature_forms(pooled, kernel, z, labels, memory_budget)
    if forms is None:
        forms = _gram_forms(pooled, kernel, z, labels, memory_budget)
    statistics = _mmd2(forms, samples.n_x, samples.n_y)
    tolerance = TIE_TOLERANCE * forms.magnitude
    return null_of(statistics, tolerance, alpha, exact=labels.exact)


def _gram_forms(
    pooled: FloatArray,
    kernel: FittedKernel,
    z: FloatArray,
    labels: Permutations,
    memory_budget: int,
) -> _Forms:
    """Sum K over each permutation by products of its blocks with blocks of labels: O(N²·N_p)."""
    n_rows, n_labels = pooled.shape[0], labels.bits.shape[0]
    # A kernel builds its block in about three arrays of that size.
    step = _block_size(memory_budget // 2, 3 * n_rows + 2 * n_labels)
    inner = _block_size(min(memory_budget // 4, LABEL_BLOCK), n_labels)
    within, touching = np.zeros(n_labels), np.zeros(n_labels)
    total = magnitude = 0.0
    for start in range(0, n_rows, step):
        check_interrupts()
        stop = min(start + step, n_rows)
        block = kernel.gram(pooled[start:stop], pooled, z)
        block[np.arange(stop - start), np.arange(start, stop)] = 0.0
        magnitude = max(magnitude, float(np.abs(block).max()))
        row_sums = block.sum(axis=1)
        total += float(row_sums.sum())
        mine = labels.block(start, stop)
        touching += mine @ row_sums
        for first in range(0, n_rows, inner):
            last = min(first + inner, n_rows)
            sums = labels.block(first, last) @ block[:, first:last].T
            within += np.einsum("ij,ij->i", sums, mine)
    return _Forms(within, touching, total, magnitude)


def _feature_forms(
    pooled: FloatArray,
    kernel: FittedKernel,
    z: FloatArray,
    labels: Permutations,
    memory_budget: int,
) -> _Forms | None:
    """Sum K by short features, eᵀKe = Σ_s z_s ‖Φ_sᵀe‖²: O(N·r·N_p), r features in all.

    None where a column has no short features or the Gram matrix is the cheaper way.
    """
    if not kernel.abilities.short_features:
        return None
    support = np.flatnonzero(z)
    n_rows, n_labels = pooled.shape[0], labels.bits.shape[0]
    within, touching = np.zeros(n_labels), np.zeros(n_labels)
    total = magnitude = 0.0
    for s in support:
        features = kernel.scalar_kernels[s].features(pooled[:, s])
        # Judge by the first columns: with as many features as rows the Gram matrix wins.
        if features is None or features.shape[1] * support.size >= n_rows:
            return None
        diagonal = np.einsum("ij,ij->i", features, features)
        sums = features.sum(axis=0)
        row_sums = features @ sums - diagonal
        embedded = np.zeros((n_labels, features.shape[1]))
        of_diagonal = np.zeros(n_labels)
        step = _block_size(min(memory_budget // 4, LABEL_BLOCK), n_labels)
        for start in range(0, n_rows, step):
            check_interrupts()
            stop = min(start + step, n_rows)
            block = labels.block(start, stop)
            embedded += block @ features[start:stop]
            of_diagonal += block @ diagonal[start:stop]
            touching += z[s] * (block @ row_sums[start:stop])
        within += z[s] * (np.einsum("ij,ij->i", embedded, embedded) - of_diagonal)
        total += float(z[s] * row_sums.sum())
        magnitude += float(abs(z[s]) * diagonal.max())
    return _Forms(within, touching, total, magnitude)


def _block_size(memory_budget: int, floats_per_row: int) -> int:
    """Return how many pooled rows fit, as a multiple of 8: labels are packed eight to a byte."""
    return max(memory_budget // (64 * floats_per_row), 1) * 8


def _mmd2(forms: _Forms, m: int, n: int) -> FloatArray:
    """Return MMD²_u of each permutation from the sums of K within and across the labels."""
    xx = forms.within
    xy = forms.touching - forms.within
    yy = forms.total - 2.0 * forms.touching + forms.within
    return np.asarray(xx / (m * (m - 1)) + yy / (n * (n - 1)) - 2.0 * xy / (m * n))
