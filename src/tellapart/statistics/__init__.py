"""MMD², its variance, the coefficients a and V; F with gradient and Hessian; the witness."""

from tellapart.statistics.coefficients import LinearCoefficients, linear_coefficients
from tellapart.statistics.mmd import mmd2, variance

__all__ = ["LinearCoefficients", "linear_coefficients", "mmd2", "variance"]
