"""Bandwidths in units of the median rule: fixed, or left to be tuned with λ."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, TypeVar, runtime_checkable

from tellapart.arguments import check_number
from tellapart.errors import InputError

TUNED = "cv"
"""The `bandwidth` that leaves the multiplier to cross-validation."""
MULTIPLIERS = (0.25, 0.5, 1.0, 2.0)
"""What cross-validation tries, in units of the median rule."""


@runtime_checkable
class Scalable(Protocol):
    """A kernel whose bandwidths are a rule times a multiplier."""

    @property
    def bandwidth(self) -> str | float | None:
        """The rule: "cv" to be tuned, None for tuned where possible and the median elsewhere."""
        ...

    @property
    def multiplier(self) -> float:
        """What the rule is multiplied by."""
        ...


K = TypeVar("K")


def with_multiplier(kernel: K, multiplier: float) -> K:
    """Return the kernel with the median rule times `multiplier`; others as they are.

    Examples
    --------
    >>> from tellapart.kernels import Gaussian
    >>> with_multiplier(Gaussian("cv"), 0.5)
    Gaussian(bandwidth='median', multiplier=0.5)
    """
    if not isinstance(kernel, Scalable):
        return kernel
    rule = "median" if kernel.bandwidth in (None, TUNED) else kernel.bandwidth
    return replace(kernel, bandwidth=rule, multiplier=multiplier)  # type: ignore[type-var]


def multipliers_to_try(kernel: object) -> tuple[float, ...]:
    """Return the multipliers that tuning tries: one, the kernel's own, where it is fixed."""
    if not isinstance(kernel, Scalable):
        return (1.0,)
    if kernel.bandwidth in (None, TUNED):
        return MULTIPLIERS
    return (kernel.multiplier,)


def check_multiplier(value: object) -> float:
    """Return the multiplier, a positive number."""
    return check_number("multiplier", value, 0.0, open_low=True)


def check_tuned(kernel: Scalable) -> None:
    """Raise where a bandwidth that is left to tuning has not been tuned."""
    if kernel.bandwidth == TUNED:
        raise InputError(
            "bandwidth must be a rule or a number here; got 'cv', which only two_sample_test and "
            "select_variables can choose"
        )
