"""The ℓ₁ relaxation {‖z‖₂ ≤ 1, ‖z‖₁ ≤ √d}: its region, its cone program, its integer one."""
