"""Limits of all effects at once: how wide, and how often they hold."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tellapart.data.reader import read_samples
from tellapart.effects.simultaneous import Multipliers, simultaneous_effects


def effects_of(x, y, **options):
    return simultaneous_effects(read_samples(x, y, **options))


def test_copies_of_one_effect_cost_no_more_than_one():
    parts = np.random.default_rng(0).normal(size=(100, 1)) / 10
    maxima = Multipliers(0).maxima(np.repeat(parts, 50, axis=1))
    assert np.quantile(maxima, 0.95) == pytest.approx(stats.norm.ppf(0.975), abs=0.1)


def test_maxima_are_those_of_normal_variables_with_the_same_correlations():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(400, 8)) + 1.5 * rng.normal(size=(400, 1))
    rows -= rows.mean(axis=0)
    parts = rows / np.sqrt(np.square(rows).sum(axis=0))
    ours = np.quantile(Multipliers(0).maxima(parts), [0.5, 0.9, 0.95])
    drawn = rng.multivariate_normal(np.zeros(8), parts.T @ parts, size=20_000)
    known = np.quantile(np.abs(drawn).max(axis=1), [0.5, 0.9, 0.95])
    assert ours == pytest.approx(known, rel=0.04)


def test_units_that_share_multipliers_give_the_same_maxima():
    parts = np.random.default_rng(2).normal(size=(5000, 20)) / np.sqrt(5000)
    bound = stats.norm.ppf(1 - 0.025 / 20)
    assert np.quantile(Multipliers(0).maxima(parts), 0.95) == pytest.approx(bound, rel=0.03)


def test_levels_are_between_bonferronis_and_those_of_one_effect():
    rng = np.random.default_rng(3)
    effects = effects_of(rng.normal(size=(60, 6)), rng.normal(size=(50, 6)))
    for kind, tail in effects.tails(0.95).items():
        assert 0.025 / (3 * effects.kinds[kind].effects.size) <= tail <= 0.025


def test_the_share_of_draws_beyond_any_limit_is_that_of_the_error():
    rng = np.random.default_rng(4)
    shared = [rng.normal(size=(80, 1)) for _ in range(2)]
    effects = effects_of(*(0.3 * rng.normal(size=(80, 6)) + own for own in shared))
    beyond = np.zeros(effects.n_draws, dtype=bool)
    for kind, tail in effects.tails(0.9).items():
        beyond |= effects.kinds[kind].maxima > stats.norm.isf(tail)
    assert 0.05 < beyond.mean() <= 0.1


def test_every_kind_of_column_has_its_effects():
    rng = np.random.default_rng(5)
    tables = [
        pd.DataFrame(
            {
                "age": rng.normal(50, 10, n),
                "dose": np.where(rng.random(n) < 0.2, np.nan, rng.exponential(size=n)),
                "smoker": (rng.random(n) < 0.3).astype(float),
                "arm": rng.choice(["a", "b", "c"], n),
                "sex": rng.choice(["no", "yes"], n),
                "site": np.ones(n),
            }
        )
        for n in (90, 110)
    ]
    effects = effects_of(*tables, missing="pairwise")
    named = {
        kind: list(zip(own.variables, own.levels, strict=True))
        for kind, own in effects.kinds.items()
    }
    assert named["location"] == named["spread"] == [(("age",), ""), (("dose",), "")]
    assert sorted(named["share"]) == [
        (("arm",), "a"),
        (("arm",), "b"),
        (("arm",), "c"),
        (("sex",), "yes"),
        (("smoker",), ""),
    ]
    assert named["missing"] == [(("dose",), "")]
    assert [pair for pair, _ in named["correlation"]] == [
        ("age", "dose"),
        ("age", "smoker"),
        ("dose", "smoker"),
    ]
    x, y = tables
    known = (x["arm"] == "b").mean() - (y["arm"] == "b").mean()
    place = named["share"].index((("arm",), "b"))
    assert effects.kinds["share"].effects[place] == pytest.approx(known)
    known = x[["age", "dose"]].corr().iloc[0, 1] - y[["age", "dose"]].corr().iloc[0, 1]
    assert effects.kinds["correlation"].effects[0] == pytest.approx(known)


def test_neither_the_order_of_rows_nor_that_of_samples_matters():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(50, 4)), rng.normal(size=(70, 4))
    known = effects_of(x, y).tails(0.95)
    assert effects_of(x[::-1], rng.permutation(y)).tails(0.95) == pytest.approx(known)
    assert effects_of(y, x).tails(0.95) == pytest.approx(known)


def test_adjusted_pvalues_agree_with_the_limits():
    rng = np.random.default_rng(7)
    effects = effects_of(rng.normal(size=(60, 5)), rng.normal(size=(60, 5)))
    tail = effects.tails(0.95)["location"]
    pvalues = 2 * tail * np.array([0.8, 1.25])
    below, above = effects.adjusted("location", pvalues)
    assert below <= 0.05 < above
    assert (effects.adjusted("location", np.array([1.0])) == 1).all()


def test_too_many_pairs_have_no_limits_and_a_reason():
    rng = np.random.default_rng(8)
    effects = effects_of(rng.normal(size=(20, 700)), rng.normal(size=(2000, 700)))
    assert "correlation" not in effects.kinds
    assert "244,650 pairs" in effects.without["correlation"]


@pytest.mark.long
@pytest.mark.parametrize("draw", ["normal", "exponential", "standard_t"])
def test_coverage(draw):
    rng = np.random.default_rng(9)
    given = {"standard_t": {"df": 3}}.get(draw, {})
    held = 0
    for _ in range(200):
        x, y = (getattr(rng, draw)(**given, size=(60, 5)) for _ in range(2))
        effects = effects_of(x, y)
        inside = True
        for kind, tail in effects.tails(0.95).items():
            low, high = effects.kinds[kind].limits(tail)
            truth = 1 if kind == "spread" else 0
            inside &= bool(((low <= truth) & (truth <= high)).all())
        held += inside
    assert held >= 180
