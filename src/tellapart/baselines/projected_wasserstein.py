"""Projected Wasserstein: the sparse direction along which two samples are farthest apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.spatial.distance import cdist

from tellapart.arguments import check_flag, check_integer
from tellapart.arrays import FloatArray, IntArray
from tellapart.baselines.base import FittedBaseline, Permuting, SelectingBaseline, permutation_null
from tellapart.baselines.standardised import Direction, standardise
from tellapart.budget import current_budget
from tellapart.data.samples import Samples, draw_rows
from tellapart.permutation.mmd import TIE_TOLERANCE
from tellapart.permutation.pvalues import PermutationNull
from tellapart.results.result import Method
from tellapart.threads import one_blas_thread

# Wasserstein distances of samples on a line: exact for unequal sizes, with gradients.


@dataclass(frozen=True)
class QuantileMerge:
    """Where the quantile functions of m and of n sorted values are both constant.

    W_p^p = ∫₀¹ |F⁻¹(t) − G⁻¹(t)|^p dt = Σ_k share_k |x_(of_x[k]) − y_(of_y[k])|^p over at most
    m + n − 1 pieces between the levels i/m and j/n. They depend on the sizes only.
    """

    of_x: IntArray
    of_y: IntArray
    share: FloatArray

    @classmethod
    def of_sizes(cls, m: int, n: int) -> QuantileMerge:
        """Return the pieces for samples of m and n values.

        >>> merge = QuantileMerge.of_sizes(2, 3)
        >>> merge.of_x, merge.of_y, merge.share.round(3)
        (array([0, 0, 1, 1]), array([0, 1, 1, 2]), array([0.333, 0.167, 0.167, 0.333]))
        """
        # In units of 1/(mn) the levels are integers: equal ones are surely seen to be equal.
        levels = np.union1d(np.arange(1, m + 1) * n, np.arange(1, n + 1) * m)
        share = np.diff(levels, prepend=0) / (m * n)
        return cls((levels - 1) // n, (levels - 1) // m, share)

    def distances(self, x: FloatArray, y: FloatArray, order: int) -> FloatArray:
        """Return W_p^p of each row of sorted values of x (k × m) and y (k × n)."""
        gaps = np.abs(x[:, self.of_x] - y[:, self.of_y])
        return np.asarray((gaps if order == 1 else gaps * gaps) @ self.share)


@dataclass(frozen=True)
class ProjectedDistance:
    """W_p^p of x·β and y·β, and its gradient in β, for many β at once.

    For p = 2 the distance is the least of the quadratics βᵀW_Mβ over transports M, and the
    gradient is 2W_Mβ of the M in force: the one that matches equal quantiles.
    """

    x: FloatArray
    y: FloatArray
    order: int
    merge: QuantileMerge

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, order: int) -> ProjectedDistance:
        """Return the distance of two samples with the same columns."""
        return cls(x, y, order, QuantileMerge.of_sizes(x.shape[0], y.shape[0]))

    def value(self, directions: FloatArray) -> FloatArray:
        """Return the distance along each row of `directions` (k × D)."""
        x, y = np.sort(directions @ self.x.T, axis=1), np.sort(directions @ self.y.T, axis=1)
        return self.merge.distances(x, y, self.order)

    def value_and_gradient(self, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the distance along each row of `directions`, and its gradient there."""
        x, y = directions @ self.x.T, directions @ self.y.T
        order_x, order_y = np.argsort(x, axis=1), np.argsort(y, axis=1)
        x, y = np.take_along_axis(x, order_x, axis=1), np.take_along_axis(y, order_y, axis=1)
        moves = x[:, self.merge.of_x] - y[:, self.merge.of_y]
        if self.order == 1:
            value, pull = np.abs(moves) @ self.merge.share, np.sign(moves) * self.merge.share
        else:
            value, pull = moves**2 @ self.merge.share, 2 * moves * self.merge.share
        of_x = _by_row(pull, self.merge.of_x, order_x)
        of_y = _by_row(pull, self.merge.of_y, order_y)
        return value, of_x @ self.x - of_y @ self.y


def permuted_distances(scores: FloatArray, labels: FloatArray, order: int) -> FloatArray:
    """Return W_p^p between the scores labelled 1 and those labelled 0, per row of labels.

    The scores are sorted once: whatever the labels, those of one side then stand in order. Rows
    with the same number of ones, all of them but with clusters, are done together.

    >>> permuted_distances(np.array([3.0, 0.0, 1.0]), np.array([[1.0, 0, 0], [0, 1, 0]]), 1)
    array([2.5, 2. ])
    """
    ranks = np.argsort(scores, kind="stable")
    ordered, sides = scores[ranks], labels[:, ranks] > 0.5
    distances, ones = np.empty(sides.shape[0]), sides.sum(axis=1)
    for n_x in np.unique(ones):
        alike = np.flatnonzero(ones == n_x)
        in_x = sides[alike]
        values = np.broadcast_to(ordered, in_x.shape)
        x, y = values[in_x].reshape(alike.size, -1), values[~in_x].reshape(alike.size, -1)
        merge = QuantileMerge.of_sizes(x.shape[1], y.shape[1])
        distances[alike] = merge.distances(x, y, order)
    return distances


def _by_row(pull: FloatArray, piece_of: IntArray, order: IntArray) -> FloatArray:
    """Return the pull on each row of a sample, summed over its pieces of the quantile function."""
    starts = np.flatnonzero(np.diff(piece_of, prepend=-1))
    by_rank = np.add.reduceat(pull, starts, axis=1)
    by_row = np.empty_like(by_rank)
    np.put_along_axis(by_row, order, by_rank, axis=1)
    return by_row


# The sparse direction along which two samples are farthest apart: relax, then tighten.


ROUNDS = 20
"""Rounds of the relaxation: one transport and one direction each."""
MOST_ROWS = 200
"""Rows of each sample that the relaxation looks at: a transport costs their number cubed."""
POWER_STEPS = 30
STEPS = 300
"""Most steps of the ascent."""
SHORTEST = 1e-6
"""The length of a step at which a direction stands."""
SMALLEST_GAIN = 1e-6
"""The relative gain of a step at which a start has climbed enough to be compared."""
FINALISTS = 3
"""Ends that climb on to the top, with all rows."""


def farthest_direction(
    distance: ProjectedDistance, d: int, n_starts: int, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Return the best direction found, ‖β‖₂ = 1 and ‖β‖₀ ≤ d, and its distance.

    Starts come from the relaxation, from simple differences and from chance (`n_starts`). All
    are tightened by projected gradient ascent, and the best end wins. A heuristic: there are
    many local maxima, and nothing is proved. Of a direction and its mirror image, the one whose
    heaviest weight is positive is returned.
    """
    search = _on_few_rows(distance, current_budget().direction_rows, rng)
    starts = np.concatenate(
        [
            relaxed_directions(search, d, rng),
            simple_directions(search),
            rng.standard_normal((n_starts, search.x.shape[1])),
        ]
    )
    points, values = ascend(search, starts, d, SMALLEST_GAIN)
    finalists = np.argsort(-values, kind="stable")[:FINALISTS]
    points, values = ascend(distance, points[finalists], d)
    best = int(np.argmax(values))
    beta = points[best]
    mirrored = beta[np.argmax(np.abs(beta))] < 0
    return -beta if mirrored else beta, float(values[best])


def ascend(
    distance: ProjectedDistance, starts: FloatArray, d: int, smallest_gain: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Climb from each row of `starts`: a step along the gradient, cut back to d entries.

    β ← T_d(β + η∇)/‖·‖₂, with T_d keeping the d largest entries. A step that does not climb is
    undone and η falls, otherwise η grows, for each start by itself. As η falls the support
    settles, and the steps optimise the weights on it, until they are short or their relative
    gain is small.
    """
    point = to_sparse_sphere(starts, d)
    value, gradient = distance.value_and_gradient(point)
    eta = 1 / np.maximum(np.linalg.norm(gradient, axis=1), np.finfo(float).tiny)
    active = np.arange(point.shape[0])
    for _ in range(STEPS):
        trial = to_sparse_sphere(point[active] + eta[active, None] * gradient[active], d)
        moved = np.linalg.norm(trial - point[active], axis=1)
        new_value, new_gradient = distance.value_and_gradient(trial)
        gain = new_value - value[active]
        better = gain > 0
        risen = active[better]
        point[risen], value[risen] = trial[better], new_value[better]
        gradient[risen] = new_gradient[better]
        eta[active] *= np.where(better, 2.0, 0.25)
        at_rest = (moved <= SHORTEST) | (better & (gain <= smallest_gain * new_value))
        active = active[~at_rest]
        if active.size == 0:
            break
    return point, value


def relaxed_directions(distance: ProjectedDistance, d: int, rng: np.random.Generator) -> FloatArray:
    """Return directions from the relaxation β βᵀ → B, a mixture of sparse directions.

    max over B of min over transports M of ⟨W_M, B⟩ is concave in B (Mueller and Jaakkola).
    Here both sides play in turn: the best transport against the mixture so far, an assignment
    problem, and the best sparse direction against that transport, which joins the mixture. All
    of them and the leading direction of the mixture are worth a start.
    """
    count = min(distance.x.shape[0], distance.y.shape[0], MOST_ROWS)
    x, y = (rows[draw_rows(len(rows), count, rng)] for rows in (distance.x, distance.y))
    cost = cdist(x, y, "sqeuclidean") / x.shape[1]
    played, shares = np.empty((ROUNDS, x.shape[1])), np.zeros(ROUNDS)
    for t in range(ROUNDS):
        match = linear_sum_assignment(cost)[1]
        played[t] = _sparse_principal(x - y[match], d)
        share = 2 / (t + 3)
        cost = (1 - share) * cost + share * np.subtract.outer(x @ played[t], y @ played[t]) ** 2
        shares *= 1 - share
        shares[t] = share
    leading = np.linalg.svd(np.sqrt(shares)[:, None] * played, full_matrices=False)[2][0]
    return np.vstack([played, leading])


def simple_directions(distance: ProjectedDistance) -> FloatArray:
    """Return the directions of single differences: of means, of marginals, of covariances."""
    x, y = distance.x, distance.y
    means = x.mean(axis=0) - y.mean(axis=0)
    marginals = distance.merge.distances(np.sort(x.T), np.sort(y.T), distance.order)
    return np.vstack([means, marginals, *_covariance_directions(x, y)])


def to_sparse_sphere(directions: FloatArray, d: int) -> FloatArray:
    """Keep the d largest entries of each row and scale it to length 1; ties keep the first.

    >>> to_sparse_sphere(np.array([[3.0, 1.0, -4.0]]), 2)
    array([[ 0.6, 0. , -0.8]])
    """
    kept = np.zeros_like(directions)
    chosen = np.argsort(-np.abs(directions), axis=1, kind="stable")[:, :d]
    np.put_along_axis(kept, chosen, np.take_along_axis(directions, chosen, axis=1), axis=1)
    length = np.linalg.norm(kept, axis=1, keepdims=True)
    # Nothing points anywhere: the first column does as well as any.
    kept[length[:, 0] == 0, 0] = 1.0
    return np.asarray(kept / np.where(length > 0, length, 1.0))


def _sparse_principal(differences: FloatArray, d: int) -> FloatArray:
    """Return a sparse direction of large ‖Δβ‖, by truncated power steps from the longest column."""
    longest = int(np.argmax(np.einsum("ij,ij->j", differences, differences)))
    beta = to_sparse_sphere(differences[None, :, longest] @ differences, d)
    for _ in range(POWER_STEPS):
        before, beta = beta, to_sparse_sphere(beta @ differences.T @ differences, d)
        if np.abs(beta - before).max() <= SHORTEST:
            break
    return np.asarray(beta[0])


def _covariance_directions(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the directions in which x varies most beside y, and y beside x."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    n_columns = x.shape[1]
    if n_columns <= current_budget().dense_covariance_columns:
        vectors = np.linalg.eigh(x.T @ x / len(x) - y.T @ y / len(y))[1]
    else:
        difference = LinearOperator(
            (n_columns, n_columns),
            matvec=lambda v: x.T @ (x @ v) / len(x) - y.T @ (y @ v) / len(y),
            dtype=np.float64,
        )
        vectors = eigsh(difference, k=2, which="BE", v0=np.ones(n_columns), tol=1e-3)[1]
    return vectors[:, -1], vectors[:, 0]


def _on_few_rows(
    distance: ProjectedDistance, most: int, rng: np.random.Generator
) -> ProjectedDistance:
    """Return the distance of at most so many rows of each sample; the same one if it has those."""
    if max(distance.x.shape[0], distance.y.shape[0]) <= most:
        return distance
    x, y = (rows[draw_rows(len(rows), most, rng)] for rows in (distance.x, distance.y))
    return ProjectedDistance.of(x, y, distance.order)


@dataclass(frozen=True)
class ProjectedWasserstein(SelectingBaseline):
    """Project both samples on d variables at most; compare the quantiles of the projections.

    Principal differences analysis (Mueller and Jaakkola, 2015) with the number of variables
    fixed in place of ℓ₁ regularization:

        max over ‖β‖₂ = 1, ‖β‖₀ ≤ d of  W_p^p(x·β, y·β) = ∫₀¹ |F⁻¹(t) − G⁻¹(t)|^p dt,

    F and G the empirical distributions of the projections. A relaxation and other starts are
    tightened by projected gradient ascent, and the best end is kept: a heuristic, so the
    Selection has no upper bound. `value` is the distance of the training rows, `z` is β; the
    statistic is the distance of the held-out rows.

    Parameters
    ----------
    n_variables : int
        d, the largest number of variables.
    order : 1 or 2
        p: 2, the authors' choice, for the squared distance W₂², or 1 for W₁.
    scaled : bool
        Whether columns are divided by their standard deviations over all training rows. It must
        be so where units differ. Where they do not, the columns as they are keep the differences
        of spread that scaling takes a part of.
    n_starts : int
        Random starts beside those of the relaxation and of simple differences.
    test_size, n_permutations, alpha, random_state, n_jobs
        See `Baseline`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> Y = rng.normal(size=(80, 5)) + [0, 2, 0, 0, 2]
    >>> baseline = ProjectedWasserstein(n_variables=2, random_state=0)
    >>> baseline.select(X, Y).support.tolist()
    [1, 4]
    >>> baseline.test(X, Y).reject
    True
    """

    order: int = 2
    scaled: bool = True
    n_starts: int = 60

    has_own_rule: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check all settings."""
        self._keep("order", check_integer("order", self.order, 1, 2))
        self._keep("scaled", check_flag("scaled", self.scaled))
        self._keep("n_starts", check_integer("n_starts", self.n_starts, 0))
        super().__post_init__()

    @property
    def method(self) -> Method:
        """What results say about this baseline."""
        return Method(
            name="projected Wasserstein",
            statistic="W₁" if self.order == 1 else "W₂²",
            validity="the rows of the test were not used to find the direction",
            call=self.call(),
        )

    def learn(self, train: Samples, rng: np.random.Generator) -> FittedProjection:
        """Find the direction on the training rows."""
        columns = standardise(train, type(self).__name__, scaled=self.scaled)
        d = self.at_most(columns.keep.shape[0])
        distance = ProjectedDistance.of(columns.x, columns.y, self.order)
        with one_blas_thread():
            beta, value = farthest_direction(distance, d, self.n_starts, rng)
        direction = columns.direction(beta)
        selection = self.selection(
            train,
            np.flatnonzero(direction.z),
            direction.z,
            value,
            constant=columns.constant,
        )
        return FittedProjection(selection=selection, direction=direction, order=self.order)


@dataclass(frozen=True, kw_only=True)
class FittedProjection(FittedBaseline):
    """A direction frozen on training rows."""

    direction: Direction
    order: int

    def test(self, held_out: Samples, how: Permuting) -> PermutationNull:
        """Test W_p^p of the projected held-out rows; large values speak against H₀."""
        scores = self.direction.scores(np.concatenate([held_out.x, held_out.y]))
        return permutation_null(
            held_out,
            lambda labels: permuted_distances(scores, labels, self.order),
            how,
            tolerance=TIE_TOLERANCE * float(np.ptp(scores)) ** self.order,
        )
