"""MMD² of two large samples of one distribution: a weighted sum of chi-squares."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from tellapart.arguments import check_integer, check_number
from tellapart.arrays import FloatArray
from tellapart.errors import InputError
from tellapart.statistics.mmd import effective_size

# The law of a weighted sum of independent chi-squares: tail probability and quantile.


# Weights below this share of the largest are constants next to it.
NEGLIGIBLE = 1e-12
NODES = 400
FARTHEST = 6.0
"""The contour is walked in sinh of steps from 0 to here."""


@dataclass(frozen=True, eq=False)
class WeightedChiSquares:
    """Q = Σ_i w_i Z_i², Z_i independent N(0, 1), all w_i > 0.

    Its tail is an integral of its moment generating function M(s) = Π (1 − 2 w_i s)^(−½),

        P(Q > q) = (1/2πi) ∫ M(s) e^(−sq)/s ds,

    along any path from −i∞ to i∞ that crosses the real line between 0 and 1/(2 max w); left of 0
    it gives −P(Q ≤ q). The path taken crosses at a saddle point and bends to the right like that of
    steepest descent: the integrand falls as fast as e^(−t²), and a few hundred points give it to
    about 1e-12 of its value, in the far upper tail, too.

    Parameters
    ----------
    weights : array
        The w_i; those below 1e-12 of the largest count by their sum, as a constant.

    Examples
    --------
    >>> law = WeightedChiSquares(np.array([1.0, 1.0]))  # a chi-square with two degrees of freedom
    >>> round(law.sf(3.0), 10) == round(math.exp(-1.5), 10)
    True
    >>> round(law.quantile(0.95), 6)
    5.991465
    """

    weights: FloatArray

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.ndim != 1 or not np.isfinite(weights).all() or not (weights > 0).any():
            raise InputError(
                "weights must be a vector of finite numbers, at least one of them positive; "
                f"got shape {weights.shape}"
            )
        if weights.min() < -NEGLIGIBLE * weights.max():
            raise InputError(f"weights must be at least 0; got {weights.min():g}")
        object.__setattr__(self, "weights", weights)

    @property
    def mean(self) -> float:
        """Σ w_i."""
        return float(self.weights.sum())

    @property
    def variance(self) -> float:
        """2 Σ w_i²."""
        return float(2 * np.square(self.weights).sum())

    def sf(self, q: float) -> float:
        """Return P(Q > q)."""
        kept = self.weights > NEGLIGIBLE * self.weights.max()
        constant = float(self.weights[~kept].sum())
        scale = float(self.weights.max())
        at = (q - constant) / scale
        if at <= 0:
            return 1.0
        return _tail(self.weights[kept] / scale, at)

    def quantile(self, probability: float) -> float:
        """Return the q with P(Q ≤ q) = `probability`, strictly between 0 and 1."""
        check_number("probability", probability, 0.0, 1.0, open_low=True, open_high=True)
        high = self.mean + math.sqrt(self.variance)
        while self.sf(high) > 1 - probability:
            high *= 2
        root = brentq(lambda q: self.sf(q) - (1 - probability), 0.0, high, xtol=1e-12 * high)
        return float(root)


def _tail(weights: FloatArray, q: float) -> float:
    """Return P(Q > q) for weights of which the largest is 1."""
    saddle = _saddle(weights, q)
    shares = weights / (1 - 2 * weights * saddle)
    second = float(2 * np.square(shares).sum()) + saddle**-2
    third = float(8 * (shares**3).sum()) - 2 * saddle**-3
    width = 1 / math.sqrt(second)
    # Steepest descent to second order, but always to the right, where e^(−sq) falls.
    bend = max(third * width**4 / 6, 0.05 * width)
    steps = np.linspace(0.0, FARTHEST, NODES)
    t, speed = np.sinh(steps), np.cosh(steps)
    s = saddle + bend * t**2 + 1j * width * t
    path = (2 * bend * t + 1j * width) * speed
    exponent = -0.5 * np.log1p(-2 * weights[:, np.newaxis] * s).sum(axis=0) - s * q
    values = (np.exp(exponent) / s * path).imag
    # The lower half of the path is the mirror image of the upper: twice the imaginary part over 2π.
    integral = (values.sum() - values[0] / 2) * float(steps[1]) / math.pi
    # Left of the pole at 0 the integral is short of its residue, 1.
    return float(min(max(integral + (saddle < 0), 0.0), 1.0))


def _saddle(weights: FloatArray, q: float) -> float:
    """Return the real s at which M(s) e^(−sq)/|s| is least: right of 0 for q above the mean."""

    def slope(s: float) -> float:
        return float((weights / (1 - 2 * weights * s)).sum()) - q - 1 / s

    # The logarithm is convex on either side of 0, and infinite at the ends.
    if q >= weights.sum():
        near, far = 0.25, 0.25
        while slope(near) > 0:
            near /= 4
        while slope(far) < 0:
            far = 0.5 - (0.5 - far) / 4
    else:
        near, far = -0.25, -0.25
        while slope(near) < 0:
            near /= 4
        while slope(far) > 0:
            far *= 4
    return near if near == far else float(brentq(slope, near, far, xtol=1e-15))


@dataclass(frozen=True, eq=False)
class NullLimit:
    """The law of MMD²_u under H₀ as both samples grow.

        ñ MMD²_u → 2 Σ_i λ_i (Z_i² − 1),     ñ = 2mn/(m + n),  Z_i independent N(0, 1),

    λ_i the eigenvalues of the centred kernel under the common distribution. The paper prints it
    for m = n as n T → Σ λ_i (Z_i² − 2) without the law of Z_i: there Z_i ~ N(0, 2). It is an
    *asymptotic* law: p-values of tests in this package come from permutations, which are valid in
    finite samples; this limit says what to expect before there are data.

    Parameters
    ----------
    eigenvalues : array
        λ_i ≥ 0.
    n_x, n_y : int
        m and n.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=200)
    >>> gram = np.exp(-0.5 * np.subtract.outer(rows, rows) ** 2)
    >>> limit = NullLimit.of_gram(gram, n_x=80)
    >>> bool(0.049 < limit.pvalue(limit.quantile(0.95)) < 0.051)
    True
    """

    eigenvalues: FloatArray
    n_x: int
    n_y: int

    def __post_init__(self) -> None:
        check_integer("n_x", self.n_x, 2)
        check_integer("n_y", self.n_y, 2)

    @classmethod
    def of_gram(cls, gram: FloatArray, n_x: int, n_y: int | None = None) -> NullLimit:
        """Return the limit with λ_i estimated by the eigenvalues of H K H/(N − 1), H = I − 11ᵀ/N.

        Parameters
        ----------
        gram : array of shape (N, N)
            K(w_i, w_j) of the pooled rows, under H₀ a sample of the common distribution.
        n_x, n_y : int
            Rows of the samples to be tested; n_y is N − n_x where it is left out.
        """
        gram = np.asarray(gram, dtype=np.float64)
        if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or gram.shape[0] < 3:
            raise InputError(f"gram must be square, of order 3 at least; got shape {gram.shape}")
        rows = gram.shape[0]
        means = gram.mean(axis=0)
        centred = gram - means - means[:, np.newaxis] + means.mean()
        # A positive definite kernel has none below 0 but by rounding.
        eigenvalues = np.maximum(np.linalg.eigvalsh(centred), 0.0) / (rows - 1)
        return cls(eigenvalues, n_x, rows - n_x if n_y is None else n_y)

    @property
    def variance(self) -> float:
        """The variance of MMD²_u under the limit, 8 Σ λ_i²/ñ²."""
        size = effective_size(self.n_x, self.n_y)
        return float(8 * np.square(self.eigenvalues).sum() / size**2)

    def pvalue(self, statistic: float) -> float:
        """Return the limit's P(MMD²_u > statistic) under H₀."""
        size, law = effective_size(self.n_x, self.n_y), WeightedChiSquares(self.eigenvalues)
        return law.sf(size * statistic / 2 + law.mean)

    def quantile(self, probability: float) -> float:
        """Return the value that MMD²_u stays below with this probability: 1 − α, a threshold."""
        size, law = effective_size(self.n_x, self.n_y), WeightedChiSquares(self.eigenvalues)
        return (law.quantile(probability) - law.mean) * 2 / size
