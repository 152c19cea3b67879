"""Pairs and triples of variables whose dependence differs, though none of them may by itself.

With k̃_s the scalar kernel of column s, centred on the pooled rows and scaled to mean square 1,

    I_sr = Σ_ij W_ij k̃_s k̃_r,   I_srq = Σ_ij W_ij k̃_s k̃_r k̃_q,   W the weights of MMD²_u

estimate ‖E_X φ̃_s⊗φ̃_r − E_Y φ̃_s⊗φ̃_r‖², the difference of the dependence of s and r, and likewise
of three. Centring takes the marginals out, and with them most of the noise. First-order
information cannot lead here: where only a pair differs, each of its variables looks like noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.threads import one_blas_thread

# Floating-point operations of a scan at most: a few seconds on one core.
MOST_WORK = 6e10
# With fewer rows than this of each sample a scan says nothing.
LEAST_ROWS = 20
# Numbers in the stack of one block of pairs: 8 MB in single precision.
_BLOCK_ENTRIES = 2_097_152


@dataclass(frozen=True)
class Group:
    """A few variables and how much their joint dependence differs."""

    variables: tuple[int, ...]
    score: float


def strongest_groups(
    samples: Samples,
    kernel: FittedKernel,
    size: int,
    count: int,
    rng: np.random.Generator,
    most_work: float = MOST_WORK,
) -> list[Group]:
    """Return the `count` pairs (size 2) or triples (size 3) with the largest scores.

    Parameters
    ----------
    samples : Samples
        The two samples.
    kernel : FittedKernel
        The linear kernel: its scalar kernels and its constant columns.
    size : {2, 3}
        Variables in a group.
    count : int
        Groups wanted.
    rng : numpy Generator
        Draws the rows where all of them would take too long.
    most_work : float
        Operations at most; where even few rows would take more, nothing is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.kernels import Linear
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(200, 5)), rng.normal(size=(200, 5))
    >>> y[:, 3] = y[:, 1]
    >>> samples = Samples(x, y, tuple("abcde"), ("numeric",) * 5)
    >>> strongest_groups(samples, Linear().fit(samples), 2, 1, rng)[0].variables
    (1, 3)
    """
    varying = np.flatnonzero(~kernel.constant)
    if varying.shape[0] < size:
        return []
    fewer = _affordable(samples, varying.shape[0] ** size, rng, most_work)
    if fewer is None:
        return []
    with one_blas_thread():
        scores = _scan(fewer, kernel, varying, size)
    return largest_groups(scores, varying, count, size)


def largest_groups(
    scores: Mapping[int, FloatArray], varying: IntArray, count: int, size: int
) -> list[Group]:
    """Return the `count` groups with the largest scores, best first.

    The matrix at f is of the columns of `varying` from f on; in a triple column f − 1 leads.
    """
    groups = [
        Group(tuple(int(varying[s]) for s in group), score)
        for first, matrix in scores.items()
        for group, score in _largest_entries(matrix, first, count, size)
    ]
    return sorted(groups, key=lambda group: -group.score)[:count]


def _largest_entries(
    scores: FloatArray, first: int, count: int, size: int
) -> list[tuple[tuple[int, ...], float]]:
    """Return the largest entries above the diagonal; row 0 stands for column `first`."""
    scores[np.tri(*scores.shape, dtype=np.bool_)] = -np.inf
    # The largest few entries are in the rows with the largest few maxima: no need to sort all.
    rows = np.argsort(-scores.max(axis=1), kind="stable")[:count]
    part = scores[rows]
    places = np.argsort(-part, axis=None, kind="stable")[:count]
    leader = () if size == 2 else (first - 1,)
    return [
        ((*leader, first + int(rows[i]), first + int(j)), float(part[i, j]))
        for i, j in zip(*np.unravel_index(places, part.shape), strict=True)
        if np.isfinite(part[i, j])
    ]


def _affordable(
    samples: Samples, products: int, rng: np.random.Generator, most_work: float
) -> Samples | None:
    """Return the samples, or some rows of each, such that a scan stays within the work."""
    n_rows = samples.n_x + samples.n_y
    # 2 operations for each product and pair on and above the diagonal.
    share = min(1.0, float(np.sqrt(most_work / (n_rows**2 * products))))
    if share == 1.0:
        return samples
    sizes = int(share * samples.n_x), int(share * samples.n_y)
    if min(sizes) < LEAST_ROWS:
        return None
    rows_x, rows_y = (
        np.sort(rng.choice(count, kept, replace=False))
        for count, kept in zip((samples.n_x, samples.n_y), sizes, strict=True)
    )
    return samples.rows(rows_x, rows_y)


def _scan(
    samples: Samples, kernel: FittedKernel, varying: IntArray, size: int
) -> dict[int, FloatArray]:
    """Return I of the pairs as one matrix; of the triples as one for each column that leads them.

    The matrix at f is of the columns from f on; in a triple column f − 1 leads.
    """
    m, n = samples.n_x, samples.n_y
    columns = np.concatenate([samples.x[:, varying], samples.y[:, varying]]).T.copy()
    n_columns, n_rows = columns.shape
    scalars = [kernel.scalars[s] for s in varying]
    means = np.empty((n_columns, n_rows))
    squares = np.zeros(n_columns)
    step = max(1, _BLOCK_ENTRIES // n_rows)
    for s, (scalar, values) in enumerate(zip(scalars, columns, strict=True)):
        for start in range(0, n_rows, step):
            gram = scalar.gram(values[start : start + step], values)
            means[s, start : start + step] = gram.mean(axis=1)
            squares[s] += np.square(gram).sum()
    grand = means.mean(axis=1)
    # mean (k − k̄_i − k̄_j + k̄)² = mean k² − 2 mean_i k̄_i² + k̄²
    spread = squares / n_rows**2 - 2 * np.square(means).mean(axis=1) + grand**2
    scales = 1 / np.sqrt(np.maximum(spread, np.finfo(np.float64).eps))
    within = np.concatenate([np.full(m, 1 / (m * (m - 1))), np.full(n, 1 / (n * (n - 1)))])
    of_x = np.arange(n_rows) < m
    firsts = [0] if size == 2 else range(1, n_columns - 1)
    totals = {first: np.zeros((n_columns - first, n_columns - first)) for first in firsts}
    step = max(1, _BLOCK_ENTRIES // (n_columns * n_rows))
    for start in range(0, n_rows, step):
        rows = np.arange(start, min(start + step, n_rows))
        # Pairs on and above the diagonal count twice, the diagonal not at all.
        weights = np.where(of_x[rows, None] == of_x, within[rows, None], -1 / (m * n))
        weights = 2.0 * weights * (rows[:, None] < np.arange(n_rows))
        stack = np.empty((n_columns, rows.shape[0], n_rows - start), dtype=np.float32)
        for s, (scalar, values) in enumerate(zip(scalars, columns, strict=True)):
            gram = scalar.gram(values[rows], values[start:])
            gram -= means[s, rows, None]
            gram -= means[s, start:] - grand[s]
            gram *= scales[s]
            stack[s] = gram
        flat = stack.reshape(n_columns, -1)
        price = weights[:, start:].astype(np.float32).ravel()
        for first, total in totals.items():
            rest = flat[first:]
            total += (rest * (price if size == 2 else price * flat[first - 1])) @ rest.T
    return totals
