"""Kernels: settings that are fitted on the pooled training sample."""

from tellapart.kernels.base import Expansion, FittedKernel, Kernel, ScalarKernel
from tellapart.kernels.linear import Linear
from tellapart.kernels.registry import resolve_kernel
from tellapart.kernels.scalar import GaussianScalar, Indicator, LaplaceScalar

__all__ = [
    "Expansion",
    "FittedKernel",
    "GaussianScalar",
    "Indicator",
    "Kernel",
    "LaplaceScalar",
    "Linear",
    "ScalarKernel",
    "resolve_kernel",
]
