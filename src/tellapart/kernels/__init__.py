"""Kernels: settings that are fitted on the pooled training sample."""

from tellapart.kernels.additive_index import AdditiveIndex
from tellapart.kernels.base import (
    Abilities,
    Expansion,
    FittedKernel,
    Kernel,
    PairFunction,
    ScalarKernel,
)
from tellapart.kernels.gaussian import Gaussian
from tellapart.kernels.linear import Linear
from tellapart.kernels.quadratic import Quadratic
from tellapart.kernels.registry import resolve_kernel
from tellapart.kernels.scalar import GaussianScalar, Indicator, LaplaceScalar

__all__ = [
    "Abilities",
    "AdditiveIndex",
    "Expansion",
    "FittedKernel",
    "Gaussian",
    "GaussianScalar",
    "Indicator",
    "Kernel",
    "LaplaceScalar",
    "Linear",
    "PairFunction",
    "Quadratic",
    "ScalarKernel",
    "resolve_kernel",
]
