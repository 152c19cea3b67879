"""The null distribution and the p-value: every permutation of the held-out rows at once.

Under H₀ the rows of the pooled test half are exchangeable, and kernel, bandwidth and z were
fixed on other rows. So the statistic of the true labels is one of the statistics of random
labels, and its rank is a p-value that holds in finite samples.
"""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.kernels.random_features import draw_features
from tellapart.kernels.tiles import GramTiles
from tellapart.permutation.bins import PermutedBins
from tellapart.permutation.designed_groups import permute_samples
from tellapart.permutation.forms import ColumnSums, Forms, forms_of
from tellapart.permutation.gram_sums import gram_forms
from tellapart.permutation.labels import MEMORY_BUDGET
from tellapart.permutation.nulls import PermutationNull, null_of
from tellapart.permutation.random_sums import random_forms
from tellapart.threads import blas_threads, in_threads, one_blas_thread

TIE_TOLERANCE = 1e-12
"""Two statistics closer than this times the largest |K| are a tie."""
MOST_PAIRED_ROWS = 40_000
"""Pooled rows up to which all pairs are summed, for kernels without short features."""
FEW_ROWS = 2_500
"""Pooled rows up to which a whole Gram matrix is cheap."""
RANDOM_FEATURES = 1_024
"""Random frequencies of a kernel beyond that: a cosine and a sine each."""


def permutation_test(
    samples: Samples,
    kernel: FittedKernel,
    z: FloatArray,
    *,
    n_permutations: int,
    alpha: float,
    rng: np.random.Generator,
    memory_budget: int = MEMORY_BUDGET,
    n_jobs: int | None = None,
) -> PermutationNull:
    """Test MMD²_u(z) of two samples against all, or many random, permutations of their rows.

    p = (1 + #{i : T_i ≥ T}) / (N_p + 1) with N_p random permutations. When there are at most
    N_p distinct ones they are all enumerated, the true one included, and
    p = #{i : T_i ≥ T} / count. Statistics equal up to rounding count as ties, against the
    rejection: P(p ≤ α) ≤ α under H₀ for every sample size.

    Where both samples are large, bins of rows are permuted (`tellapart.permutation.bins`), and what
    is needed of the kernel are its sums between bins: by short features of the columns, or over
    all pairs of rows once. Beyond 40,000 rows a kernel without short features takes random ones,
    drawn without labels; one that has none either is tested on 20,000 rows of each sample at most,
    drawn at random. `PermutationNull.note` says so.

    With a design (`samples.design`) labels are permuted by it, and MMD² is adjusted for its blocks
    (`tellapart.permutation.forms.DesignedForms`).

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
    n_jobs : int or None
        Threads; None takes as many as BLAS would.

    Returns
    -------
    PermutationNull
        Statistic, null distribution, p-value and critical value.
    """
    threads = blas_threads() if n_jobs is None else n_jobs
    # Only the chosen columns take part: of a wide sample, or a sparse one, no others are copied.
    used = np.flatnonzero(z)
    samples, kernel, z = samples.columns(used), kernel.columns(used), z[used]
    note, features = "", None
    if not kernel.abilities.short_features and samples.n_x + samples.n_y > MOST_PAIRED_ROWS:
        levels = [len(samples.categories.get(name, ())) for name in samples.names]
        features = draw_features(kernel, z, levels, RANDOM_FEATURES, rng)
        if features is None:
            drawn = samples.draw(MOST_PAIRED_ROWS // 2, rng)
            note = (
                f"on {drawn.n_x:,} of {samples.n_x:,} and {drawn.n_y:,} of {samples.n_y:,} rows, "
                "drawn at random"
            )
            samples = drawn
        else:
            note = f"with {RANDOM_FEATURES:,} random frequencies for the kernel"
    bins = permute_samples(samples, n_permutations, rng)
    # The products are small: BLAS threads of their own would wait for each other on a busy machine.
    with one_blas_thread():
        if features is not None:
            forms = random_forms(samples, features, bins, threads)
        else:
            every = np.arange(used.size)
            pooled = np.concatenate([samples.x[:, every], samples.y[:, every]])[bins.order]
            forms = _column_forms(pooled, kernel, z, bins, threads) or gram_forms(
                GramTiles(kernel, pooled, z), bins, memory_budget, threads
            )
        statistics = forms.mmd2()
    return null_of(
        statistics,
        TIE_TOLERANCE * forms.magnitude,
        alpha,
        exact=bins.exact,
        rows_per_bin=bins.rows_per_bin,
        note=note,
    )


def _column_forms(
    pooled: FloatArray, kernel: FittedKernel, z: FloatArray, bins: PermutedBins, n_jobs: int
) -> Forms | None:
    """Sum K_z = Σ_s z_s k_s column by column: O(N r) for r features in all, whatever the tails.

    None for kernels that are no such sums, and where rows are so few that features would be as
    many as they are: the Gram matrix is the cheaper way then.
    """
    if not kernel.abilities.short_features:
        return None
    columns, scalars = np.ascontiguousarray(pooled.T), kernel.scalar_kernels
    few = bins.rows_per_bin == 1 and pooled.shape[0] <= FEW_ROWS

    def sums_of(s: int) -> ColumnSums:
        sums = ColumnSums(scalars[s], columns[s], bins.starts)
        if not few and sums.features is None:
            _ = sums.gram  # made here, in this thread
        return sums

    forms, parts, weights = forms_of(bins, n_jobs), [], []
    dense = np.zeros((0, 0))
    for weight, sums in zip(z, in_threads(sums_of, range(z.size), n_jobs), strict=True):
        features = sums.features
        # Judge by the first columns: with as many features as rows the Gram matrix wins.
        if few and (features is None or features.shape[1] * z.size >= pooled.shape[0]):
            return None
        if features is None:
            dense = weight * sums.gram if dense.size == 0 else dense + weight * sums.gram
        else:
            parts.append(features)
            weights.append(np.full(features.shape[1], weight))
    if parts:
        forms.add_features(np.concatenate(parts, axis=1), np.concatenate(weights))
    if dense.size > 0:
        forms.add_sums(dense)
    # k(v, v) = 1.
    forms.leave_out_diagonal(np.multiply(z.sum(), bins.rows))
    forms.magnitude = float(np.abs(z).sum())
    return forms
