import numpy as np
import pytest

from tellapart.data.tables import read_samples
from tellapart.errors import InputError
from tellapart.planning.named_effects import (
    DISTRIBUTIONS,
    EffectsOnRows,
    NamedEffects,
    check_effects,
)
from tellapart.planning.resampling import RowSource

ROWS = 40_000


def draw(sizes, **more):
    return NamedEffects(sizes, 4, **more).draw(ROWS, ROWS, np.random.default_rng(0))


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
    x, y = placed.draw(5000, 5000, rng)
    shifts = (y.mean(axis=0) - x.mean(axis=0)) / source.spreads
    assert sorted(shifts.round(0)) == [0.0, 2.0]
    assert "2 numeric columns shifted by 2 spreads" in placed.description


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
