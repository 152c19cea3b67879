"""Kernels by name."""

from __future__ import annotations

from collections.abc import Callable

from tellapart.errors import InputError
from tellapart.kernels.base import Kernel
from tellapart.kernels.gaussian import Gaussian
from tellapart.kernels.linear import Linear
from tellapart.kernels.quadratic import Quadratic

CONTRACT = ("name", "abilities", "fit")
"""What a kernel object has; see `tellapart.kernels.Kernel`."""
KERNELS: dict[str, Callable[[], Kernel]] = {
    "linear": Linear,
    "quadratic": Quadratic,
    "gaussian": Gaussian,
}


def resolve_kernel(kernel: str | Kernel, *, auto: Kernel | None = None) -> Kernel:
    """Return the kernel of that name with its default settings, or the kernel itself.

    `auto` is what the name "auto" stands for, where it stands for something.

    Examples
    --------
    >>> resolve_kernel("linear")
    Linear(scalar='gaussian', bandwidth='median', multiplier=1.0)
    """
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]()
    if auto is not None and isinstance(kernel, str) and kernel == "auto":
        return auto
    if isinstance(kernel, str) or not all(hasattr(kernel, attribute) for attribute in CONTRACT):
        names = ", ".join(map(repr, KERNELS if auto is None else ("auto", *KERNELS)))
        raise InputError(
            f"kernel must be one of {names} or a kernel object, with {', '.join(CONTRACT)}; "
            f"got {kernel!r}"
        )
    return kernel
