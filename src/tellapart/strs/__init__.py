"""Sparse trust region problems, max zᵀAz + aᵀz over ‖z‖₂ = 1, ‖z‖₀ ≤ d, and sparse ratios."""

from tellapart.strs.classics import best_subset, sparse_pca
from tellapart.strs.contract import Solution, Solver
from tellapart.strs.near_optimal import NearOptimal, near_optimal, next_best
from tellapart.strs.problem import ShiftedFactor, SparseRatio, SparseTrustRegion
from tellapart.strs.solve import SOLVERS, Comparison, compare, solve

__all__ = [
    "SOLVERS",
    "Comparison",
    "NearOptimal",
    "ShiftedFactor",
    "Solution",
    "Solver",
    "SparseRatio",
    "SparseTrustRegion",
    "best_subset",
    "compare",
    "near_optimal",
    "next_best",
    "solve",
    "sparse_pca",
]
