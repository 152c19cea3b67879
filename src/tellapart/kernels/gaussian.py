"""The Gaussian kernel of the weighted distance: it sees every joint difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellapart.arguments import check_number
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.kernels.additive_index import DIFFERENCE, fit_psi
from tellapart.kernels.bandwidth import RULES, TUNED, check_tuned, joint_scale, median_bandwidths
from tellapart.kernels.base import WEIGHTS, Abilities, Exponential, FittedKernel


@dataclass(frozen=True)
class Gaussian:
    """K_z(x, y) = exp(−t / 2σ²) with t = Σ_s z_s² ((x_s − y_s) / τ_s)².

    Differences of any kind in the chosen columns together, such as shapes, clusters and
    dependence. A categorical column enters with 1[x ≠ y] for the squared difference.

    Parameters
    ----------
    bandwidth : None, "median", "cv", "paper" or float
        "median" takes σ² = median over pooled pairs of the mean over columns of
        ((u_s − v_s) / τ_s)², the scale that matches t at ‖z‖₂ = 1. "cv" takes that σ times a
        multiplier from {1/4, 1/2, 1, 2}, tuned on the training rows by `two_sample_test` and
        `select_variables`; None is the same there, and "median" elsewhere. A positive number is
        σ itself, in units of the τ_s. "paper" is the literal rule of the paper, columns unscaled
        and σ² the median of ‖u − v‖²: D times too large, so the kernel is nearly flat; for
        reproduction only.
    multiplier : float
        σ is multiplied by it.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.data.samples import Samples
    >>> x, y = np.array([[0.0], [1.0]]), np.array([[3.0], [7.0]])
    >>> fitted = Gaussian(bandwidth=1.0).fit(Samples(x, y, ("u",), ("numeric",)))
    >>> fitted.scalars, fitted.outer
    ((SquaredDifference(scale=3.5),), Exponential(variance=1.0))
    """

    bandwidth: str | float | None = None
    multiplier: float = 1.0
    name: ClassVar[str] = "gaussian"
    abilities: ClassVar[Abilities] = Abilities(averages=True)

    def __post_init__(self) -> None:
        check_number("multiplier", self.multiplier, 0.0, open_low=True)
        if self.bandwidth is None:
            return
        if not isinstance(self.bandwidth, str):
            check_number("bandwidth", self.bandwidth, 0.0, open_low=True)
        elif self.bandwidth not in (*RULES, TUNED):
            rules = ", ".join(map(repr, (*RULES, TUNED)))
            raise InputError(
                f"bandwidth must be None, one of {rules}, or a positive number; "
                f"got {self.bandwidth!r}"
            )

    def fit(self, samples: Samples, *, n_jobs: int = 1) -> FittedKernel:
        """Freeze τ_s and σ² on the pooled training sample."""
        check_tuned(self)
        bandwidths, constant = median_bandwidths(samples, n_jobs=n_jobs)
        if self.bandwidth is None or isinstance(self.bandwidth, str):
            rule = self.bandwidth or "median"
            variance = joint_scale(samples, bandwidths, constant, rule)
        else:
            rule, variance = "median", float(self.bandwidth) ** 2
        scales = np.ones_like(bandwidths) if rule == "paper" else bandwidths
        scalars = fit_psi("psi", DIFFERENCE, samples, scales)
        outer = Exponential(variance * self.multiplier**2)
        return FittedKernel(self.name, scalars, constant, WEIGHTS["square"], outer)
