import numpy as np
import pandas as pd
import pytest

from tellapart.data.reader import read_samples
from tellapart.errors import InputError
from tellapart.planning.named_effects import (
    DISTRIBUTIONS,
    EffectsOnRows,
    NamedEffects,
    check_effects,
)
from tellapart.planning.simulation import RowSource, reach, tilt

ROWS = 40_000


def draw(sizes, **more):
    return NamedEffects(sizes, 4, **more).draw(ROWS, ROWS, np.random.default_rng(0))[:2]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_columns_are_standardised_and_differ_as_named(distribution):
    x, y = draw({"location": 0.5, "spread": 2.0}, n_differing=2, distribution=distribution)
    loose = 0.25 if distribution == "heavy-tailed" else 0.04
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=0.05)
    np.testing.assert_allclose(x.std(axis=0), 1, atol=loose)
    np.testing.assert_allclose(y.mean(axis=0), [0.5, 0.5, 0, 0], atol=0.05)
    np.testing.assert_allclose(y.std(axis=0), [2, 2, 1, 1], atol=2 * loose)


def test_correlations_are_those_named():
    x, y = draw({"correlation": 0.4}, n_differing=2, correlation=0.2)
    of_x, of_y = np.corrcoef(x.T), np.corrcoef(y.T)
    assert of_x[0, 1] == pytest.approx(0.2, abs=0.02)
    assert of_y[0, 1] == pytest.approx(0.6, abs=0.02)
    assert of_y[2, 3] == pytest.approx(0.6, abs=0.02)
    assert of_y[0, 2] == pytest.approx(0.2, abs=0.02)


def test_effects_on_rows_move_one_numeric_column_in_its_own_units():
    rng = np.random.default_rng(1)
    rows = np.column_stack([100 * rng.normal(size=200), rng.normal(size=200)])
    source = RowSource.of(read_samples(rows, rows))
    placed = EffectsOnRows(source, {"location": 2.0})
    x, y, _ = placed.draw(5000, 5000, rng)
    shifts = (y.mean(axis=0) - x.mean(axis=0)) / source.spreads
    assert sorted(shifts.round(0)) == [0.0, 2.0]
    assert "2 columns with means that differ by 2 SD" in placed.description


@pytest.mark.parametrize(
    ("effects", "message"),
    [
        (None, "effects must be a mapping"),
        ({}, "effects must be a mapping"),
        ({"shift": 1.0}, "effects must be one of 'location'"),
        ({"location": "big"}, r"effects\['location'\] must be a finite number"),
        ({"spread": 0.0}, r"effects\['spread'\]"),
        ({"location": 0.0, "spread": 1.0}, "must name a difference"),
    ],
)
def test_bad_effects_are_refused(effects, message):
    with pytest.raises(InputError, match=message):
        check_effects(effects)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_columns": 1, "sizes": {"correlation": 0.5}}, "n_columns must be at least 2"),
        ({"n_columns": 3, "n_differing": 4}, "n_differing must be an integer in 1..3"),
        ({"n_columns": 3, "distribution": "cauchy"}, "distribution must be one of"),
        ({"n_columns": 3, "correlation": -0.9}, "must be possible together"),
        ({"n_columns": 3, "sizes": {"correlation": 1.5}}, "must be possible together"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        NamedEffects(**({"sizes": {"location": 1.0}} | settings))


def test_correlations_on_rows_are_refused():
    rows = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(InputError, match="leave X out and give n_columns"):
        EffectsOnRows(RowSource.of(read_samples(rows, rows)), {"correlation": 0.2})


def scores_table(rows=400):
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "flag": (rng.random(rows) < 0.3).astype(int),
            "likert": rng.choice([1, 2, 3, 4, 5], rows, p=[0.1, 0.2, 0.4, 0.2, 0.1]),
            "count": rng.poisson(3.0, rows),
            "kind": rng.choice(["a", "b", "c"], rows, p=[0.2, 0.5, 0.3]),
            "size": rng.normal(size=rows),
        }
    )


def effects_on(table, sizes, n_differing=1):
    return EffectsOnRows(
        RowSource.of(read_samples(table, table).rows(np.arange(len(table)), np.arange(0))),
        sizes,
        n_differing,
    )


@pytest.mark.parametrize("column", ["flag", "likert", "count", "kind"])
@pytest.mark.parametrize("location", [0.3, -0.4])
def test_effects_on_discrete_columns_move_the_mean_and_keep_the_values(column, location):
    table = scores_table()[[column]]
    x, y, _ = effects_on(table, {"location": location}).draw(ROWS, ROWS, np.random.default_rng(0))
    assert set(np.unique(y)) <= set(np.unique(x))
    if column == "kind":  # the most frequent of three
        x, y = x == 1, y == 1
    assert (y.mean() - x.mean()) / x.std() == pytest.approx(location, abs=0.03)


@pytest.mark.parametrize("sizes", [{"spread": 1.3}, {"spread": 0.7, "location": 0.4}])
@pytest.mark.parametrize("column", ["likert", "count"])
def test_spreads_of_discrete_columns_change_by_their_probabilities(column, sizes):
    table = scores_table()[[column]]
    x, y, _ = effects_on(table, sizes).draw(ROWS, ROWS, np.random.default_rng(0))
    assert set(np.unique(y)) <= set(np.unique(x))
    assert y.std() / x.std() == pytest.approx(sizes["spread"], abs=0.02)
    shift = (y.mean() - x.mean()) / x.std()
    assert shift == pytest.approx(sizes.get("location", 0.0), abs=0.03)


def test_other_columns_and_dependence_stay_where_a_discrete_one_is_tilted():
    rng = np.random.default_rng(0)
    base = rng.normal(size=600)
    table = pd.DataFrame(
        {"score": np.clip(np.round(base + 3), 1, 5), "v": base + rng.normal(size=600)}
    )
    effects = effects_on(table, {"location": 0.5})
    effects.able[:] = 0
    x, y, changed = effects.draw(ROWS, ROWS, rng)
    assert changed == ((0,),)
    assert y[:, 1].mean() == pytest.approx(x[:, 1].mean(), abs=0.04)
    assert np.corrcoef(y.T)[0, 1] == pytest.approx(np.corrcoef(x.T)[0, 1], abs=0.04)


def test_effects_out_of_reach_are_refused_with_the_largest_possible():
    table = scores_table()
    flags = table["flag"].mean()
    largest = (1 - flags) / np.sqrt(flags * (1 - flags))
    with pytest.raises(InputError, match=rf"'flag': location from -.* to {largest:.3g} SD"):
        effects_on(table[["flag"]], {"location": 3.0})
    with pytest.raises(InputError, match=r"'likert': spread from 0.* to 1.86"):
        effects_on(table[["likert"]], {"spread": 3.0})
    with pytest.raises(InputError, match="two values have no spread apart"):
        effects_on(table[["flag"]], {"spread": 1.2})
    with pytest.raises(InputError, match="categories have no spread"):
        effects_on(table[["kind"]], {"spread": 1.2})


def test_columns_out_of_reach_are_not_drawn():
    effects = effects_on(scores_table(), {"location": 3.0})
    assert effects.able.tolist() == [2, 4]
    assert "1 of 2 columns (3 others do not allow that)" in effects.description


def test_tilting_is_exact_up_to_the_edges():
    rng = np.random.default_rng(0)
    for _ in range(100):
        values = np.unique(rng.integers(0, 30, rng.integers(3, 12))).astype(float)
        if values.size < 3:
            continue
        p = rng.dirichlet(np.ones(values.size))
        mean, sd = p @ values, np.sqrt(p @ (values - p @ values) ** 2)
        low, high = reach(values, p, 0.0, False)[0]
        location = low + (high - low) * rng.uniform(0.02, 0.98)
        q = tilt(values, p, location, None)
        assert (q @ values - mean) / sd == pytest.approx(location, abs=1e-6)
        least, most = reach(values, p, location, True)[1]
        spread = least + (most - least) * rng.uniform(0.05, 0.95)
        q = tilt(values, p, location, spread)
        assert (q @ values - mean) / sd == pytest.approx(location, abs=1e-6)
        assert np.sqrt(q @ (values - q @ values) ** 2) / sd == pytest.approx(spread, abs=1e-6)
