"""Missing values on the command line: the policy, what is told of it, and errors in its words."""

import json

import numpy as np
import pytest

from tellapart.cli import run

QUICK = ["--permutations", "199", "--seed", "0"]


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    paths = []
    for name, share in (("january", 0.4), ("july", 0.0)):
        values = rng.normal(size=(150, 3)).round(3)
        lines = ["age,lactate,pulse"]
        for age, lactate, pulse in values.tolist():
            lines.append(f"{age},{'' if rng.random() < share else lactate},{pulse}")
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(lines) + "\n")
        paths.append(str(path))
    return paths


def test_the_error_names_options(files, capsys):
    assert run(["compare", *files, *QUICK]) == 2
    said = capsys.readouterr().err
    assert "column 'lactate'" in said
    assert "pass --missing pairwise to compare" in said
    assert "or --missing drop-rows or --missing drop-columns" in said
    assert "missing=" not in said


def test_gaps_are_named_and_told(files, capsys, tmp_path):
    out = tmp_path / "out.json"
    assert run(["compare", *files, "--missing", "pairwise", "--json", str(out), *QUICK]) == 0
    said = capsys.readouterr().out
    assert "lactate: missing" in said
    assert "Values are missing in lactate: each statistic uses the rows" in said
    stored = json.loads(out.read_text())
    assert stored["missing"]["pairwise_columns"] == ["lactate"]
    assert stored["scan"]["findings"][0]["kind"] == "missing"


def test_rows_left_out_are_told(files, capsys, tmp_path):
    out, page = tmp_path / "out.json", tmp_path / "out.html"
    outputs = ["--json", str(out), "--report", str(page)]
    assert run(["compare", *files, "--missing", "drop-rows", *outputs, *QUICK]) == 0
    said = capsys.readouterr().out
    gone = json.loads(out.read_text())["missing"]["dropped_rows"]
    assert gone[0] > 40
    assert gone[1] == 0
    assert f"Rows excluded for missing values: {gone[0]} of january, 0 of july" in said
    assert "Missing values" in page.read_text()
