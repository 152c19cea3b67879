import numpy as np
import pytest

from tellapart.errors import InputError
from tellapart.statistics.mmd import effective_size, mmd2
from tellapart.theory import ExampleOne, NullLimit, normal_power, rows_for_power

TAU2, EPSILON = 1.3, 0.7


def gram(u, v):
    return np.exp(-(np.subtract.outer(u, v) ** 2) / (2 * TAU2))


def draw(rng, m, n):
    return rng.normal(size=m), (1 + EPSILON) * rng.normal(size=n)


def sigma2_of(m, n):
    """Give σ² of unequal samples from many rows: 4ñ (var p/m + var q/n)."""
    x, y = draw(np.random.default_rng(5), 3000, 3000)
    cross = gram(x, y)
    p = gram(x, x).mean(axis=1) - cross.mean(axis=1)
    q = gram(y, y).mean(axis=1) - cross.mean(axis=0)
    return 4 * effective_size(m, n) * (p.var() / m + q.var() / n)


@pytest.mark.parametrize(
    ("m", "n"),
    [
        (60, 60),
        *(
            pytest.param(m, n, marks=pytest.mark.long)
            for m, n in ((200, 60), (60, 200), (200, 200))
        ),
    ],
)
def test_power_agrees_with_simulation(m, n):
    rng = np.random.default_rng(0)
    pooled = np.concatenate(draw(rng, round(900 * m / (m + n)), round(900 * n / (m + n))))
    limit = NullLimit.of_gram(gram(pooled, pooled), m, n)
    threshold = limit.quantile(0.95)
    rejected = []
    for _ in range(1500):
        x, y = draw(rng, m, n)
        rejected.append(mmd2(gram(x, x), gram(y, y), gram(x, y)) > threshold)
    example = ExampleOne(TAU2**0.5, EPSILON)
    predicted = normal_power(example.mmd2, sigma2_of(m, n), threshold, m, n, limit.variance)
    assert predicted == pytest.approx(np.mean(rejected), abs=0.06)


def test_rows_for_power_reach_it_and_no_fewer_do():
    for ratio in (1.0, 0.25, 3.0):
        m, n = rows_for_power(0.02, 0.05, 2.0, 0.9, ratio, scaled_null_variance=1.5)

        def power(m, n):
            size = effective_size(m, n)
            return normal_power(0.02, 0.05, 2.0 / size, m, n, 1.5 / size**2)

        assert power(m, n) >= 0.9
        fewer = max(m - 8, 2)
        assert power(fewer, max(round(fewer * ratio), 2)) < 0.9


def test_without_variance_it_is_certain():
    assert normal_power(0.2, 0.0, 0.1, 10) == 1.0
    assert normal_power(0.05, 0.0, 0.1, 10) == 0.0


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="mmd2 must be"):
        rows_for_power(0.0, 1.0, 1.0)
    with pytest.raises(InputError, match="power must be"):
        rows_for_power(0.1, 1.0, 1.0, power=1.0)
    with pytest.raises(InputError, match="sigma2 must be"):
        normal_power(0.1, -1.0, 0.1, 10)
