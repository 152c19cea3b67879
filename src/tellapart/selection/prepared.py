"""What tuning and the final choice both need of the training rows, each made once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tellapart.data.samples import Samples
from tellapart.kernels import FittedKernel, Kernel
from tellapart.kernels.tuned import with_multiplier
from tellapart.statistics.coefficients import LinearCoefficients, linear_coefficients


@dataclass(frozen=True)
class Prepared:
    """A kernel fitted on the training rows by its multiplier, and the linear one's coefficients.

    Attributes
    ----------
    samples : Samples
        The training rows.
    kernel : Kernel
        The settings; its bandwidths are the rule times a multiplier.
    n_jobs : int
        Threads.
    """

    samples: Samples
    kernel: Kernel
    n_jobs: int
    _fitted: dict[float, FittedKernel] = field(default_factory=dict)
    _coefficients: dict[float, LinearCoefficients] = field(default_factory=dict)

    def fitted(self, multiplier: float) -> FittedKernel:
        """Return the kernel fitted on all the rows."""
        if multiplier not in self._fitted:
            kernel = with_multiplier(self.kernel, multiplier)
            self._fitted[multiplier] = kernel.fit(self.samples, n_jobs=self.n_jobs)
        return self._fitted[multiplier]

    def coefficients(self, multiplier: float) -> LinearCoefficients:
        """Return a and V of the columns that vary, of a kernel with fast sums."""
        if multiplier not in self._coefficients:
            fitted = self.fitted(multiplier)
            keep = np.flatnonzero(~fitted.constant)
            self._coefficients[multiplier] = linear_coefficients(
                self.samples.columns(keep), fitted.columns(keep), n_jobs=self.n_jobs
            )
        return self._coefficients[multiplier]

    def known(self, multiplier: float) -> LinearCoefficients | None:
        """Return the coefficients if somebody has asked for them already."""
        return self._coefficients.get(multiplier)
