"""Sparse trust region problems, max zᵀAz + aᵀz over ‖z‖₂ = 1, ‖z‖₀ ≤ d, and sparse ratios."""

from tellapart.strs.base import Solver
from tellapart.strs.problem import ShiftedFactor, SparseTrustRegion
from tellapart.strs.ratio import SparseRatio
from tellapart.strs.solution import Solution
from tellapart.strs.solve import SOLVERS, Comparison, compare, solve

__all__ = [
    "SOLVERS",
    "Comparison",
    "ShiftedFactor",
    "Solution",
    "Solver",
    "SparseRatio",
    "SparseTrustRegion",
    "compare",
    "solve",
]
