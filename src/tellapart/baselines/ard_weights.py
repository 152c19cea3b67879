"""Weights of an ARD Gaussian kernel that maximise the power of the MMD test, made sparse by ℓ₁.

    K_w(x, y) = exp(−Σ_s w_s ((x_s − y_s)/τ_s)²),  w ≥ 0
    minimise −log(MMD²_u(w)/√(σ²(w) + c)) + ρ Σ_s w_s

The ratio stands for the power of the test. With w ≥ 0 the ℓ₁ norm is linear, so L-BFGS-B with
bounds finds weights that are exactly 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, minimize

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.kernels.additive_index import DIFFERENCE, fit_psi
from tellapart.kernels.bandwidth import median_bandwidths
from tellapart.kernels.base import WEIGHTS, FittedKernel
from tellapart.kernels.gaussian import Exponential
from tellapart.statistics.pair_sums import PairSums
from tellapart.statistics.squared_sums import SquaredSums, opens_up
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
        found = minimize(
            cost,
            np.ones(n_varying),
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(np.zeros(n_varying), np.full(n_varying, np.inf)),
            options={"maxiter": max_iterations},
        )
    weights = np.zeros(ratio.n_columns)
    weights[ratio.varying] = found.x / n_varying
    return weights, float(found.fun)


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
