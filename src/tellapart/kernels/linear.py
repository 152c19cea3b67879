"""The linear kernel: a weighted sum of scalar kernels, one per column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tellapart.arguments import check_choice, check_number
from tellapart.arrays import BoolArray, FloatArray
from tellapart.data.samples import Kind, Samples
from tellapart.kernels.bandwidth import RULES, TUNED, check_tuned, median_bandwidths
from tellapart.kernels.base import WEIGHTS, Abilities, FittedKernel, Identity, ScalarKernel
from tellapart.kernels.scalar import (
    MIXED,
    MIXED_MULTIPLIERS,
    GaussianScalar,
    Indicator,
    LaplaceScalar,
    MixedScalar,
)

SCALARS: dict[str, Callable[[float], ScalarKernel]] = {
    "gaussian": GaussianScalar,
    "laplace": LaplaceScalar,
}


@dataclass(frozen=True)
class Linear:
    """K_z(x, y) = Σ_s z_s k_s(x_s, y_s).

    The objective is quadratic in z, so the best variables can be found with a proof. The first
    choice whenever the difference shows in single columns.

    Parameters
    ----------
    scalar : {"gaussian", "laplace"}
        The kernel k_s of the numeric columns; categorical ones always take 1[x = y].
    bandwidth : {"median", "mixed", "cv", "paper"}
        The rule of `tellapart.kernels.bandwidth.median_bandwidths`; "mixed" takes the mean of the
        kernels with half the median, the median and twice it, which see shapes and shifts alike;
        "cv" takes the median times a multiplier from {1/4, 1/2, 1, 2}, tuned on the training rows.
    multiplier : float
        The bandwidths are multiplied by it.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.data.samples import Samples
    >>> x, y = np.array([[0.0], [1.0]]), np.array([[3.0], [7.0]])
    >>> fitted = Linear().fit(Samples(x, y, ("u",), ("numeric",)))
    >>> fitted.scalars
    (GaussianScalar(bandwidth=3.5),)
    """

    scalar: str = "gaussian"
    bandwidth: str = "median"
    multiplier: float = 1.0
    name: ClassVar[str] = "linear"
    abilities: ClassVar[Abilities] = Abilities(
        fast_sums=True,
        exact=True,
        exact_unregularized=True,
        closed_form=True,
        short_features=True,
        own_bandwidths=True,
    )

    def __post_init__(self) -> None:
        check_choice("scalar", self.scalar, SCALARS)
        check_choice("bandwidth", self.bandwidth, (*RULES, MIXED, TUNED))
        check_number("multiplier", self.multiplier, 0.0, open_low=True)

    def fit(self, samples: Samples, *, n_jobs: int = 1) -> FittedKernel:
        """Freeze the bandwidths on the pooled training sample."""
        check_tuned(self)
        rule = "median" if self.bandwidth == MIXED else self.bandwidth
        bandwidths, constant = median_bandwidths(samples, rule, n_jobs=n_jobs)
        return self.with_bandwidths(samples.kinds, bandwidths, constant)

    def with_bandwidths(
        self, kinds: Sequence[Kind], bandwidths: FloatArray, constant: BoolArray
    ) -> FittedKernel:
        """Return the kernel of columns whose bandwidths are known, and which of them never vary."""
        listed = bandwidths.tolist()
        made = {bandwidth: self._scalar(bandwidth) for bandwidth in set(listed)}
        scalars: list[ScalarKernel] = list(map(made.__getitem__, listed))
        if "categorical" in kinds:
            for column, kind in enumerate(kinds):
                if kind == "categorical":
                    scalars[column] = Indicator()
        return FittedKernel(
            self.name, tuple(scalars), constant, WEIGHTS["linear"], Identity(), self.abilities
        )

    def _scalar(self, bandwidth: float) -> ScalarKernel:
        """Return the scalar kernel of a numeric column."""
        make, unit = SCALARS[self.scalar], self.multiplier * bandwidth
        if self.bandwidth == MIXED:
            return MixedScalar(tuple(make(multiple * unit) for multiple in MIXED_MULTIPLIERS))
        return make(unit)
