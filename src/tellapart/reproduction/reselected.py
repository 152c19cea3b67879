"""The linear kernel's best variables on all rows, reselected under every permutation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.baselines import FittedBaseline, SelectingBaseline
from tellapart.baselines.permuting import Permuting
from tellapart.data.samples import Samples
from tellapart.kernels import Linear
from tellapart.permutation.nulls import PermutationNull
from tellapart.selection.closed_form import choose_nonnegative
from tellapart.testing.reselection import reselection_test
from tellapart.testing.result import Method


@dataclass(frozen=True, kw_only=True)
class FittedReselection(FittedBaseline):
    """The best few variables of whatever rows come: bandwidths and choice are theirs alone.

    `selection` holds the choice of the training rows, to be shown; no test uses it.
    """

    n_variables: int

    def test(self, held_out: Samples, how: Permuting) -> PermutationNull:
        """Choose on these rows, and again under every permutation of them."""
        kernel = Linear().fit(held_out, n_jobs=1)
        return reselection_test(held_out, kernel, self.n_variables, **vars(how)).null


@dataclass(frozen=True)
class Reselection(SelectingBaseline):
    """T = max {aᵀz : z ≥ 0, ‖z‖₂ = 1, ‖z‖₀ ≤ d}, reselected under every permutation.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 4)) + [0, 3, 0, 0]
    >>> Reselection(n_variables=1, random_state=0).test(X, Y).variables
    ('x1',)
    """

    has_own_rule = False
    use = "all"

    @property
    def method(self) -> Method:
        """What results say about this test."""
        return Method(
            name="linear kernel, reselected",
            statistic="largest MMD²",
            validity="the variables were reselected under every permutation",
            call=self.call(),
        )

    def learn(self, train: Samples, rng: np.random.Generator) -> FittedReselection:  # noqa: ARG002
        """Note the best variables of these rows."""
        d = self.at_most(train.n_columns)
        kernel = Linear().fit(train, n_jobs=self.n_threads)
        chosen = choose_nonnegative(train, kernel, d, self.n_threads)
        return FittedReselection(selection=chosen, kernel=None, n_variables=d)
