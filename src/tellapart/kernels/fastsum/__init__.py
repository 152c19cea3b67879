"""One-dimensional kernel sums over two samples without the n × n matrix.

Gaussian by boxes of moments, O(n); Laplace by sorting, O(n log n); indicator by counting.
"""

from tellapart.kernels.fastsum.boxes import BoxExpansion, BoxGrid, BoxMoments
from tellapart.kernels.fastsum.counting import CountExpansion
from tellapart.kernels.fastsum.sorting import SortedExpansion

__all__ = ["BoxExpansion", "BoxGrid", "BoxMoments", "CountExpansion", "SortedExpansion"]
