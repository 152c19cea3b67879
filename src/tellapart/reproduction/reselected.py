"""tellapart's test without a split, as something that is tested again and again."""

from __future__ import annotations

from dataclasses import dataclass

from tellapart.baselines import FittedBaseline
from tellapart.baselines.permuting import Permuting
from tellapart.data.samples import Samples
from tellapart.kernels import Linear
from tellapart.permutation.nulls import PermutationNull
from tellapart.testing.reselection import reselection_test


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
