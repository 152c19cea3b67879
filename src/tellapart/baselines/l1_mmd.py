"""ℓ₁-regularised MMD: weights of an ARD kernel that maximise power, the small ones cut off."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, minimize

from tellapart.arguments import check_integer, check_number
from tellapart.arrays import FloatArray
from tellapart.baselines.base import SelectingBaseline
from tellapart.baselines.standard_mmd import FittedMMD
from tellapart.data.samples import Samples
from tellapart.kernels.additive_index import DIFFERENCE, fit_psi
from tellapart.kernels.bandwidth import median_bandwidths
from tellapart.kernels.base import WEIGHTS, Exponential, FittedKernel
from tellapart.permutation.mmd import permutation_test
from tellapart.results.result import Method
from tellapart.selection.settings import check_varying
from tellapart.statistics.pair_sums import PairSums, SquaredSums, opens_up
from tellapart.threads import one_blas_thread

NAME = "ARD Gaussian"
# Added to σ², so that the ratio of a kernel that vanishes is 0 and not 0/0.
VARIANCE_FLOOR = 1e-8
# Below this ratio the logarithm goes on as its tangent: MMD²_u may be negative.
LEAST_RATIO = 1e-2
MEMORY_BUDGET = 1_000_000_000
N_BINS = 100


def ard_kernel(samples: Samples, *, n_jobs: int = 1) -> FittedKernel:
    """Return K_w with τ_s the median distances of the pooled sample; w takes the place of z."""
    bandwidths, constant = median_bandwidths(samples, n_jobs=n_jobs)
    scalars = fit_psi("psi", DIFFERENCE, samples, bandwidths)
    return FittedKernel(NAME, scalars, constant, WEIGHTS["linear"], Exponential(0.5))


@dataclass(frozen=True)
class Ratio:
    """MMD²_u(w)/√(σ²(w) + c) with its derivatives in the weights of the varying columns."""

    value: float
    gradient: FloatArray


class PowerRatio:
    """The ratio of two samples under an ARD kernel, as a function of the weights.

        K_w(x, y) = exp(−Σ_s w_s ((x_s − y_s)/τ_s)²),  w ≥ 0
        minimise −log(MMD²_u(w)/√(σ²(w) + c)) + ρ Σ_s w_s

    The ratio stands for the power of the test. With w ≥ 0 the ℓ₁ norm is linear, so L-BFGS-B with
    bounds finds weights that are exactly 0.

    Parameters
    ----------
    samples : Samples
    kernel : FittedKernel
        See `ard_kernel`.
    """

    def __init__(self, samples: Samples, kernel: FittedKernel) -> None:
        m, n = samples.n_x, samples.n_y
        self.varying = np.flatnonzero(~kernel.constant)
        self.n_columns = samples.n_columns
        # λ = 0: the first-order sums are those of MMD²; the variance follows from r = K c.
        way = SquaredSums if opens_up(samples, kernel) else PairSums
        self._sums = way(samples, kernel, 0.0, MEMORY_BUDGET)
        self._every = np.arange(self.varying.shape[0])
        self._group_weights = np.repeat([1 / m**2, 1 / n**2], [m, n])
        self._scale = 4 * 2 * m * n / (m + n)

    def at(self, weights: FloatArray) -> Ratio:
        """Return ratio and gradient at `weights` of all columns.

        With b = g r̃ (see `statistics/pair_sums.py`), σ² = 4ñ Σ_i b_i²/g_i and
        ∇σ² = 8ñ Σ_i b_i ∇r_i.
        """
        first = self._sums.first_order(weights, self._every)
        pulls = first.pulls
        spread = self._scale * float(pulls @ (pulls / self._group_weights)) + VARIANCE_FLOOR
        bend = 2 * self._scale * (first.jacobian @ pulls)
        root = math.sqrt(spread)
        value = first.value / root
        return Ratio(value, first.slopes / root - 0.5 * value / spread * bend)


def optimise(
    ratio: PowerRatio, regularization: float, *, max_iterations: int = 200
) -> tuple[FloatArray, float]:
    """Return the weights of all columns that minimise −log ratio + ρ Σ w, and that minimum.

    Starts from equal weights of sum 1. The problem is not convex: this is a local minimum.
    """
    n_varying = ratio.varying.shape[0]
    full = np.zeros(ratio.n_columns)

    def cost(scaled: FloatArray) -> tuple[float, FloatArray]:
        # In units of 1/D: a typical weight is then 1, whatever the number of columns.
        full[ratio.varying] = scaled / n_varying
        at = ratio.at(full)
        loss, slope = _loss(at.value)
        per_unit = regularization / n_varying
        return loss + per_unit * float(scaled.sum()), slope * at.gradient / n_varying + per_unit

    # L-BFGS-B works on short vectors: threads of BLAS would wait for each other.
    with one_blas_thread():
        minimum = minimize(
            cost,
            np.ones(n_varying),
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(np.zeros(n_varying), np.full(n_varying, np.inf)),
            options={"maxiter": max_iterations},
        )
    weights = np.zeros(ratio.n_columns)
    weights[ratio.varying] = minimum.x / n_varying
    return weights, float(minimum.fun)


def _loss(ratio: float) -> tuple[float, float]:
    """Return −log(ratio) and its derivative, continued by the tangent below LEAST_RATIO."""
    if ratio >= LEAST_RATIO:
        return -math.log(ratio), -1 / ratio
    return -math.log(LEAST_RATIO) - (ratio - LEAST_RATIO) / LEAST_RATIO, -1 / LEAST_RATIO


def histogram_threshold(weights: FloatArray, n_bins: int = N_BINS) -> float:
    """Return the weight that parts the small ones from the others, by a histogram.

    It is the left end of the first empty bin; where there is none, of the first bin with fewer
    weights than the one before it. Weights above it count as chosen.

    Examples
    --------
    >>> import numpy as np
    >>> histogram_threshold(np.array([0.0, 0.0, 0.02, 0.01, 0.7, 1.0]))
    0.03
    """
    low, high = float(weights.min()), float(weights.max())
    if not high > low:
        return -math.inf
    counts, edges = np.histogram(weights, bins=n_bins, range=(low, high))
    empty = np.flatnonzero(counts == 0)
    if empty.size == 0:
        empty = np.flatnonzero(np.diff(counts) < 0) + 1
    return float(edges[empty[0]]) if empty.size else -math.inf


GRID = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
DEFAULT_REGULARIZATION = 0.1
# Rows of each sample below which a part of them does not distinguish one ρ from another.
FEWEST_ROWS = 8
N_PERMUTATIONS = 199


@dataclass(frozen=True)
class L1MMD(SelectingBaseline):
    """Sparse ARD weights that maximise the power of the MMD test (Mitsuzawa et al., 2023).

    With K_w(x, y) = exp(−Σ_s w_s ((x_s − y_s)/τ_s)²) and w ≥ 0, the weights minimise
    −log(MMD²_u(w)/√(σ²(w) + 10⁻⁸)) + ρ‖w‖₁ on the training rows, from equal weights on, by
    L-BFGS-B to a local minimum. Chosen are the weights above the first gap of their histogram of
    100 bins, and the others become 0. ρ is chosen on a split of the training rows: the least
    p-value on the second half, then the largest ratio √ñ MMD²/σ there. The held-out rows are
    tested with MMD²_u(w).

    Written from the publication. It differs from it in the optimiser (theirs is Adam), in the
    weights, which enter the kernel as they are and not squared, and where MMD²_u is not
    positive: there the logarithm goes on as its tangent.

    Parameters
    ----------
    n_variables : int or None
        Choose that many, those of the largest weights; None takes the gap of the histogram.
    regularization : float or None
        ρ ≥ 0; None chooses it from 0.01 to 3.
    max_iterations : int
        Iterations of each minimisation.
    max_rows : int
        Rows of each sample that weights are learned from at most: a step takes time with their
        square. More are drawn from at random, once.
    test_size, n_permutations, alpha, random_state, n_jobs
        See `Baseline`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(80, 5)), rng.normal(size=(80, 5)) + [0, 2, 0, 0, 0]
    >>> result = L1MMD(n_variables=1, random_state=0).test(X, Y)
    >>> result.reject, result.variables
    (True, ('x1',))
    """

    regularization: float | None = None
    max_iterations: int = 200
    max_rows: int = 500

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.regularization is not None:
            self._keep("regularization", check_number("regularization", self.regularization, 0.0))
        self._keep("max_iterations", check_integer("max_iterations", self.max_iterations, 1))
        self._keep("max_rows", check_integer("max_rows", self.max_rows, 4))
        super().__post_init__()

    @property
    def method(self) -> Method:
        """What results say about this test."""
        return Method(
            name="ℓ₁-regularised MMD",
            statistic="MMD²",
            validity="the weights were chosen on other rows",
            call=self.call(),
        )

    def learn(self, train: Samples, rng: np.random.Generator) -> FittedMMD:
        """Choose ρ, the weights and the variables by the training rows."""
        drawn = train.draw(self.max_rows, rng)
        kernel = ard_kernel(drawn, n_jobs=self.n_threads)
        check_varying(drawn, kernel.constant)
        regularization = self.regularization
        if regularization is None:
            regularization = self._choose_regularization(drawn, rng)
        ratio = PowerRatio(drawn, kernel)
        weights, cost = optimise(ratio, regularization, max_iterations=self.max_iterations)
        z = self.cut(weights, kernel)
        selection = self.selection(
            train,
            np.flatnonzero(z),
            z,
            -cost,
            kernel=NAME,
            regularization=regularization,
            constant=kernel.constant,
        )
        return FittedMMD(selection=selection, kernel=kernel, z=z)

    def cut(self, weights: FloatArray, kernel: FittedKernel) -> FloatArray:
        """Return the weights of the chosen variables, and 0 for the others."""
        varying = np.flatnonzero(~kernel.constant)
        inside = weights[varying]
        if self.n_variables is None:
            chosen = varying[inside > histogram_threshold(inside)]
        else:
            order = np.argsort(-inside, kind="stable")
            chosen = varying[order[: self.n_variables]]
        z = np.zeros_like(weights)
        z[chosen] = weights[chosen]
        return z

    def _choose_regularization(self, train: Samples, rng: np.random.Generator) -> float:
        """Return the ρ whose variables discriminate best between unseen rows."""
        if min(train.n_units) < FEWEST_ROWS:
            return DEFAULT_REGULARIZATION
        first, second = train.split(0.5, rng)
        kernel = ard_kernel(first, n_jobs=self.n_threads)
        if kernel.constant.all():
            return DEFAULT_REGULARIZATION
        ratio, unseen = PowerRatio(first, kernel), PowerRatio(second, kernel)
        seed = int(rng.integers(2**63))
        scores = []
        for regularization in GRID:
            weights, _ = optimise(ratio, regularization, max_iterations=self.max_iterations)
            z = self.cut(weights, kernel)
            # The same permutations for every ρ: the scores then differ by ρ alone.
            rng = np.random.default_rng(seed)
            null = permutation_test(
                second, kernel, z, n_permutations=N_PERMUTATIONS, alpha=self.alpha, rng=rng
            )
            scores.append((null.pvalue, -unseen.at(z).value, regularization))
        return min(scores)[2]
