"""Bounds that hold for every number of rows: how far estimates can be off, with which chance."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import gammaln

from tellapart.arguments import check_integer, check_number

# How large the paper's kernels can be, and how fast they change with the weights.


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


@dataclass(frozen=True)
class UniformBounds:
    """How far MMD² and σ² of *all* choices can be from the truth, m = n, with chance 1 − δ each.

    With A = 2 log(2 C(D, d)/δ) + 2d log(4√n), from a cover of Z by C(D, d)(4√n)^d points:

        sup_z |MMD²_u(z) − MMD²(z)| ≤ ε₁ = (8/√n) [M √A + L],
        sup_z |σ̂²(z) − σ²(z)|      ≤ ε₂ = (64/√n) [7M² √A + 18M²/√n + 8LM].

    In ε₂ the paper prints 7√A without M², which cannot be: σ² is multiplied by c² when the kernel
    is multiplied by c. (McDiarmid's inequality gives 416 M² √(2 log(2/δ)/n) for one z, below the
    448 M² that is used.) The bounds are proved and far from tight: they say how rows must grow
    with d and log D, not how many to collect.

    Parameters
    ----------
    bounds : KernelBounds
        M and L.
    n_columns, n_variables : int
        D and d.
    delta : float
        δ, in (0, 1), for each of the two.

    Examples
    --------
    >>> uniform = UniformBounds(KernelBounds.linear(2), n_columns=50, n_variables=2)
    >>> round(uniform.mmd2(10_000), 3), round(uniform.sigma2(10_000), 1)
    (0.924, 75.2)
    """

    bounds: KernelBounds
    n_columns: int
    n_variables: int
    delta: float = 0.05

    def __post_init__(self) -> None:
        check_integer("n_columns", self.n_columns, 1)
        check_integer("n_variables", self.n_variables, 1, self.n_columns)
        check_number("delta", self.delta, 0.0, 1.0, open_low=True, open_high=True)

    def mmd2(self, n: int) -> float:
        """Return ε₁ for n rows of each sample."""
        check_integer("n", n, 2)
        return 8 / math.sqrt(n) * (self.bounds.largest * self._cover(n) + self.bounds.lipschitz)

    def sigma2(self, n: int) -> float:
        """Return ε₂ for n rows of each sample."""
        check_integer("n", n, 2)
        m2, root = self.bounds.largest**2, math.sqrt(n)
        lipschitz = 8 * self.bounds.lipschitz * self.bounds.largest
        return 64 / root * (7 * m2 * self._cover(n) + 18 * m2 / root + lipschitz)

    def objective(self, n: int, regularization: float) -> float:
        """Return ε₁ + λε₂, by which F = MMD² − λσ² is off at most, with chance 1 − 2δ."""
        check_number("regularization", regularization, 0.0)
        return self.mmd2(n) + regularization * self.sigma2(n)

    def _cover(self, n: int) -> float:
        """Return √A."""
        big, d = self.n_columns, self.n_variables
        log_choices = float(gammaln(big + 1) - gammaln(d + 1) - gammaln(big - d + 1))
        return math.sqrt(
            2 * (log_choices + math.log(2 / self.delta)) + 2 * d * math.log(4 * math.sqrt(n))
        )


def training_rows(uniform: UniformBounds, separation: float, regularization: float = 0.0) -> int:
    """Return rows of each sample that suffice for the choice to have MMD² > 0, chance 1 − 2δ.

    The chosen ẑ has MMD²(ẑ) ≥ Δ − 2(ε₁ + λε₂), where for some ζ in Z the separation is
    Δ = MMD²(ζ) − λ (max_z σ²(z) − min_z σ²(z)). One bound over all z serves both steps of the
    proof, so that δ/2 for each suffices where the paper takes δ/4.

    Examples
    --------
    >>> training_rows(UniformBounds(KernelBounds.linear(2), 50, 2), separation=0.5)
    149861
    """
    check_number("separation", separation, 0.0, open_low=True)
    check_number("regularization", regularization, 0.0)
    low, high = 2, 4
    while 2 * uniform.objective(high, regularization) >= separation:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if 2 * uniform.objective(middle, regularization) >= separation:
            low = middle
        else:
            high = middle
    return high


def hoeffding_threshold(n: int, alpha: float = 0.05, largest: float = 1.0) -> float:
    """Return a threshold for MMD²_u (paired form, m = n) with level α for every n.

    H_ij of a kernel with values in [0, K] lies in [−2K, 2K]; Hoeffding's inequality for
    U-statistics gives P(MMD²_u − MMD² > t) ≤ exp(−t² ⌊n/2⌋/(8K²)) and so t = K√(8 log(1/α)/⌊n/2⌋).

    Examples
    --------
    >>> round(hoeffding_threshold(1000), 4)
    0.2189
    """
    check_integer("n", n, 2)
    check_number("alpha", alpha, 0.0, 1.0, open_low=True, open_high=True)
    check_number("largest", largest, 0.0, open_low=True)
    return largest * math.sqrt(8 * math.log(1 / alpha) / (n // 2))


def hoeffding_power(mmd2: float, threshold: float, n: int, largest: float = 1.0) -> float:
    """Return a power that a test MMD²_u > t (paired form, m = n) has at least, for every n.

    1 − exp(−(MMD² − t)² ⌊n/2⌋/(8K²)) where MMD² > t, else 0.

    Examples
    --------
    >>> round(hoeffding_power(0.3, threshold=0.1, n=1000), 3)
    0.918
    """
    check_number("mmd2", mmd2, 0.0)
    check_number("threshold", threshold)
    check_integer("n", n, 2)
    check_number("largest", largest, 0.0, open_low=True)
    if mmd2 <= threshold:
        return 0.0
    return -math.expm1(-((mmd2 - threshold) ** 2) * (n // 2) / (8 * largest**2))
