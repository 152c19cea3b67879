import numpy as np
import pytest
from scipy.stats import norm

from tellapart.errors import InputError
from tellapart.statistics.mmd import mmd2
from tellapart.theory import ExampleOne, kolmogorov_bound, power_bound, sufficient_mmd2

TAU2, EPSILON = 1.3, 4.0


def kernel(u, v):
    return np.exp(-((u - v) ** 2) / (2 * TAU2))


def draw(rng, n):
    return rng.normal(size=n), (1 + EPSILON) * rng.normal(size=n)


def moments(seed=3, n=2000):
    """Give E|g − E g|³ and var H from many rows."""
    x, y = draw(np.random.default_rng(seed), n)
    h = kernel(x[:, None], x) + kernel(y[:, None], y)
    h -= kernel(x[:, None], y) + kernel(y[:, None], x)
    g = h.mean(axis=1)
    return float(np.mean(np.abs(g - g.mean()) ** 3)), float(h[~np.eye(n, dtype=bool)].var())


def statistics(n, repeats, seed=4):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(repeats):
        x, y = draw(rng, n)
        grams = kernel(x[:, None], x), kernel(y[:, None], y), kernel(x[:, None], y)
        found.append(mmd2(*grams, "paired"))
    return np.array(found)


def test_distance_to_the_normal_law_stays_below_the_bound():
    example, n = ExampleOne(TAU2**0.5, EPSILON), 100
    drawn = np.sort(statistics(n, 1000))
    scaled = np.sqrt(n) * (drawn - example.mmd2) / np.sqrt(example.sigma2)
    places = np.arange(1, len(drawn) + 1) / len(drawn)
    far = np.abs(places - norm.cdf(scaled)).max()
    assert far < kolmogorov_bound(example.sigma2, *moments(), n)


def test_power_is_at_least_the_bound_and_the_bound_says_something():
    example, n = ExampleOne(TAU2**0.5, EPSILON), 30_000
    bound = power_bound(example.mmd2, example.sigma2, *moments(), 0.01, n)
    assert 0.5 < bound < 1
    # Fewer rows have less power, and even they pass the threshold every time.
    assert (statistics(400, 100) > 0.01).mean() >= bound


def test_risk_falls_like_one_over_root_n():
    third, variance_h = moments()
    bounds = [kolmogorov_bound(0.1, third, variance_h, n) for n in (10_000, 40_000, 160_000)]
    assert bounds[0] / bounds[1] == pytest.approx(2, rel=1e-3)
    assert bounds[1] / bounds[2] == pytest.approx(2, rel=1e-3)


def test_sufficient_mmd2_leaves_the_normal_risk_it_names():
    n, sigma2, tau = 900, 0.04, 2.0
    mean = sufficient_mmd2(sigma2, tau, n)
    risk = norm.cdf((tau / n - mean) * np.sqrt(n / sigma2))
    assert risk == pytest.approx(1 / np.sqrt(n))
    # Without σ, as printed, much more would be asked for.
    assert tau / n + norm.isf(1 / np.sqrt(n)) / np.sqrt(n) > 2 * mean


def test_a_threshold_above_the_mean_promises_nothing():
    assert power_bound(0.1, 0.1, 0.01, 0.1, 0.5, 100) == 0.0


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="sigma2"):
        kolmogorov_bound(0.0, 1.0, 1.0, 10)
    with pytest.raises(InputError, match="n must be"):
        sufficient_mmd2(1.0, 1.0, 3)
