"""The quadratic kernel: the square of a weighted sum of scalar kernels, so it sees pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tellapart.arguments import check_choice, check_number
from tellapart.data.samples import Samples
from tellapart.kernels.additive_index import check_psi, fit_psi
from tellapart.kernels.bandwidth import RULES, TUNED, check_tuned, joint_scale, median_bandwidths
from tellapart.kernels.base import WEIGHTS, Abilities, FittedKernel, PairFunction, Square
from tellapart.kernels.linear import SCALARS


@dataclass(frozen=True)
class Quadratic:
    """K_z(x, y) = (Σ_s z_s k_s(x_s, y_s) + c)².

    Its square holds the products k_s k_r: it sees differences that only show in pairs of
    columns, such as a correlation, beside those of single columns.

    Parameters
    ----------
    c : float or None
        The constant, above 0; None takes √σ², σ² the median over pooled pairs of the mean over
        columns of ((u_s − v_s) / τ_s)².
    scalar : {"gaussian", "laplace"}, object with `gram(u, v)`, or a sequence of one per column
        The kernel k_s of the numeric columns; by name, categorical ones take 1[x = y].
    bandwidth : {"median", "cv", "paper"}
        The rule of `tellapart.kernels.bandwidth.median_bandwidths`; "cv" takes the median times a
        multiplier from {1/4, 1/2, 1, 2}, tuned on the training rows. "paper" also takes the
        paper's σ², the median of ‖u − v‖² without scaling or averaging; for reproduction only.
    multiplier : float
        The bandwidths of the scalar kernels are multiplied by it.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.data.samples import Samples
    >>> x, y = np.array([[0.0], [1.0]]), np.array([[3.0], [7.0]])
    >>> fitted = Quadratic(c=1).fit(Samples(x, y, ("u",), ("numeric",)))
    >>> fitted.gram(x, x, np.array([1.0])).round(3).tolist()
    [[4.0, 3.842], [3.842, 4.0]]
    """

    c: float | None = None
    scalar: str | PairFunction | Sequence[str | PairFunction] = "gaussian"
    bandwidth: str = "median"
    multiplier: float = 1.0
    name: ClassVar[str] = "quadratic"
    abilities: ClassVar[Abilities] = Abilities(exact_unregularized=True)

    def __post_init__(self) -> None:
        if self.c is not None:
            check_number("c", self.c, 0.0, open_low=True)
        check_psi("scalar", self.scalar, tuple(SCALARS))
        check_choice("bandwidth", self.bandwidth, (*RULES, TUNED))
        check_number("multiplier", self.multiplier, 0.0, open_low=True)

    def fit(self, samples: Samples, *, n_jobs: int = 1) -> FittedKernel:
        """Freeze the bandwidths and c on the pooled training sample."""
        check_tuned(self)
        bandwidths, constant = median_bandwidths(samples, self.bandwidth, n_jobs=n_jobs)
        scalars = fit_psi("scalar", self.scalar, samples, self.multiplier * bandwidths)
        c = self.c
        if c is None:
            c = math.sqrt(joint_scale(samples, bandwidths, constant, self.bandwidth))
        outer = Square(float(c))
        return FittedKernel(self.name, scalars, constant, WEIGHTS["linear"], outer, self.abilities)
