"""MMD² of two large samples of different distributions is normal: power, and rows for it."""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.stats import norm

from tellapart.arguments import check_integer, check_number
from tellapart.errors import InputError
from tellapart.statistics.mmd import effective_size


def normal_power(
    mmd2: float,
    sigma2: float,
    threshold: float,
    n_x: int,
    n_y: int | None = None,
    null_variance: float = 0.0,
) -> float:
    """Return the power that the normal limit predicts for a test that rejects beyond a threshold.

    √ñ (MMD²_u − MMD²)/σ → N(0, 1) with ñ = 2mn/(m + n), so that

        P(MMD²_u > t) ≈ Φ((MMD² − t)/√(σ²/ñ + v₀)).

    v₀ = 0 is the paper's limit. For samples of some hundred rows, or a difference so small that σ²
    nearly vanishes, the part of the variance that the limit drops matters: v₀ = 8 Σ λ_i²/ñ², the
    variance under H₀, puts it back to first order. It is asymptotic either way.

    Parameters
    ----------
    mmd2, sigma2 : float
        MMD² and σ² of the two distributions, as in `tellapart.statistics.mmd`.
    threshold : float
        t, for example `NullLimit.quantile(1 - alpha)`, which falls like 1/ñ.
    n_x, n_y : int
        m and n; n = m where it is left out.
    null_variance : float
        v₀, for example `NullLimit.variance`.

    Examples
    --------
    >>> round(normal_power(mmd2=0.03, sigma2=0.06, threshold=0.01, n_x=200, n_y=300), 3)
    0.897
    """
    check_number("mmd2", mmd2)
    check_number("sigma2", sigma2, 0.0)
    check_number("null_variance", null_variance, 0.0)
    check_number("threshold", threshold)
    m = check_integer("n_x", n_x, 2)
    n = m if n_y is None else check_integer("n_y", n_y, 2)
    deviation = math.sqrt(sigma2 / effective_size(m, n) + null_variance)
    if deviation == 0:
        return float(mmd2 > threshold)
    return float(norm.cdf((mmd2 - threshold) / deviation))


def rows_for_power(
    mmd2: float,
    sigma2: float,
    scaled_threshold: float,
    power: float = 0.8,
    ratio: float = 1.0,
    scaled_null_variance: float = 0.0,
) -> tuple[int, int]:
    """Return the rows m and n = ratio·m at which the normal limit predicts the power.

    With t = τ/ñ and v₀ = v/ñ² the power is Φ((MMD² ñ − τ)/√(σ² ñ + v)), which grows with ñ.

    Parameters
    ----------
    mmd2, sigma2 : float
        MMD² > 0 and σ² of the two distributions.
    scaled_threshold : float
        τ = ñ t, the (1 − α)-quantile of 2 Σ λ_i (Z_i² − 1).
    power : float
        The target power, in (0, 1).
    ratio : float
        n/m.
    scaled_null_variance : float
        v = 8 Σ λ_i².

    Examples
    --------
    >>> rows_for_power(mmd2=0.03, sigma2=0.06, scaled_threshold=2.4, power=0.8, ratio=1.5)
    (142, 213)
    """
    check_number("mmd2", mmd2, 0.0, open_low=True)
    check_number("sigma2", sigma2, 0.0)
    check_number("scaled_threshold", scaled_threshold)
    check_number("power", power, 0.0, 1.0, open_low=True, open_high=True)
    check_number("ratio", ratio, 0.0, open_low=True)
    check_number("scaled_null_variance", scaled_null_variance, 0.0)
    quantile = float(norm.ppf(power))

    def lack(size: float) -> float:
        return quantile * math.sqrt(sigma2 * size + scaled_null_variance) - (
            mmd2 * size - scaled_threshold
        )

    high = 4.0
    while lack(high) > 0:
        high *= 2
        if high > 1e18:
            raise InputError(f"mmd2 must be large enough to be seen at all; got {mmd2:g}")
    size = 2.0 if lack(2.0) <= 0 else float(brentq(lack, 2.0, high))
    # ñ = 2mn/(m + n) = 2m·ratio/(1 + ratio).
    m = max(math.ceil(size * (1 + ratio) / (2 * ratio)), 2)
    return m, max(math.ceil(m * ratio), 2)


# The paper's bound on power, with constants: how far MMD² is from its normal limit at most.


def kolmogorov_bound(sigma2: float, third_moment: float, variance_h: float, n: int) -> float:
    """Return how far the distribution of √n (T − MMD²)/σ is from N(0, 1) at most, at any point.

    T is the paired MMD²_u, m = n, a U-statistic of degree two with kernel H. With g the mean of H
    given one pair (x, y), σ² = 4 var g,

        sup_z |P(√n (T − MMD²)/σ ≤ z) − Φ(z)|
            ≤ 6.1 E|g − E g|³/(√n (σ/2)³) + (1 + √2) √(var H)/(√(2(n − 1)) σ/2)

    (Chen and Shao, 2007, for U-statistics). The paper writes C ρ/(σ³ √n), the bound for a sum of
    independent terms, which T is not: the second part is missing there.

    Parameters
    ----------
    sigma2 : float
        σ² > 0.
    third_moment : float
        E|g − E g|³.
    variance_h : float
        var H₁₂.
    n : int
        Rows of each sample.

    Examples
    --------
    >>> round(kolmogorov_bound(sigma2=0.07, third_moment=0.005, variance_h=0.2, n=100_000), 3)
    0.06
    """
    check_number("sigma2", sigma2, 0.0, open_low=True)
    check_number("third_moment", third_moment, 0.0)
    check_number("variance_h", variance_h, 0.0)
    check_integer("n", n, 2)
    half_sigma = math.sqrt(sigma2) / 2
    linear = 6.1 * third_moment / (math.sqrt(n) * half_sigma**3)
    second = (1 + math.sqrt(2)) * math.sqrt(variance_h) / (math.sqrt(2 * (n - 1)) * half_sigma)
    return linear + second


def power_bound(
    mmd2: float, sigma2: float, third_moment: float, variance_h: float, threshold: float, n: int
) -> float:
    """Return a power that a test T > t (paired form, m = n) has at least, for every n.

    Φ(√n (MMD² − t)/σ) less `kolmogorov_bound`, or 0: the paper's Theorem on testing power, whose
    type II risk falls like n^(−½).

    Its other half, a type I risk of α + O(n^(−½)), does not follow "by a similar argument": under
    H₀ σ is 0 and T has no normal limit. A permutation test has a risk of at most α for every n.

    Examples
    --------
    >>> round(power_bound(0.03, 0.07, 0.005, 0.2, threshold=0.0001, n=100_000), 2)
    0.94
    """
    check_number("mmd2", mmd2, 0.0)
    check_number("threshold", threshold)
    far = kolmogorov_bound(sigma2, third_moment, variance_h, n)
    return max(float(norm.cdf(math.sqrt(n) * (mmd2 - threshold) / math.sqrt(sigma2))) - far, 0.0)


def sufficient_mmd2(sigma2: float, scaled_threshold: float, n: int) -> float:
    """Return the MMD² beyond which the normal part of the type II risk is at most n^(−½).

    τ/n + σ Φ⁻¹(1 − n^(−½))/√n, τ the (1 − α)-quantile of the null limit of nT. The paper leaves
    out σ.

    Examples
    --------
    >>> round(sufficient_mmd2(sigma2=0.07, scaled_threshold=2.4, n=400), 4)
    0.0278
    """
    check_number("sigma2", sigma2, 0.0)
    check_number("scaled_threshold", scaled_threshold)
    check_integer("n", n, 4)
    quantile = float(norm.isf(1 / math.sqrt(n)))
    return scaled_threshold / n + math.sqrt(sigma2 / n) * quantile
