"""The paper's theory as functions: closed forms, limits, bounds with their constants."""

from tellapart.theory.berry_esseen import kolmogorov_bound, power_bound, sufficient_mmd2
from tellapart.theory.concentration import (
    UniformBounds,
    hoeffding_power,
    hoeffding_threshold,
    training_rows,
)
from tellapart.theory.example_one import ExampleOne
from tellapart.theory.kernel_bounds import KernelBounds
from tellapart.theory.normal_limit import normal_power, rows_for_power
from tellapart.theory.null_limit import NullLimit
from tellapart.theory.weighted_chi_squares import WeightedChiSquares

__all__ = [
    "ExampleOne",
    "KernelBounds",
    "NullLimit",
    "UniformBounds",
    "WeightedChiSquares",
    "hoeffding_power",
    "hoeffding_threshold",
    "kolmogorov_bound",
    "normal_power",
    "power_bound",
    "rows_for_power",
    "sufficient_mmd2",
    "training_rows",
]
