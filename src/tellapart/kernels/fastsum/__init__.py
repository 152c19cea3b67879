"""One-dimensional kernel sums over two samples without the n × n matrix.

Gaussian by boxes of moments, O(n); Laplace by sorting, O(n log n); indicator by counting. And
sums between groups of rows, which is what permutations of bins need.
"""

from tellapart.kernels.fastsum.gaussian import (
    BoxExpansion,
    BoxGrid,
    BoxMoments,
    count_modes,
    extent_of,
    fourier_sums,
    gaussian_group_sums,
)
from tellapart.kernels.fastsum.sorting import (
    CountExpansion,
    LevelCounts,
    SortedExpansion,
    indicator_group_sums,
    laplace_group_sums,
)

__all__ = [
    "BoxExpansion",
    "BoxGrid",
    "BoxMoments",
    "CountExpansion",
    "LevelCounts",
    "SortedExpansion",
    "count_modes",
    "extent_of",
    "fourier_sums",
    "gaussian_group_sums",
    "indicator_group_sums",
    "laplace_group_sums",
]
