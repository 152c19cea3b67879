"""Pairs and triples whose dependence differs, looked for in all rows by short features.

The scores are those of `tellapart.search.interactions`, with k̃_s(u, v) = f̃_s(u)ᵀf̃_s(v) for a few
features f̃_s of each column, centred on the pooled rows. What is summed is then

    I_sr = ‖T^X_sr − T^Y_sr‖²,  T_sr = mean_i f̃_s(i) ⊗ f̃_r(i)

(and likewise for three columns, unbiased as ever), one pass over the rows in place of all pairs of
them: with a hundred thousand rows a dependence shows that a thousand of them keep to themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.kernels.landmarks import Landmarks
from tellapart.search.interactions import MOST_WORK, Group, largest_groups
from tellapart.statistics.feature_products import (
    Singles,
    Tensor,
    features_of,
    place_landmarks,
    products_of,
    squared_difference,
)

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
