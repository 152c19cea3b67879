"""The benchmark of the monitor counts delays and false alarms as it says."""

import bench_monitor
from bench_monitor import EVER, RATE, Sizes, first_alarm, told, uniform_false_alarms


def test_delays_are_counted_from_the_change():
    assert first_alarm(EVER, [1e-4]) == 1
    assert first_alarm(EVER, [0.9, 0.5, 1e-4, 1e-4]) == 3
    assert first_alarm(RATE, [0.5] * 20) is None
    assert told([1, 2, None], horizon=5) == "2 (2 of 3)"
    assert told([1, None, None], horizon=5) == "none (1 of 3)"


def test_parts_are_kept_beside_new_ones(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench_monitor, "RESULTS", tmp_path)
    monkeypatch.setattr("store.RESULTS", tmp_path)
    sizes = Sizes(uniform_sequences=20, uniform_checks=30)
    bench_monitor.main(sizes, ["uniform"], keep=True)
    once = (tmp_path / "monitor.md").read_text(encoding="utf-8")
    bench_monitor.main(sizes, [], keep=True)
    assert (tmp_path / "monitor.md").read_text(encoding="utf-8") == once
    assert [row["promise"] for row in uniform_false_alarms(sizes)] == ["ever", "run length 1,000"]
    assert "bets on uniform p-values" in capsys.readouterr().out
