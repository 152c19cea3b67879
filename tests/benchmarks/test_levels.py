"""The runner of the benchmarks of the level: verdicts, and results that are joined and complete."""

import numpy as np
import pytest

import bench_designs
import bench_scan_level
import levels
import store
from levels import Setting, judge, run


def coin(chance):
    return lambda rng: {"scan": bool(rng.random() < chance), "rejected": True}


SETTINGS = [
    Setting("fair", "coin", 19, coin(0.05), pairs=200),
    Setting("fair", "coin", 39, coin(0.05), pairs=100),
    Setting("loaded", "coin", 19, coin(0.5), pairs=200),
]


@pytest.fixture
def results(monkeypatch, tmp_path):
    monkeypatch.setattr(store, "RESULTS", tmp_path)
    monkeypatch.setattr(levels, "RESULTS", tmp_path)
    return tmp_path


def verdicts(rows):
    return {
        (row["part"], int(row["permutations"])): row["verdict"]
        for row in rows
        if row["what"] == "scan"
    }


def test_rates_are_judged_by_their_band():
    assert [judge("scan", rate, 1_000) for rate in (0.02, 0.029, 0.074, 0.075)] == [
        *("below", "inside", "inside", "above")
    ]
    assert judge("rejected", 1.0, 1_000) == "power"


def test_parts_are_joined_and_a_run_goes_on_where_it_ended(results, capsys):
    first = run("coins", "# Coins", SETTINGS, ["--only", "loaded"])
    assert verdicts(first) == {("loaded", 19): "above"}
    assert "2 settings are not measured yet" in (results / "coins.md").read_text(encoding="utf-8")
    rest = run("coins", "# Coins", SETTINGS, ["--resume"])
    assert verdicts(rest) == {("fair", 19): "inside", ("fair", 39): "inside"}
    joined = [row for rows in levels.on_file("coins").values() for row in rows]
    assert verdicts(joined) == verdicts(first) | verdicts(rest)
    assert [row["part"] for row in joined] == ["fair"] * 4 + ["loaded"] * 2
    text = (results / "coins.md").read_text(encoding="utf-8")
    assert "Of 3 rates 1 lie above the band" in text
    assert "not measured yet" not in text
    assert run("coins", "# Coins", SETTINGS, ["--resume"]) == []
    assert "[2/3" in capsys.readouterr().out


def test_a_quick_run_stores_nothing_and_pairs_are_the_same_every_time(results):
    run("coins", "# Coins", SETTINGS, ["--quick"])
    assert list(results.iterdir()) == []
    one, other = ([SETTINGS[0].answer(i)[0] for i in range(50)] for _ in range(2))
    assert one == other
    assert one != [SETTINGS[1].answer(i)[0] for i in range(50)]


def test_a_pattern_that_matches_nothing_is_refused(results, capsys):
    with pytest.raises(SystemExit):
        run("coins", "# Coins", SETTINGS, ["--only", "dice"])
    assert "it matches none" in capsys.readouterr().err


@pytest.mark.parametrize("script", [bench_scan_level, bench_designs])
def test_settings_have_names_of_their_own_and_enough_pairs(script):
    settings = script.settings()
    assert len({setting.key for setting in settings}) == len(settings)
    assert min(setting.pairs for setting in settings) >= 300


def test_every_way_through_the_scan_is_measured():
    settings = bench_scan_level.settings() + bench_designs.settings()
    parts = {setting.part for setting in settings}
    assert {"degenerate", "bins", "chunks", "blocks", "groups", "monitors", "names"} <= parts
    assert sum(setting.part == "degenerate" for setting in settings) >= 15
    names = {(s.name, s.permutations) for s in settings if s.part == "names"}
    assert len({name for name, _ in names}) >= 6
    assert {count for _, count in names} == {59, 199, 999}
    ratios = " ".join(setting.name for setting in settings if setting.part == "ratios")
    assert all(f"1:{ratio}" in ratios for ratio in (1, 5, 20, 40))


def test_one_pair_of_each_way_through_the_scan():
    for setting in bench_scan_level.settings():
        if setting.part in ("chunks", "blocks"):
            answers, _ = setting.answer(0)
            assert isinstance(answers["scan"], bool | np.bool_)
