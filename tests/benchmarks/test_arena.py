"""The arena draws the same pairs every time, and stores what comes of them, failures too."""

import numpy as np
import pandas as pd
import pytest

from arena import measure, run
from arena.kinds import GROUPS, KINDS, available, draw_pair
from arena.methods import METHODS, Method
from arena.summary import Cell, beside, cells, lead, mean_power, wins
from arena.table import standardised


def frames(kind, pair):
    return [pd.DataFrame(side) for side in draw_pair(kind, pair)]


@pytest.mark.parametrize("kind", available())
def test_kinds_draw_whole_tables_of_the_same_columns(kind):
    X, Y = frames(kind, 0)
    assert list(X.columns) == list(Y.columns)
    assert min(len(X), len(Y)) > 10
    assert not pd.concat([X, Y]).isna().any(axis=None)
    pair = standardised(X, Y)
    assert np.isfinite(np.concatenate([pair.X, pair.Y])).all()


@pytest.mark.parametrize("kind", available())
def test_a_pair_is_the_same_every_time_and_no_other_is(kind):
    X, Y = frames(kind, 3)
    again, other = frames(kind, 3), frames(kind, 4)
    pd.testing.assert_frame_equal(X, again[0])
    pd.testing.assert_frame_equal(Y, again[1])
    assert not X.equals(other[0])


def test_kinds_say_what_they_are():
    assert sum(kind.null for kind in KINDS.values()) == 5
    assert sum(not kind.null for kind in KINDS.values()) >= 20
    assert all(kind.what.endswith(".") for kind in KINDS.values())
    assert sorted(KINDS) == sorted(name for names in GROUPS.values() for name in names)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if not method.needs])
def test_methods_at_hand_see_a_shift_and_take_categories(name):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "c": rng.choice(["u", "v"], 60)})
    Y = pd.DataFrame({"a": rng.normal(size=50) + 3, "c": rng.choice(["u", "v"], 50)})
    verdict = METHODS[name].test(X, Y, 0)
    assert verdict.rejected
    assert 0 < verdict.pvalue <= 0.05


@pytest.fixture
def _two_methods(monkeypatch, tmp_path):
    def broken(X, Y, seed):
        raise ZeroDivisionError("no\nrows")

    monkeypatch.setattr(measure, "VERDICTS", tmp_path)
    monkeypatch.setitem(METHODS, "broken", Method("broken", "", broken))


@pytest.mark.usefixtures("_two_methods")
def test_rows_are_stored_once_and_failures_with_them():
    for pairs in (2, 3):
        run.main(["--pairs", str(pairs), "--methods", "broken", "columns-t", "--kinds", "mean_one"])
    rows = measure.verdicts("broken").rows()
    assert [row["pair"] for row in rows] == ["0", "1", "2"]
    assert {row["error"] for row in rows} == {"ZeroDivisionError: no rows"}
    found = cells(["broken", "columns-t"])
    assert found["mean_one", "broken"].failed == 3
    assert found["mean_one", "broken"].rate == 0
    assert found["mean_one", "columns-t"].failed == 0


def test_a_lead_must_be_large_and_more_than_chance():
    def cell(rejected, pairs):
        return Cell("kind", "method", {i: i < rejected for i in range(pairs)}, 0, 0.0)

    found = lead(cell(60, 100), cell(30, 100))
    assert found is not None
    assert (found.rate, found.other) == (0.6, 0.3)
    assert lead(cell(60, 100), cell(52, 100)) is None
    assert lead(cell(6, 10), cell(3, 10)) is None
    assert lead(cell(30, 100), cell(60, 100)) is None


def test_winners_are_close_to_the_best_of_kinds_that_somebody_sees():
    def cell(kind, method, rejected):
        return Cell(kind, method, {i: i < rejected for i in range(100)}, 0, 0.0)

    powers = {"wave": (60, 58, 20), "gap": (10, 5, 12), "bump": (70, 90, 80)}
    found = {
        (kind, method): cell(kind, method, rejected)
        for kind, own in powers.items()
        for method, rejected in zip(("scan", "one", "two"), own, strict=True)
    }
    assert wins(found, ["scan", "one", "two"], list(powers)) == {"scan": 1, "one": 2, "two": 0}
    ours = beside(found, "scan", ["one", "two"], ["wave", "bump"])
    assert ours.method == "one"
    assert ours.own == pytest.approx(0.65)
    assert ours.best == pytest.approx(0.74)
    assert ours.each == pytest.approx(0.74)
    assert mean_power(found, "scan", ["wave", "hole"]) is None
    assert beside(found, "scan", ["one"], ["hole"]) is None
