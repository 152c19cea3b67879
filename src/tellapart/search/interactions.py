"""Pairs and triples of variables whose dependence differs, though none of them may by itself.

With k̃_s the scalar kernel of column s, centred on the pooled rows and scaled to mean square 1,

    I_sr = Σ_ij W_ij k̃_s k̃_r,   I_srq = Σ_ij W_ij k̃_s k̃_r k̃_q,   W the weights of MMD²_u

estimate ‖E_X φ̃_s⊗φ̃_r − E_Y φ̃_s⊗φ̃_r‖², the difference of the dependence of s and r, and likewise
of three. Centring takes the marginals out, and with them most of the noise. First-order
information cannot lead here: where only a pair differs, each of its variables looks like noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.kernels.random_features import Landmarks
from tellapart.statistics.quadratic_moments import (
    Tensor,
    features_of,
    place_landmarks,
    products_of,
    squared_difference,
)
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


# Pairs and triples whose dependence differs, looked for in all rows by short features.
#
# The scores are those of `tellapart.search.interactions`, with k̃_s(u, v) = f̃_s(u)ᵀf̃_s(v) for a
# few features f̃_s of each column, centred on the pooled rows. What is summed is then
#
#     I_sr = ‖T^X_sr − T^Y_sr‖²,  T_sr = mean_i f̃_s(i) ⊗ f̃_r(i)
#
# (and likewise for three columns, unbiased as ever), one pass over the rows in place of all pairs
# of them: with a hundred thousand rows a dependence shows that a thousand of them keep to
# themselves.


RANKS = {2: 6, 3: 2}
"""Features of a column in a pair and in a triple."""
FEWEST_ROWS = 1_000


def strongest_groups_of_many(
    samples: Samples,
    kernel: FittedKernel,
    size: int,
    count: int,
    rng: np.random.Generator,
    most_work: float = MOST_WORK,
) -> list[Group]:
    """Return the `count` pairs (size 2) or triples (size 3) with the largest scores.

    The arguments are those of `tellapart.search.interactions.strongest_groups`; where even a
    thousand rows would take more than `most_work` operations, nothing is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.kernels import Linear
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(2_000, 5)), rng.normal(size=(2_000, 5))
    >>> y[:, 3] = 0.2 * y[:, 1] + y[:, 3]
    >>> samples = Samples(x, y, tuple("abcde"), ("numeric",) * 5)
    >>> strongest_groups_of_many(samples, Linear().fit(samples), 2, 1, rng)[0].variables
    (1, 3)
    """
    varying = np.flatnonzero(~kernel.constant)
    if varying.shape[0] < size:
        return []
    # 2 operations for each product of features in a group and each row of both samples.
    products = (varying.shape[0] * RANKS[size]) ** size / (1 if size == 2 else 3)
    most = int(most_work / (4 * products))
    if most < FEWEST_ROWS:
        return []
    fewer = samples.draw(most, rng).columns(varying)
    rank = RANKS[size]
    landmarks = place_landmarks(fewer, [kernel.scalars[s] for s in varying], rank + 1)
    landmarks, centre = centred(fewer, landmarks, rank)
    if size == 2:
        x, y = (products_of(values, landmarks, rank, centre) for values in (fewer.x, fewer.y))
        scores = {0: squared_difference(x.tensor, y.tensor)}
    else:
        scores = _triples(fewer, landmarks, rank, centre)
    return largest_groups(scores, varying, count, size)


def centred(
    samples: Samples, landmarks: Sequence[Landmarks], rank: int
) -> tuple[tuple[Landmarks, ...], FloatArray]:
    """Return the leading features about their pooled means, k̃_s of mean square 1, and the means."""
    x, y = (products_of(values, landmarks, rank + 1) for values in (samples.x, samples.y))
    found, means = [], np.zeros((len(landmarks), rank))
    share = samples.n_x / (samples.n_x + samples.n_y)
    for s, one in enumerate(landmarks):
        mean = _pooled(x.means[s], y.means[s], share)
        spread = _pooled(x.tensor.products[s, :, s], y.tensor.products[s, :, s], share)
        spread = spread - np.multiply.outer(mean, mean)
        values, vectors = np.linalg.eigh(spread[: one.rank, : one.rank])
        turn = vectors[:, ::-1][:, :rank]
        # mean k̃² = ‖cov f‖²: the sum of the squared eigenvalues.
        square = float(np.square(values).sum())
        turn = turn / np.sqrt(np.sqrt(max(square, np.finfo(np.float64).tiny)))
        found.append(Landmarks(one.scalar, one.points, one.projection @ turn))
        means[s, : turn.shape[1]] = mean[: one.rank] @ turn
    return tuple(found), means


def _pooled(x: FloatArray, y: FloatArray, share: float) -> FloatArray:
    return np.asarray(share * x + (1 - share) * y)


def _triples(
    samples: Samples, landmarks: Sequence[Landmarks], rank: int, centre: FloatArray
) -> dict[int, FloatArray]:
    """Return I of the triples, a matrix of the columns after each that leads."""
    everything = np.arange(len(landmarks))
    sides = []
    for values in (samples.x, samples.y):
        features = features_of(values[:, everything], landmarks, rank)
        sides.append(features - centre.astype(np.float32))
    scores = {}
    for leader in range(len(landmarks) - 2):
        total = np.zeros((len(landmarks) - leader - 1,) * 2)
        for a in range(rank):
            x, y = (_led(side[:, leader, a], side[:, leader + 1 :]) for side in sides)
            total += squared_difference(x, y)
        scores[leader + 1] = total
    return scores


def _led(leading: Singles, features: Singles) -> Tensor:
    """Return the mean of g f̃_s ⊗ f̃_r over the rows, g one feature of the column that leads."""
    count, n_columns, rank = features.shape
    flat, squares = features.reshape(count, -1), np.einsum("isa,isa->is", features, features)
    products = (flat * leading[:, None]).T @ flat / count
    own = (squares * np.square(leading)[:, None]).T @ squares / count
    return Tensor(count, products.reshape(n_columns, rank, n_columns, rank), own)
