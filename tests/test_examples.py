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
