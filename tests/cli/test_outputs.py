"""What a command writes: never over what it reads, never two things into one file."""

import json
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from tellapart.cli import run

QUICK = ["--method", "split", "--variables", "1", "--regularization", "0.1"]
QUICK += ["--seed", "0", "--permutations", "19"]
COMPARE = ["compare", "a.csv", "b.csv", *QUICK]
GROUPS = ["groups", "both.csv", "--by", "arm", *QUICK[:-2]]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    a, b = (pa.table({"u": rng.normal(shift, size=30)}) for shift in (0, 3))
    csv.write_csv(a, "a.csv")
    csv.write_csv(b, "b.csv")
    arms = pa.array(["old"] * 30 + ["new"] * 30)
    csv.write_csv(pa.concat_tables([a, b]).append_column("arm", arms), "both.csv")
    os.symlink("a.csv", "symbolic.svg")
    os.link("b.csv", "hard.svg")
    os.symlink("both.csv", "groups.html")
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


REFUSED = [
    ([*COMPARE, "--json", "a.csv"], ["--json", "'a.csv'"]),
    ([*COMPARE, "--json", "./b.csv"], ["--json", "'./b.csv'", "'b.csv'"]),
    ([*COMPARE, "--report", "symbolic.svg"], ["--report", "'symbolic.svg'", "'a.csv'"]),
    ([*COMPARE, "--plot", "hard.svg"], ["--plot", "'hard.svg'", "'b.csv'"]),
    ([*COMPARE, "--json", "x", "--report", "x"], ["--json", "--report", "'x'"]),
    ([*COMPARE, "--plot", "x.svg", "--report", "./x.svg"], ["--plot", "--report", "'x.svg'"]),
    ([*GROUPS, "--json", "both.csv"], ["--json", "'both.csv'"]),
    ([*GROUPS, "--report", "groups.html"], ["--report", "'groups.html'", "'both.csv'"]),
    ([*GROUPS, "--json", "x", "--report", "x"], ["--json", "--report", "'x'"]),
]


@pytest.mark.parametrize(("arguments", "named"), REFUSED)
def test_nothing_that_is_read_or_written_is_lost(folder, capsys, arguments, named):
    before = contents(folder)
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert all(word in err for word in named), err
    assert contents(folder) == before


def test_a_pipe_is_written_into(folder):
    os.mkfifo("pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((folder / "pipe").read_bytes()))
    reader.start()
    assert run([*COMPARE, "--quiet", "--json", "pipe"]) == 0
    reader.join(timeout=60)
    assert json.loads(read[0])["variables"] == ["u"]
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


def test_a_link_is_followed_and_a_private_file_stays_private(folder):
    (folder / "private.json").write_text("old")
    (folder / "private.json").chmod(0o600)
    os.symlink("private.json", "link.json")
    assert run([*COMPARE, "--quiet", "--json", "link.json"]) == 0
    assert os.readlink("link.json") == "private.json"
    assert json.loads((folder / "private.json").read_text())["variables"] == ["u"]
    assert stat.S_IMODE(os.stat("private.json").st_mode) == 0o600


def test_a_file_on_standard_input_is_read_too(folder):
    before = contents(folder)
    command = [sys.executable, "-m", "tellapart", "compare", "a.csv", "-", *QUICK]
    with open("b.csv", "rb") as file:
        done = subprocess.run(
            [*command, "--json", "b.csv"], stdin=file, capture_output=True, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "--json must not be a file that is read; 'b.csv' is standard input" in done.stderr
    assert contents(folder) == before


def test_tables_of_all_columns(folder):
    scan = ["--seed", "0", "--permutations", "99", "--quiet"]
    for ending, begins in ((".csv", "column,type,n_first"), (".tex", "\\begin{table}")):
        path = folder / f"columns{ending}"
        asked = ["--table", path.name, "--fold-change", "counts"]
        assert run(["compare", "a.csv", "b.csv", *scan, *asked]) == 0
        assert path.read_text(encoding="utf-8").startswith(begins)
    assert "log2_fold_change" in (folder / "columns.csv").read_text(encoding="utf-8")
    assert run(["compare", "a.csv", "b.csv", *scan, "--table", "columns.html"]) == 0
    assert "u, mean (SD)" in (folder / "columns.html").read_text(encoding="utf-8")
    assert run(["groups", "both.csv", "--by", "arm", *scan, "--csv", "groups.csv"]) == 0
    table = csv.read_csv("groups.csv")
    assert table["group"].to_pylist() == ["new"]
    assert {"column", "statistic", "smd", "pvalue", "qvalue"} <= set(table.column_names)


def test_endings_and_fold_changes_are_checked_before_any_work(folder, capsys):
    assert run([*COMPARE, "--table", "columns.xlsx"]) == 2
    assert "--table must end in .csv, .tex, .html" in capsys.readouterr().err
    assert run([*COMPARE, "--table", "columns.csv", "--fold-change", "ln"]) == 2
    assert "--fold-change must be" in capsys.readouterr().err
