"""Pairs and triples of variables whose dependence differs, though none of them may by itself.

With k̃_s the scalar kernel of column s, centred on the pooled rows and scaled to mean square 1,

    I_sr = Σ_ij W_ij k̃_s k̃_r,   I_srq = Σ_ij W_ij k̃_s k̃_r k̃_q,   W the weights of MMD²_u

estimate ‖E_X φ̃_s⊗φ̃_r − E_Y φ̃_s⊗φ̃_r‖², the difference of the dependence of s and r, and likewise
of three. Centring takes the marginals out, and with them most of the noise. First-order
information cannot lead here: where only a pair differs, each of its variables looks like noise.

A few features f̃_s of each column, k̃_s(u, v) ≈ f̃_s(u)ᵀf̃_s(v), make that one pass over the rows in
place of all pairs of them:

    I_sr = ‖T^X_sr − T^Y_sr‖²,  T_sr = mean_i f̃_s(i) ⊗ f̃_r(i)

and likewise for three columns, without the products of a row with itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import current_budget
from tellapart.data.column_store import Values
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.kernels.random_features import Landmarks
from tellapart.statistics.quadratic_moments import (
    Tensor,
    blocks_of,
    features_of,
    place_landmarks,
    products_of,
    squared_difference,
)
from tellapart.threads import one_blas_thread

MOST_WORK = 6e10
"""Floating-point operations of a search for groups: a few seconds on one core."""
RANKS = {2: 6, 3: 2}
"""Features of a column in a pair and in a triple; of very many columns each has fewer."""
FEWEST_ROWS = 100
"""Rows of each sample that are drawn at least: fewer show no dependence that counts."""


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
    varying, budget = np.flatnonzero(~kernel.constant), current_budget()
    if not size <= varying.size <= budget.interaction_columns:
        return []
    rank = min(RANKS[size], max(budget.interaction_features // varying.size, 1))
    # 2 operations for each product of features in a group and each row of both samples.
    products = (varying.size * rank) ** size / (1 if size == 2 else 3)
    most_rows = int(most_work / (4 * products))
    if most_rows < min(FEWEST_ROWS, max(samples.n_x, samples.n_y)):
        return []
    drawn = samples.draw(most_rows, rng).columns(varying)
    landmarks = place_landmarks(drawn, [kernel.scalars[s] for s in varying], rank + 1)
    with one_blas_thread():
        landmarks, centre = _centred(drawn, landmarks, rank)
        if size == 2:
            x, y = (products_of(values, landmarks, rank, centre) for values in (drawn.x, drawn.y))
            scores = {0: squared_difference(x.tensor, y.tensor)}
        else:
            scores = _triples(drawn, landmarks, rank, centre)
    return largest_groups(scores, varying, count, size)


def _centred(
    samples: Samples, landmarks: Sequence[Landmarks], rank: int
) -> tuple[tuple[Landmarks, ...], FloatArray]:
    """Return the leading features about their pooled means, k̃_s of mean square 1, and the means."""
    (sums_x, squares_x), (sums_y, squares_y) = (
        _own_moments(values, landmarks, rank + 1) for values in (samples.x, samples.y)
    )
    n_rows = samples.n_x + samples.n_y
    means, squares = (sums_x + sums_y) / n_rows, (squares_x + squares_y) / n_rows
    leading, centre = [], np.zeros((len(landmarks), rank))
    for s, column in enumerate(landmarks):
        covariance = squares[s] - np.multiply.outer(means[s], means[s])
        values, vectors = np.linalg.eigh(covariance[: column.rank, : column.rank])
        turn = vectors[:, ::-1][:, :rank]
        # mean k̃² = ‖cov f‖²: the sum of the squared eigenvalues.
        square = float(np.square(values).sum())
        turn = turn / np.sqrt(np.sqrt(max(square, np.finfo(np.float64).tiny)))
        leading.append(Landmarks(column.scalar, column.points, column.projection @ turn))
        centre[s, : turn.shape[1]] = means[s, : column.rank] @ turn
    return tuple(leading), centre


def _own_moments(
    values: Values, landmarks: Sequence[Landmarks], rank: int
) -> tuple[FloatArray, FloatArray]:
    """Return Σ_i f_s(i) and Σ_i f_s(i) f_s(i)ᵀ of every column over the rows of one sample."""
    sums, squares = np.zeros((len(landmarks), rank)), np.zeros((len(landmarks), rank, rank))
    for block in blocks_of(values, landmarks, rank):
        sums += block.sum(axis=0, dtype=np.float64)
        squares += np.matmul(block.transpose(1, 2, 0), block.transpose(1, 0, 2))
    return sums, squares


def _triples(
    samples: Samples, landmarks: Sequence[Landmarks], rank: int, centre: FloatArray
) -> dict[int, FloatArray]:
    """Return I of the triples, a matrix of the columns after each that leads."""
    all_columns = np.arange(len(landmarks))
    sides = []
    for values in (samples.x, samples.y):
        features = features_of(values[:, all_columns], landmarks, rank)
        features -= centre.astype(np.float32)
        sides.append((features, np.einsum("isa,isa->is", features, features)))
    scores = {}
    for leader in range(len(landmarks) - 2):
        total = np.zeros((len(landmarks) - leader - 1,) * 2)
        for a in range(rank):
            x, y = (
                _led(features[:, leader, a], features[:, leader + 1 :], squares[:, leader + 1 :])
                for features, squares in sides
            )
            total += squared_difference(x, y)
        scores[leader + 1] = total
    return scores


def _led(leading: Singles, features: Singles, squares: Singles) -> Tensor:
    """Return the mean of g f̃_s ⊗ f̃_r over the rows, g one feature of the column that leads."""
    count, n_columns, rank = features.shape
    flat = features.reshape(count, -1)
    products = (flat * leading[:, None]).T @ flat / count
    self_products = (squares * np.square(leading)[:, None]).T @ squares / count
    return Tensor(count, products.reshape(n_columns, rank, n_columns, rank), self_products)


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
    largest = scores[rows]
    order = np.argsort(-largest, axis=None, kind="stable")[:count]
    leader = () if size == 2 else (first - 1,)
    return [
        ((*leader, first + int(rows[i]), first + int(j)), float(largest[i, j]))
        for i, j in zip(*np.unravel_index(order, largest.shape), strict=True)
        if np.isfinite(largest[i, j])
    ]
