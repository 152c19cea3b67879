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
        What is asked for, in (0, 1).
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
