"""The paper's theory as functions: closed forms, limits, bounds with their constants."""

from tellapart.theory.concentration import (
    KernelBounds,
    UniformBounds,
    hoeffding_power,
    hoeffding_threshold,
    training_rows,
)
from tellapart.theory.example_one import ExampleOne
from tellapart.theory.normal_limit import (
    kolmogorov_bound,
    normal_power,
    power_bound,
    rows_for_power,
    sufficient_mmd2,
)
from tellapart.theory.null_limit import NullLimit, WeightedChiSquares

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
