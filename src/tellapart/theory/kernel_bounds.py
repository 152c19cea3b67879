"""How large the paper's kernels can be, and how fast they change with the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tellapart.arguments import check_integer, check_number


@dataclass(frozen=True)
class KernelBounds:
    """Constants M and L of a kernel over Z = {z : ‖z‖₂ = 1, ‖z‖₀ ≤ d}.

        |K_z(x, y)| ≤ M,        |K_z(x, y) − K_z'(x, y)| ≤ L ‖z − z'‖₂,

    for scalar kernels with values in [0, 1].

    Attributes
    ----------
    largest : float
        M.
    lipschitz : float
        L.

    Examples
    --------
    >>> KernelBounds.linear(n_variables=4).largest
    2.0
    """

    largest: float
    lipschitz: float

    @classmethod
    def linear(cls, n_variables: int) -> KernelBounds:
        """K_z = Σ z_s k_s: M = √d, L = √(2d)."""
        d = check_integer("n_variables", n_variables, 1)
        return cls(math.sqrt(d), math.sqrt(2 * d))

    @classmethod
    def quadratic(cls, n_variables: int, c: float) -> KernelBounds:
        """K_z = (Σ z_s k_s + c)²: M = 2d + 2c², L = 4d + 2c√(2d)."""
        d = check_integer("n_variables", n_variables, 1)
        check_number("c", c, 0.0)
        return cls(2 * d + 2 * c**2, 4 * d + 2 * c * math.sqrt(2 * d))

    @classmethod
    def gaussian(cls, bandwidth: float, radius: float) -> KernelBounds:
        """K_z = exp(−Σ z_s² (x_s − y_s)²/(2σ²)), all |x_s| ≤ R: M = 1, L = 2R/(σ√e)."""
        check_number("bandwidth", bandwidth, 0.0, open_low=True)
        check_number("radius", radius, 0.0, open_low=True)
        return cls(1.0, 2 * radius / (bandwidth * math.sqrt(math.e)))

    @property
    def largest_variance(self) -> float:
        """8M², which σ² never exceeds.

        σ² = 4 var(p(x) + q(y)), x and y independent, and p(x) = E K(x, x') − E K(x, y') is at
        most M in size, as is q, since each k_s is in [0, 1]: 4 (M² + M²).
        """
        return 8 * self.largest**2

    def largest_regularization(self, best_mmd2: float) -> float:
        """Return λ below which the choice has MMD² > 0 for enough training rows: best/(8M²).

        The paper asks λ (max σ² − min σ²) < max MMD² and prints half of this, though its proof
        has σ² ≤ 8M².
        """
        check_number("best_mmd2", best_mmd2, 0.0)
        return best_mmd2 / self.largest_variance
