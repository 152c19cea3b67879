"""Sizes from rows alone: the aspects there are, what they say, and which shows the most."""

import math

import numpy as np
import pandas as pd
import pytest

from tellapart.data.samples import Samples
from tellapart.data.tables import read_samples
from tellapart.scan.finding import LOCATION, SHAPE, SPREAD, Finding
from tellapart.scan.sizes import Sizes, clearness, strongest

EVERY = (LOCATION, SPREAD, SHAPE)


def numbers(n_x: int = 400, n_y: int = 300) -> Samples:
    """Columns: shifted by one spread; three times the spread; alike; correlated in X with that."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(n_x, 4)), rng.normal(size=(n_y, 4))
    X[:, 0] += 1
    X[:, 1] *= 3
    X[:, 3] = 0.8 * X[:, 2] + 0.6 * X[:, 3]
    return read_samples(X, Y)


def sizes_of(samples: Samples, groups: tuple[tuple[int, ...], ...] = ()) -> Sizes:
    return Sizes(samples, range(samples.n_columns), groups, np.random.default_rng(0))


def test_the_size_of_a_shift_is_that_of_the_formula():
    samples = numbers()
    found = sizes_of(samples).aspects((0,), (LOCATION,))[LOCATION, ""]()
    x, y = samples.x[:, 0], samples.y[:, 0]
    pooled = math.sqrt((x.size * x.var() + y.size * y.var()) / (x.size + y.size))
    # Values far out are clipped, at 3.5 spreads.
    assert found.effect == pytest.approx((x.mean() - y.mean()) / pooled, abs=0.03)
    assert found.interval[0] < found.effect < found.interval[1]
    assert found.values == pytest.approx((x.mean(), y.mean()), abs=0.03)
    assert math.isnan(found.pvalue)


def test_the_clearest_aspect_is_told():
    samples = numbers()
    sizes = sizes_of(samples)
    kinds = [strongest(sizes.aspects((s,), EVERY))[0][0] for s in (0, 1)]
    assert kinds == [LOCATION, SPREAD]
    spread = sizes.aspects((1,), (SPREAD,))[SPREAD, ""]()
    assert spread.effect == pytest.approx(3, rel=0.15)


@pytest.mark.parametrize("rows", [(400, 300), (3_000, 2_500)], ids=["rows", "bins"])
def test_a_pair_is_told_by_its_correlation(rows):
    samples = numbers(*rows)
    aspects = sizes_of(samples, ((2, 3),)).aspects((2, 3))
    _, found = strongest(aspects)
    assert (found.kind, found.variables) == ("correlation", ("x2", "x3"))
    assert found.values == pytest.approx((0.8, 0.0), abs=0.12)
    # Products of different scores are looked at both ways.
    assert len(aspects) == 7


def test_a_triple_is_told_by_a_product():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(500, 3)), rng.normal(size=(500, 3))
    X[:, 2] = np.abs(X[:, 2]) * np.sign(X[:, 0] * X[:, 1])
    _, found = strongest(sizes_of(read_samples(X, Y), ((0, 1, 2),)).aspects((0, 1, 2)))
    assert found.kind == "triple"
    assert found.values == pytest.approx((1, 0), abs=0.1)


def test_levels_frequent_values_and_columns_of_two_values():
    rng = np.random.default_rng(2)

    def table(size: int, shares: list[float], zeros: float) -> pd.DataFrame:
        values = np.where(rng.random(size) < zeros, 0.0, rng.normal(size=size))
        return pd.DataFrame(
            {
                "kind": rng.choice(list("abc"), size, p=shares),
                "rain": values,
                "yes": rng.integers(2, size=size),
                "still": 1.0,
            }
        )

    samples = read_samples(table(400, [0.6, 0.2, 0.2], 0.5), table(300, [0.2, 0.2, 0.6], 0.0))
    sizes = sizes_of(samples, ((0, 1),))
    level, found = strongest(sizes.aspects((0,), (SPREAD,)))
    assert level in {("share", "a"), ("share", "c")}
    assert abs(found.effect) == pytest.approx(0.4, abs=0.1)
    assert strongest(sizes.aspects((1,), (SHAPE,)))[1].measure == "share of the value 0"
    # Two values have a share and no shape; what never varies has nothing; categories no product.
    assert list(sizes.aspects((2,), EVERY)) == [(LOCATION, "")]
    assert sizes.aspects((3,), EVERY) == {}
    assert sizes.aspects((0, 1)) == {}
    assert strongest({}) is None


def test_clearness_of_a_ratio_is_that_of_its_logarithm():
    def ratio(effect: float, low: float, high: float) -> Finding:
        return Finding("spread", ("a",), 0.5, effect, (low, high), (1, 1), "spread")

    assert clearness(ratio(2, 1.6, 2.5)) == pytest.approx(clearness(ratio(0.5, 0.4, 1 / 1.6)))
    assert clearness(ratio(1, 0.8, 1.25)) == 0
    assert clearness(ratio(0, 0, 0)) == math.inf
