"""Projected Wasserstein: the sparse direction along which two samples are farthest apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellapart.arguments import check_flag, check_integer
from tellapart.baselines.base import FittedBaseline, SelectingBaseline
from tellapart.baselines.permuting import Permuting, permutation_null
from tellapart.baselines.projected_wasserstein_distance import (
    ProjectedDistance,
    permuted_distances,
)
from tellapart.baselines.projected_wasserstein_search import farthest_direction
from tellapart.baselines.standardised import Direction, standardise
from tellapart.data.samples import Samples
from tellapart.permutation.mmd import TIE_TOLERANCE
from tellapart.permutation.nulls import PermutationNull
from tellapart.testing.result import Method
from tellapart.threads import one_blas_thread


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
