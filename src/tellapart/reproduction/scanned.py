"""The scan of any rows: nothing is learned before."""

from __future__ import annotations

from dataclasses import dataclass

from tellapart.baselines import FittedBaseline
from tellapart.baselines.base import Permuting
from tellapart.data.samples import Samples
from tellapart.permutation.pvalues import PermutationNull
from tellapart.scan.scan import scan


@dataclass(frozen=True, kw_only=True)
class FittedScan(FittedBaseline):
    """The default test of whatever rows come.

    `selection` holds the choice of the training rows, to be shown; no test uses it.
    """

    def test(self, held_out: Samples, how: Permuting) -> PermutationNull:
        """Scan these rows: the p-value of `two_sample_test`, without the choice that follows."""
        return scan(held_out, **vars(how)).null
