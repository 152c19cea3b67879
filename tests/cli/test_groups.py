"""`tellapart groups`, run as users run it."""

import html
import io
import json
import re
import shlex
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from rich.console import Console

import tellapart as ta
from tellapart.cli import run
from tellapart.report.console import show_groups

QUICK = ["--method", "split", "--variables", "1", "--regularization", "0.1"]


def cells():
    kind = np.repeat(["B", "NK", "T"], [40, 50, 60])
    values = np.random.default_rng(0).normal(size=(150, 2))
    values[kind == "T", 1] += 3
    return pa.table({"kind": kind, "u": values[:, 0], "w": values[:, 1]})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv.write_csv(cells(), "cells.csv")
    table = cells()
    parquet.write_table(
        table.set_column(0, "kind", table["kind"].dictionary_encode()), "cells.parquet"
    )
    return tmp_path


def test_each_group_against_the_rest(folder, capsys):
    assert run(["groups", "cells.csv", "--by", "kind", "--seed", "0", *QUICK]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    expected = ta.compare_groups(
        cells(), by="kind", method="split", random_state=0, n_variables=1, regularization=0.1
    )
    assert out == f"{expected.summary()}\n"
    assert run(["groups", "cells.parquet", "--by", "kind", "--seed", "0", *QUICK]) == 0
    assert capsys.readouterr().out == out


def test_scans_tell_what_differs(folder, capsys):
    assert run(["groups", "cells.csv", "--by", "kind", "--pairwise", "--seed", "0"]) == 0
    out = capsys.readouterr().out
    assert (
        out
        == f"{ta.compare_groups(cells(), by='kind', mode='pairwise', random_state=0).summary()}\n"
    )
    assert "B and T: One mean differs (w).\n" in out


def test_chosen_pairs_and_files(folder, capsys):
    arguments = ["groups", "cells.csv", "--by", "kind", "--pairwise", "--group", "T"]
    arguments += ["--group", "B", *QUICK, "--report", "out.html", "--json", "1.json"]
    assert run(arguments) == 0
    assert "B and T differ (adjusted p ≤ 0.001, α = 0.05)" in capsys.readouterr().out
    stored = json.loads((folder / "1.json").read_text())
    assert [(c["group"], c["against"]) for c in stored["comparisons"]] == [("B", "T")]
    page = html.unescape((folder / "out.html").read_text(encoding="utf-8"))
    command = re.search("<code>(.*)</code>", page)[1]
    assert run([*shlex.split(command)[1:], "--json", "2.json"]) == 0
    again = json.loads((folder / "2.json").read_text())
    assert again["settings"] == stored["settings"]
    assert again["comparisons"][0]["pvalue"] == stored["comparisons"][0]["pvalue"]


def test_groups_have_designs(folder, capsys):
    rng = np.random.default_rng(0)
    who, visit = np.tile(np.arange(40), 3), np.repeat(["v1", "v2", "v3"], 40)
    values = 5 * rng.normal(size=40)[who] + 0.2 * rng.normal(size=120) + 0.5 * (visit == "v3")
    csv.write_csv(pa.table({"visit": visit, "who": who, "a": values}), folder / "visits.csv")
    asked = ["groups", "visits.csv", "--by", "visit", "--seed", "0", "--quiet", "--json", "-"]
    assert run([*asked, "--pairwise", "--paired", "who", "--permutations", "119"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["settings"]["paired"] == "who"
    assert [c["reject"] for c in told["comparisons"]] == [False, True, True]
    assert run([*asked, "--paired", "who"]) == 2
    assert "compare two at a time with --pairwise" in capsys.readouterr().err
    assert run([*asked, "--pairwise", "--paired"]) == 2
    assert "--paired needs a COLUMN" in capsys.readouterr().err


def test_a_terminal_shows_a_table():
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=100)
    table = cells()
    table = table.set_column(0, "kind", pa.array(["[red]x", "y"] * 75)).append_column(
        "z", pa.array(np.arange(150.0))
    )
    show_groups(
        ta.compare_groups(table, by="kind", method="split", random_state=0, n_variables=1), console
    )
    shown = written.getvalue()
    assert "[red]x" in shown
    assert "adjusted p" in shown


KINDS = ["cells.csv", "--by", "kind"]
BAD_INPUT = [
    (["cells.csv"], "--by"),
    (["none.csv", "--by", "kind"], "none.csv: there is no such file"),
    (["cells.csv", "--by", "knd"], "--by must be a column of the table; got 'knd'"),
    (["cells.csv", "--by", "u"], "--by must give groups that are large enough"),
    ([*KINDS, "--group", "X"], "--group must be labels of"),
    ([*KINDS, "--group", "B", "--pairwise"], "at least two"),
    ([*KINDS, "--permutations", "20"], "--permutations must be"),
    ([*KINDS, "--jobs", "0"], "--jobs must be"),
    ([*KINDS, "--format", "xls"], "--format must be one of"),
    ([*KINDS, "--report", "-"], "--report must be the path"),
    ([*KINDS, "--report", "no/x.html"], "--report must be"),
    (["cells.h5ad", "--by", "kind"], "cells.h5ad: there is no such file"),
]


def test_bad_input_is_one_line_and_status_2(folder, capsys):
    for arguments, part in BAD_INPUT:
        assert run(["groups", *arguments]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert re.fullmatch("tellapart: error: .*\n", err)
        assert part in err


def test_annotated_data_from_a_file(folder, capsys, monkeypatch):
    table = cells()
    kind = type("AnnData", (SimpleNamespace,), {"__module__": "anndata"})
    data = kind(
        X=np.column_stack([table["u"], table["w"]]),
        var_names=["u", "w"],
        obs=table.select(["kind"]).to_pandas(),
    )
    fake = SimpleNamespace(read_h5ad=lambda path: data)
    monkeypatch.setitem(sys.modules, "anndata", fake)
    (folder / "cells.h5ad").write_bytes(b"any")
    assert run(["groups", "cells.h5ad", "--by", "kind", "--seed", "0", *QUICK]) == 0
    shown = capsys.readouterr().out
    assert run(["groups", "cells.csv", "--by", "kind", "--seed", "0", *QUICK]) == 0
    assert capsys.readouterr().out == shown
