"""The solvers of sparse trust region problems, one file each."""
