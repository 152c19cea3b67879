"""Effects of pairs and triples: values, level, coverage, and what is not judged."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from tellapart.data.design import Design
from tellapart.effects.estimate import sampling_of
from tellapart.effects.groups import pair_effects, triple_effect


@pytest.fixture
def rng():
    return np.random.default_rng(28)


def normal_pairs(rng, n, rho):
    x = rng.standard_normal((n, 2))
    x[:, 1] = rho * x[:, 0] + math.sqrt(1 - rho**2) * x[:, 1]
    return x


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_correlations_equal_those_of_pandas(rng, scale):
    x, y = np.exp(normal_pairs(rng, 60, 0.7)), rng.poisson(1.0, (50, 2)).astype(float)
    x[3, 0] = x[9, 1] = np.nan
    effect = pair_effects(scale * x + 5 * scale, y)["correlation"]
    expected = [pd.DataFrame(v).corr().iloc[0, 1] for v in (x, y)]
    np.testing.assert_allclose(effect.values, expected, rtol=1e-10)
    assert effect.effect == pytest.approx(expected[0] - expected[1])
    assert effect.measure == "correlation"


def test_missing_rows_are_left_out(rng):
    x, y = normal_pairs(rng, 60, 0.5), normal_pairs(rng, 40, 0.0)
    gaps = x.copy()
    gaps[:20, 0] = gaps[20:30, 1] = np.nan
    for kind, effect in pair_effects(gaps, y).items():
        expected = pair_effects(x[30:], y)[kind]
        assert effect.pvalue == pytest.approx(expected.pvalue)
        assert effect.interval == pytest.approx(expected.interval)


@pytest.mark.parametrize("outlier", [False, True])
def test_interval_contains_no_difference_where_not_significant(rng, outlier):
    for _ in range(20):
        x, y = normal_pairs(rng, 25, 0.6), normal_pairs(rng, 40, 0.2)
        if outlier:
            x[0] = 20.0
        triple = triple_effect(np.c_[x, x.sum(axis=1) ** 2], np.c_[y, y[:, 0]])
        for effect in [*pair_effects(x, y).values(), triple]:
            low, high = effect.limits(1 - 0.99 * effect.pvalue)
            assert low <= 0 <= high
            assert -2 <= low <= effect.effect <= high <= 2 or effect is triple
            if effect.pvalue < 0.9:
                low, high = effect.limits(1 - 1.01 * effect.pvalue)
                assert low > 0 or high < 0 or effect.measure == "correlation"


def test_one_row_makes_no_difference(rng):
    x, y = rng.standard_normal((60, 2)), rng.standard_normal((60, 2))
    x[0] = 50.0
    effect = pair_effects(x, y)["correlation"]
    assert effect.values[0] > 0.9
    assert effect.pvalue > 0.05


def test_sparse_columns_are_not_judged(rng):
    x = (rng.random((130, 30)) < 0.01) * 1.0
    y = (rng.random((570, 30)) < 0.06) * rng.integers(1, 4, (570, 30))
    pairs = list(itertools.combinations(range(30), 2))
    assert not any(pair_effects(x[:, [i, j]], y[:, [i, j]]) for i, j in pairs)


def test_level_of_flags_of_other_prevalence(rng):
    x, y = (rng.random((570, 24)) < 0.1) * 1.0, (rng.random((130, 24)) < 0.3) * 1.0
    pairs = list(itertools.combinations(range(24), 2))
    effects = [pair_effects(x[:, [i, j]], y[:, [i, j]]) for i, j in pairs]
    assert not any("dependence" in effect for effect in effects)
    pvalues = np.array([effect["correlation"].pvalue for effect in effects if effect])
    assert pvalues.size > 200
    assert (pvalues < 0.05).mean() < 0.09
    assert pvalues.min() > 1e-4


@pytest.mark.parametrize(
    ("n_x", "n_y", "change"),
    [(10, 10, None), (12, 60, None), (50, 120, np.exp), (60, 60, np.cbrt)],
    ids=["small", "uneven", "lognormal", "cube root"],
)
def test_level(rng, n_x, n_y, change):
    counts = np.zeros(2)
    for _ in range(200):
        x, y = normal_pairs(rng, n_x, 0.5), normal_pairs(rng, n_y, 0.5)
        effects = pair_effects(*((x, y) if change is None else (change(x), change(y))))
        counts += [effects["correlation"].pvalue < 0.05, _pvalue(effects, "dependence") < 0.05]
    assert (counts <= 18).all()


def test_coverage_of_correlations(rng):
    covered = 0
    for _ in range(200):
        x, y = normal_pairs(rng, 15, 0.8), normal_pairs(rng, 40, 0.1)
        low, high = pair_effects(x, y)["correlation"].interval
        covered += low <= 0.7 <= high
    assert covered >= 0.92 * 200


def test_other_dependence_is_found_by_its_measure(rng):
    n = 300
    y = rng.standard_normal((n, 2))
    together = rng.standard_normal((n, 2)) * np.exp(rng.standard_normal((n, 1)))
    effect = pair_effects(together, y)["dependence"]
    assert effect.measure in (
        "correlation of absolute deviations",
        "correlation of distances from the median",
    )
    assert effect.pvalue < 1e-4
    assert effect.effect > 0.1
    widening = rng.standard_normal((n, 2))
    widening[:, 1] *= np.exp(widening[:, 0])
    for columns, measure in (
        ([0, 1], "correlation of {0} with the absolute deviation of {1}"),
        ([1, 0], "correlation of the absolute deviation of {0} with {1}"),
    ):
        effect = pair_effects(widening[:, columns], y)["dependence"]
        assert effect.measure == measure
        assert effect.pvalue < 1e-4
        assert pair_effects(widening, y)["correlation"].pvalue > 0.001


def test_margins_are_no_dependence(rng):
    x, y = normal_pairs(rng, 300, 0.5), normal_pairs(rng, 300, 0.5)
    plain, changed = pair_effects(x, y), pair_effects(np.exp(2 * x), y)
    assert changed["correlation"].effect < -0.3
    assert changed["dependence"].pvalue == pytest.approx(plain["dependence"].pvalue)
    # Pearson's r is smaller of skewed columns, yet ranks do not depend on each other differently.
    assert changed["correlation"].pvalue > 0.2


@pytest.mark.parametrize("same", ["duplicates", "constant", "empty"])
def test_degenerate_columns(rng, same):
    x, y = rng.standard_normal((50, 2)), rng.standard_normal((40, 2))
    x[:, 1] = {"duplicates": x[:, 0], "constant": 3.1, "empty": np.nan}[same]
    effects = pair_effects(x, y)
    if same != "duplicates":
        assert not effects
        return
    assert effects["correlation"].values[0] == pytest.approx(1.0)
    assert effects["correlation"].pvalue < 1e-6
    low, high = effects["correlation"].interval
    assert 0.3 < low < high <= 2
    y[:, 1] = y[:, 0]
    assert pair_effects(x, y)["correlation"].pvalue == 1.0


def test_clusters_and_pairs(rng):
    units, rows = 12, 15
    # Rows of a unit share both columns: there are 12 independent values a sample, not 180.
    effects, counted = [], []
    for _ in range(60):
        x, y = (np.repeat(normal_pairs(rng, units, 0.0), rows, axis=0) for _ in range(2))
        x, y = (v + 0.1 * rng.standard_normal(v.shape) for v in (x, y))
        labels = np.repeat(np.arange(units), rows)
        blocks = np.zeros(units * rows, dtype=np.intp)
        design = Design((blocks, blocks), (labels, labels + units), None)
        effects.append(pair_effects(x, y, sampling_of(design))["correlation"].pvalue < 0.05)
        counted.append(pair_effects(x, y)["correlation"].pvalue < 0.05)
    assert sum(counted) > 30
    assert sum(effects) <= 10


def test_triples(rng):
    x, y = rng.standard_normal((200, 3)), rng.standard_normal((150, 3)) * [1, 5, 0.1]
    assert triple_effect(x, y).pvalue > 0.01
    x[:, 2] = np.abs(x[:, 2]) * np.sign(x[:, 0] * x[:, 1])
    effect = triple_effect(np.exp(x), y)
    assert effect.measure == "three-way interaction of signs"
    assert effect.pvalue < 1e-6
    assert effect.values[0] > 0.6
    flags = (x > 0) * 1.0
    assert triple_effect(flags, (y > 0) * 1.0).values[0] == pytest.approx(effect.values[0], abs=0.3)
    rare = (rng.random((200, 3)) < 0.1) * 1.0
    assert triple_effect(rare, y) is None


def test_level_of_triples(rng):
    counts = 0
    for _ in range(200):
        x, y = np.exp(rng.standard_normal((30, 3))), rng.standard_normal((80, 3))
        counts += triple_effect(x, y).pvalue < 0.05
    assert counts <= 18


def _pvalue(effects, kind):
    return effects[kind].pvalue if kind in effects else 1.0
