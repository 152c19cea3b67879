"""Example 1 of the paper in closed form: two normal distributions that differ in spread alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tellapart.arguments import check_number


@dataclass(frozen=True)
class ExampleOne:
    """μ = N(0, 1) against ν = N(0, b²), b = 1 + ε, under k(x, y) = exp(−(x − y)²/(2τ²)).

    With variances p, q, s as arguments and

        e(p, q) = E k(u, v) = √(τ²/(τ² + p + q)),            u ~ N(0, p), v ~ N(0, q),
        c(p, q, s) = E k(w, u) k(w, v),                      w ~ N(0, s),
        c(p, q, s) = √(τ²/(τ² + p)) √(τ²/(τ² + q)) / √(1 + s/(τ² + p) + s/(τ² + q)),

    every moment of H_ij = k(x_i, x_j) + k(y_i, y_j) − k(x_i, y_j) − k(y_i, x_j) is a sum of such
    terms. The printed E[H₁₂H₁₃] counts cross terms that share no row as if they did, and is too
    large: at τ² = 1.3, ε = 0.7 it prints 0.0208, where the truth is 0.01765.

    Parameters
    ----------
    bandwidth : float
        τ > 0.
    epsilon : float
        ε > −1: ν has a standard deviation of 1 + ε.

    Examples
    --------
    >>> example = ExampleOne(bandwidth=1.3**0.5, epsilon=0.7)
    >>> round(example.mmd2, 5), round(example.product_moment, 5), round(example.sigma2, 5)
    (0.05519, 0.01765, 0.05843)
    """

    bandwidth: float
    epsilon: float

    def __post_init__(self) -> None:
        check_number("bandwidth", self.bandwidth, 0.0, open_low=True)
        check_number("epsilon", self.epsilon, -1.0, open_low=True)

    @property
    def mmd2(self) -> float:
        """MMD² = e(1, 1) + e(b², b²) − 2 e(1, b²)."""
        b2 = (1 + self.epsilon) ** 2
        return self._mean(1, 1) + self._mean(b2, b2) - 2 * self._mean(1, b2)

    @property
    def product_moment(self) -> float:
        """E[H₁₂H₁₃], two comparisons that share one row of each sample.

        = c(1,1,1) − 2c(1,b²,1) + c(b²,b²,1) + c(b²,b²,b²) − 2c(1,b²,b²) + c(1,1,b²)
          + 2 (e(1,1) − e(1,b²)) (e(b²,b²) − e(1,b²)).
        """
        b2 = (1 + self.epsilon) ** 2
        of_x = self._shared(1, 1, 1) - 2 * self._shared(1, b2, 1) + self._shared(b2, b2, 1)
        of_y = self._shared(b2, b2, b2) - 2 * self._shared(1, b2, b2) + self._shared(1, 1, b2)
        cross = self._mean(1, b2)
        return of_x + of_y + 2 * (self._mean(1, 1) - cross) * (self._mean(b2, b2) - cross)

    @property
    def sigma2(self) -> float:
        """σ² = 4 E[H₁₂H₁₃] − 4 MMD⁴, the variance of √n (MMD²_u − MMD²) for large m = n."""
        return 4 * self.product_moment - 4 * self.mmd2**2

    @property
    def largest_regularization(self) -> float:
        """λ̄ = MMD²/σ²: below it the differing column has the largest MMD² − λσ² of all."""
        return self.mmd2 / self.sigma2

    def _mean(self, p: float, q: float) -> float:
        tau2 = self.bandwidth**2
        return math.sqrt(tau2 / (tau2 + p + q))

    def _shared(self, p: float, q: float, s: float) -> float:
        tau2 = self.bandwidth**2
        first, second = tau2 + p, tau2 + q
        return tau2 / math.sqrt(first * second * (1 + s / first + s / second))
