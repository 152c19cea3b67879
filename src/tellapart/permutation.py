"""The null distribution and the p-value: every relabelling of the held-out rows at once.

Under H₀ the rows of the pooled test half are exchangeable, and kernel, bandwidth and z were
fixed on other rows. So the statistic of the true labels is one of the statistics of random
labels, and its rank is a p-value that holds in finite samples.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.errors import InputError
from tellapart.kernels.base import FittedKernel
from tellapart.samples import FloatArray, Samples

MEMORY_BUDGET = 1_000_000_000
LABEL_BLOCK = 16_000_000
"""Bytes of unpacked labels at a time: more of them only leave the cache."""
TIE_TOLERANCE = 1e-12
"""Two statistics closer than this times the largest |K| are a tie."""


@dataclass(frozen=True)
class PermutationNull:
    """The observed statistic, its null distribution and what follows from them.

    Attributes
    ----------
    statistic : float
        MMD²_u(z) of the true labels.
    null_distribution : array
        The statistic of each relabelling; the true labels are among them only if `exact`.
    pvalue : float
        (1 + #{T_i ≥ T})/(N_p + 1), or #{T_i ≥ T}/count over all relabellings if `exact`.
    threshold : float
        The critical value: `pvalue <= alpha` exactly when `statistic > threshold`;
        infinite where no statistic could reach `alpha`.
    exact : bool
        Whether every distinct relabelling was enumerated.
    n_permutations : int
        Number of relabellings in `null_distribution`.
    """

    statistic: float
    null_distribution: FloatArray
    pvalue: float
    threshold: float
    exact: bool
    n_permutations: int


@dataclass(frozen=True)
class Relabellings:
    """Which of the pooled rows carry the label x, one relabelling per row of packed bits.

    Row 0 holds the true labels, so that the observed statistic goes through the very same
    arithmetic as the permuted ones and a tie is a tie.
    """

    bits: NDArray[np.uint8]
    exact: bool

    def block(self, start: int, stop: int) -> FloatArray:
        """Return the 0/1 labels of pooled rows start..stop−1; `start` is a multiple of 8."""
        packed = self.bits[:, start // 8 : -(-stop // 8)]
        return np.unpackbits(packed, axis=1, count=stop - start).astype(np.float64)


@dataclass(frozen=True)
class _Forms:
    """What the statistic needs of K per relabelling e, the diagonal of K left out."""

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
    """Test MMD²_u(z) of two samples against all, or many random, relabellings of their rows.

    p = (1 + #{i : T_i ≥ T}) / (N_p + 1) with N_p random relabellings. When there are at most
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
        Number of random relabellings, N_p.
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
    labels = draw_relabellings(samples.n_x, samples.n_y, n_permutations, rng, memory_budget)
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


def count_relabellings(n_x: int, n_y: int, at_most: int) -> int | None:
    """Return C(n_x + n_y, n_x), or None where it exceeds `at_most`."""
    log_count = math.lgamma(n_x + n_y + 1) - math.lgamma(n_x + 1) - math.lgamma(n_y + 1)
    # The exact integer has millions of digits for large samples: form it only near the limit.
    if log_count > math.log(at_most) + 1.0:
        return None
    count = math.comb(n_x + n_y, n_x)
    return count if count <= at_most else None


def check_reach(n_permutations: int, alpha: float) -> None:
    """Raise if so few relabellings were asked for that no p-value can fall to `alpha`."""
    if 1 / (n_permutations + 1) > alpha:
        least = math.ceil(1 / alpha) - 1
        raise InputError(
            f"n_permutations must be at least {least} for alpha = {alpha:g} "
            f"(the least p-value is 1/(n_permutations + 1)); got {n_permutations}"
        )


def least_pvalue(n_x: int, n_y: int, n_permutations: int) -> float:
    """Return the smallest p-value that a test of these sizes can give.

    >>> least_pvalue(50, 50, 999)
    0.001
    >>> round(1 / least_pvalue(5, 5, 999))
    126
    """
    count = count_relabellings(n_x, n_y, n_permutations)
    if count is None:
        return 1.0 / (n_permutations + 1)
    # Swapping the labels of equally large samples leaves MMD² as it is: ties come in pairs.
    return (2 if n_x == n_y else 1) / count


def draw_relabellings(
    n_x: int,
    n_y: int,
    n_permutations: int,
    rng: np.random.Generator,
    memory_budget: int = MEMORY_BUDGET,
) -> Relabellings:
    """Enumerate all relabellings if there are at most `n_permutations`, else draw that many."""
    n_rows = n_x + n_y
    count = count_relabellings(n_x, n_y, n_permutations)
    if count is not None:
        chosen = itertools.chain.from_iterable(itertools.combinations(range(n_rows), n_x))
        columns = np.fromiter(chosen, dtype=np.intp, count=count * n_x).reshape(count, n_x)
        labels = np.zeros((count, n_rows), dtype=np.uint8)
        np.put_along_axis(labels, columns, 1, axis=1)
        return Relabellings(np.packbits(labels, axis=1), exact=True)
    true = (np.arange(n_rows) < n_x).astype(np.uint8)
    bits = np.empty((n_permutations + 1, -(-n_rows // 8)), dtype=np.uint8)
    bits[0] = np.packbits(true)
    # Rows are shuffled one after the other from one stream, so the block size changes nothing.
    step = max(memory_budget // (4 * n_rows), 1)
    for start in range(1, n_permutations + 1, step):
        size = min(step, n_permutations + 1 - start)
        # Rows contiguous in memory: shuffling across strides takes three times as long.
        shuffled = rng.permuted(np.tile(true, (size, 1)), axis=1)
        bits[start : start + size] = np.packbits(shuffled, axis=1)
    return Relabellings(bits, exact=False)


def _gram_forms(
    pooled: FloatArray,
    kernel: FittedKernel,
    z: FloatArray,
    labels: Relabellings,
    memory_budget: int,
) -> _Forms:
    """Sum K over each relabelling by products of its blocks with blocks of labels: O(N²·N_p)."""
    n_rows, n_labels = pooled.shape[0], labels.bits.shape[0]
    # A kernel builds its block in about three arrays of that size.
    step = _block_size(memory_budget // 2, 3 * n_rows + 2 * n_labels)
    inner = _block_size(min(memory_budget // 4, LABEL_BLOCK), n_labels)
    within, touching = np.zeros(n_labels), np.zeros(n_labels)
    total = magnitude = 0.0
    for start in range(0, n_rows, step):
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
    labels: Relabellings,
    memory_budget: int,
) -> _Forms | None:
    """Sum K by short features, eᵀKe = Σ_s z_s ‖Φ_sᵀe‖²: O(N·r·N_p), r features in all.

    None where a column has no short features or the Gram matrix is the cheaper way.
    """
    if kernel.name != "linear":
        return None
    support = np.flatnonzero(z)
    n_rows, n_labels = pooled.shape[0], labels.bits.shape[0]
    within, touching = np.zeros(n_labels), np.zeros(n_labels)
    total = magnitude = 0.0
    for s in support:
        features = kernel.scalars[s].features(pooled[:, s])
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
    """Return MMD²_u of each relabelling from the sums of K within and across the labels."""
    xx = forms.within
    xy = forms.touching - forms.within
    yy = forms.total - 2.0 * forms.touching + forms.within
    return np.asarray(xx / (m * (m - 1)) + yy / (n * (n - 1)) - 2.0 * xy / (m * n))


def null_of(
    statistics: FloatArray, tolerance: float, alpha: float, *, exact: bool
) -> PermutationNull:
    """Return p-value and threshold; `statistics[0]` is the observed one.

    Both compare T with T_i + tolerance, the same sum in the same order, so that
    p ≤ α ⇔ T > threshold holds to the last bit.
    """
    observed = float(statistics[0])
    null = statistics if exact else statistics[1:]
    count = statistics.shape[0]
    at_least = int(np.count_nonzero(statistics + tolerance >= observed))
    # p ≤ α allows `allowed` of the `count` statistics, the observed one among them, at or
    # above T. So the largest `allowed` of all, or `allowed` − 1 of the others, may lie there.
    allowed = _largest_count(count, alpha)
    rank = allowed + 1 if exact else allowed
    threshold = math.inf if rank == 0 else float(np.sort(null)[-rank]) + tolerance
    return PermutationNull(
        statistic=observed,
        null_distribution=null,
        pvalue=at_least / count,
        threshold=threshold,
        exact=exact,
        n_permutations=int(null.shape[0]),
    )


def _largest_count(count: int, alpha: float) -> int:
    """Return the largest k < count with k/count ≤ alpha, in the arithmetic of the p-value."""
    k = min(math.floor(alpha * count) + 1, count - 1)
    while k > 0 and k / count > alpha:
        k -= 1
    return k
