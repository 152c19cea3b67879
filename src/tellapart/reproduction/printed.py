"""The linear kernel's test as the paper prints it, for reproduction only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.baselines.base import SelectingBaseline
from tellapart.baselines.standard_mmd import FittedMMD
from tellapart.data.samples import Samples
from tellapart.kernels import FittedKernel, Linear
from tellapart.permutation.mmd import permutation_test
from tellapart.results.result import Method
from tellapart.search.starts import linear_problem
from tellapart.statistics.coefficients import linear_coefficients
from tellapart.strs import SparseTrustRegion, solve

GRID = (0.1, 0.5, 1.0, 2.0, 5.0)
"""The paper's values of λ."""


@dataclass(frozen=True)
class PrintedLinear(SelectingBaseline):
    """max aᵀz + λ zᵀVz: the printed sign [E3], which rewards variance instead of regularizing it.

    Bandwidths by the printed rule, τ_s² the median distance [E1]. λ by the printed rule too: the
    least p-value on half of the training rows, the first of those that tie [E8]. Only the test
    itself is the corrected one [E7], so that powers can be compared at one level.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 4)) + [0, 3, 0, 0]
    >>> PrintedLinear(n_variables=1, random_state=0).test(X, Y).variables
    ('x1',)
    """

    @property
    def method(self) -> Method:
        """What results say about this test."""
        return Method(
            name="linear kernel as printed",
            statistic="MMD²",
            validity="the weights were chosen on other rows",
            call=self.call(),
        )

    def learn(self, train: Samples, rng: np.random.Generator) -> FittedMMD:
        """Choose λ and weights by the training rows."""
        first, second = train.split(0.5, rng)
        seed = int(rng.integers(2**63))
        kernel, candidates = self._weights(first, GRID)
        pvalues = [
            permutation_test(
                second, kernel, z, **vars(self.permuting(np.random.default_rng(seed)))
            ).pvalue
            for z in candidates
        ]
        regularization = GRID[int(np.argmin(pvalues))]
        kernel, (z,) = self._weights(train, (regularization,))
        selection = self.selection(
            train,
            np.flatnonzero(z),
            z,
            float("nan"),
            kernel=kernel.name,
            regularization=regularization,
            constant=kernel.constant,
        )
        return FittedMMD(selection=selection, kernel=kernel, z=z)

    def _weights(
        self, samples: Samples, regularizations: tuple[float, ...]
    ) -> tuple[FittedKernel, list[FloatArray]]:
        kernel = Linear(bandwidth="paper").fit(samples, n_jobs=self.n_threads)
        coefficients = linear_coefficients(samples, kernel)
        found = []
        for regularization in regularizations:
            right = linear_problem(coefficients, regularization, self.at_most(samples.n_columns))
            printed = SparseTrustRegion(-right.A, right.a, right.d)
            found.append(solve(printed, "local-search", random_state=0).z)
        return kernel, found
