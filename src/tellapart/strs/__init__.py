"""Sparse trust region problems: max zᵀAz + aᵀz over ‖z‖₂ = 1, ‖z‖₀ ≤ d."""
