"""The stories in examples/ run, and tell what their pages say."""

import os
import re
import runpy
from pathlib import Path

import pytest

from refresh_outputs import same_but_for_seconds

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
DATA = os.environ.get("TELLAPART_DATA")


def told(name, monkeypatch, capsys, *arguments):
    """Run an example as a program and return what it prints."""
    monkeypatch.setattr("sys.argv", [name, *map(str, arguments)])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out


def test_medicine(monkeypatch, capsys, tmp_path):
    page = tmp_path / "medicine.html"
    out = told("medicine.py", monkeypatch, capsys, "--report", page)
    assert "malignant and benign differ (p ≤ 0.001" in out
    assert "means differ (" in out
    assert "worst concave points" in out
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.long
def test_drift_monitoring(monkeypatch, capsys):
    out = told("drift_monitoring.py", monkeypatch, capsys)
    days = [line for line in out.splitlines() if re.match(r" +\d+ ", line)]
    assert len(days) == 14
    spread = "one standard deviation differs (log latency)"
    assert [spread in line.lower() for line in days] == [day >= 8 for day in range(1, 15)]
    pair = "one correlation differs (queue length and retries)"
    assert [pair in line.lower() for line in days] == [day >= 11 for day in range(1, 15)]


def test_single_cell(monkeypatch, capsys, tmp_path):
    page = tmp_path / "groups.html"
    out = told("single_cell.py", monkeypatch, capsys, "--report", page)
    assert "3 of 3 groups of group differ from the rest" in out
    assert re.search(r"^NK +T .* yes +gene 12$", out, re.MULTILINE)
    assert page.stat().st_size > 0


@pytest.mark.parametrize("ending", ["pdf", pytest.param("png", marks=pytest.mark.long)])
def test_paper_figure(monkeypatch, capsys, tmp_path, ending):
    figure = tmp_path / f"figure.{ending}"
    assert "3.35 inches wide" in told("paper_figure.py", monkeypatch, capsys, figure)
    assert figure.stat().st_size > 1_000


def test_quickstart(monkeypatch, capsys, tmp_path):
    figure = tmp_path / "figure.png"
    assert "malignant and benign differ" in told("quickstart.py", monkeypatch, capsys, figure)
    assert figure.stat().st_size > 0


def test_critical_care_says_what_it_needs(monkeypatch, capsys):
    monkeypatch.delenv("TELLAPART_DATA", raising=False)
    with pytest.raises(SystemExit, match="2"):
        told("critical_care.py", monkeypatch, capsys)
    assert "TELLAPART_DATA" in capsys.readouterr().err


@pytest.mark.skipif(DATA is None, reason="TELLAPART_DATA names no folder with critical_care.csv")
def test_critical_care_tells_what_the_tutorial_shows(monkeypatch, capsys):
    tutorial = (ROOT / "docs" / "tutorial" / "patients.md").read_text(encoding="utf-8")
    shown = [
        block
        for block in re.findall(r"^```text\n(.*?)^```$", tutorial, re.DOTALL | re.MULTILINE)
        if "patients with sepsis" in block
    ]
    assert len(shown) == 1
    printed = iter(told("critical_care.py", monkeypatch, capsys, "--data", DATA).splitlines())
    for line in shown[0].splitlines():  # an excerpt, in the same order
        assert line == "…" or any(same_but_for_seconds(other, line) for other in printed), line
