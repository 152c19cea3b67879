"""Additive-index kernels, K_z(x, y) = φ(t) with t = Σ_s ω(z_s) ψ_s(x_s, y_s).

All the kernels of this package belong to this family. What depends on z is only the index t, so
all derivatives follow from those of φ and ω:

    ∂K/∂z_s = φ′ ω′(z_s) ψ_s
    ∂²K/∂z_s∂z_r = φ″ ω′(z_s) ω′(z_r) ψ_s ψ_r + 1[s = r] φ′ ω″(z_s) ψ_s
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arguments import check_choice
from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.kernels.bandwidth import RULES, median_bandwidths
from tellapart.kernels.base import (
    WEIGHTS,
    Abilities,
    FittedKernel,
    Mismatch,
    PairFunction,
    SquaredDifference,
)
from tellapart.kernels.linear import SCALARS
from tellapart.kernels.scalar import Indicator

ArrayFunction = Callable[[FloatArray], FloatArray]
Psi = str | PairFunction | Sequence[str | PairFunction]

DIFFERENCE = "squared-difference"
PSI = (DIFFERENCE, *SCALARS)

# Where the derivatives that a user gives are compared with differences of φ.
_PROBES = np.array([0.3, 0.7, 1.3, 2.1])
_PROBE_STEP = 1e-4
_PROBE_TOLERANCE = 1e-3


@dataclass(frozen=True)
class AdditiveIndex:
    """A kernel of your own, K_z(x, y) = φ(t) with t = Σ_s ω(z_s) ψ_s(x_s, y_s).

    Write φ and its first two derivatives as functions of arrays; gradient and Hessian of the
    objective follow. With the defaults t is an average of squared differences, each column
    measured in its median distance, so t is about 2 for a typical pair, whatever the units.

    Parameters
    ----------
    value, slope, curvature : callables
        φ, φ′ and φ″, from an array to an array of the same shape.
    weight : {"square", "linear"}
        ω(z) = z² or z.
    psi : str, object with a method `gram(u, v)`, or a sequence of one of these per column
        ψ_s: "squared-difference", or the scalar kernels "gaussian" and "laplace". By name, a
        categorical column takes 1[x ≠ y] for the first and 1[x = y] for the others.
    bandwidth : {"median", "paper"}
        The rule of `tellapart.kernels.bandwidth.median_bandwidths` for the τ_s of the named ψ_s.
    name : str
        What results call the kernel.

    Examples
    --------
    The rational quadratic kernel (1 + t/2)⁻¹, whose tails are heavier than a Gaussian's:

    >>> import numpy as np
    >>> from tellapart.statistics.objective import Objective
    >>> rational = AdditiveIndex(
    ...     value=lambda t: 1 / (1 + t / 2),
    ...     slope=lambda t: -0.5 / (1 + t / 2) ** 2,
    ...     curvature=lambda t: 0.5 / (1 + t / 2) ** 3,
    ...     name="rational-quadratic",
    ... )
    >>> rng = np.random.default_rng(0)
    >>> objective = Objective(rng.normal(size=(50, 3)), 1 + rng.normal(size=(60, 3)), rational)
    >>> objective.value(np.array([0.6, 0.8, 0.0])) > 0
    True
    """

    value: ArrayFunction
    slope: ArrayFunction
    curvature: ArrayFunction
    weight: str = "square"
    psi: Psi = DIFFERENCE
    bandwidth: str = "median"
    name: str = "additive-index"

    @property
    def abilities(self) -> Abilities:
        """What the form of the kernel allows."""
        return Abilities(averages=self.weight == "square")

    def __post_init__(self) -> None:
        check_choice("weight", self.weight, WEIGHTS)
        check_choice("bandwidth", self.bandwidth, RULES)
        check_psi("psi", self.psi, PSI)
        if not isinstance(self.name, str) or self.name in ("", "linear"):
            raise InputError(f"name must be a string of its own, not {self.name!r}")
        _check_function("value", self.value, None)
        _check_function("slope", self.slope, self.value)
        _check_function("curvature", self.curvature, self.slope)

    def fit(self, samples: Samples, *, n_jobs: int = 1) -> FittedKernel:
        """Freeze the bandwidths on the pooled training sample."""
        bandwidths, constant = median_bandwidths(samples, self.bandwidth, n_jobs=n_jobs)
        scalars = fit_psi("psi", self.psi, samples, bandwidths)
        return FittedKernel(self.name, scalars, constant, WEIGHTS[self.weight], self)


def check_psi(argument: str, psi: Psi, names: Sequence[str]) -> None:
    """Check the choice of ψ_s: a name, an object with `gram`, or a sequence of these."""
    if isinstance(psi, str):
        check_choice(argument, psi, names)
    elif isinstance(psi, Sequence):
        for i, choice in enumerate(psi):
            check_psi(f"{argument}[{i}]", choice, names)
    elif not callable(getattr(psi, "gram", None)):
        names = ", ".join(map(repr, names))
        raise InputError(
            f"{argument} must be one of {names}, an object with a method gram(u, v), or a "
            f"sequence of these; got {psi!r}"
        )


def fit_psi(
    argument: str, psi: Psi, samples: Samples, bandwidths: FloatArray
) -> tuple[PairFunction, ...]:
    """Return ψ_s of every column with its bandwidth."""
    if isinstance(psi, Sequence) and not isinstance(psi, str):
        choices = list(psi)
    else:
        choices = [psi] * samples.n_columns
    if len(choices) != samples.n_columns:
        raise InputError(
            f"{argument} must have one entry for each of the {samples.n_columns} columns; "
            f"got {len(choices)}"
        )
    return tuple(
        _named(choice, kind == "categorical", float(bandwidth))
        if isinstance(choice, str)
        else choice
        for choice, kind, bandwidth in zip(choices, samples.kinds, bandwidths, strict=True)
    )


def _named(choice: str, categorical: bool, bandwidth: float) -> PairFunction:
    if choice == DIFFERENCE:
        return Mismatch() if categorical else SquaredDifference(bandwidth)
    return Indicator() if categorical else SCALARS[choice](bandwidth)


def _check_function(argument: str, function: ArrayFunction, integral: ArrayFunction | None) -> None:
    """Check φ, φ′ or φ″ at a few points: a wrong derivative would mislead every search."""
    if not callable(function):
        raise InputError(f"{argument} must be a function of an array; got {function!r}")
    values = np.asarray(function(_PROBES.copy()))
    if values.shape != _PROBES.shape or not np.isfinite(values).all():
        raise InputError(
            f"{argument} must map an array to finite numbers of the same shape; "
            f"got {values!r} at {_PROBES!r}"
        )
    if integral is None:
        return
    rise = np.asarray(integral(_PROBES + _PROBE_STEP)) - np.asarray(integral(_PROBES - _PROBE_STEP))
    expected = rise / (2 * _PROBE_STEP)
    if (np.abs(values - expected) > _PROBE_TOLERANCE * (1 + np.abs(expected))).any():
        of = "value" if argument == "slope" else "slope"
        raise InputError(
            f"{argument} must be the derivative of {of}, which is about "
            f"{expected[0]:g} at t = {_PROBES[0]:g}; got {values[0]:g}"
        )
