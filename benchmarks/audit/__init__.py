"""The audit: what solvers claim, against optima in many digits that share no code with them."""
