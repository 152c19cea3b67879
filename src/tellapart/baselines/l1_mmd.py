"""ℓ₁-regularised MMD: weights of an ARD kernel that maximise power, the small ones cut off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arguments import check_integer, check_number
from tellapart.arrays import FloatArray
from tellapart.baselines.ard_weights import (
    NAME,
    PowerRatio,
    ard_kernel,
    histogram_threshold,
    optimise,
)
from tellapart.baselines.base import SelectingBaseline
from tellapart.baselines.standard_mmd import FittedMMD
from tellapart.baselines.standardised import warn_of_constants
from tellapart.data.samples import Samples
from tellapart.kernels.base import FittedKernel
from tellapart.permutation.mmd import permutation_test
from tellapart.selection.choose import varying_columns
from tellapart.testing.result import Method

GRID = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
DEFAULT_REGULARIZATION = 0.1
# Rows of each sample below which no part of them can tell one ρ from another.
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
        few = train.draw(self.max_rows, rng)
        kernel = ard_kernel(few, n_jobs=self.n_threads)
        varying_columns(few, kernel, warn=False)
        warn_of_constants(few, kernel.constant)
        regularization = self.regularization
        if regularization is None:
            regularization = self._choose_regularization(few, rng)
        ratio = PowerRatio(few, kernel)
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
        """Return the ρ whose variables tell apart rows it has not seen, as surely as can be."""
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
