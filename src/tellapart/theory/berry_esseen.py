"""The paper's bound on power, with constants: how far MMD² is from its normal limit at most."""

from __future__ import annotations

import math

from scipy.stats import norm

from tellapart.arguments import check_integer, check_number


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
    half = math.sqrt(sigma2) / 2
    linear = 6.1 * third_moment / (math.sqrt(n) * half**3)
    rest = (1 + math.sqrt(2)) * math.sqrt(variance_h) / (math.sqrt(2 * (n - 1)) * half)
    return linear + rest


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
