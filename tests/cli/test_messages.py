"""Errors and warnings of the library, in the words of the command line."""

from inspect import signature

import pyarrow as pa
import pytest
import typer
from pyarrow import csv

import tellapart as ta
from tellapart.cli import app, run
from tellapart.cli.options import OPTION_OF, in_options

# Arguments of Python that no option stands for.
NO_OPTION = {"X", "Y", "table", "labels", "mode", "progress", "nonnegative", "gap"}
NO_OPTION |= {"strata", "paired", "clusters", "design"}

MESSAGES = {
    "alpha must be below 1; got 2": "--alpha must be below 1; got 2",
    "test_size must be left out with method='scan', where": "--test-size must be left out with "
    "--method scan, where",
    'pass missing="drop-rows" or missing="drop-columns" to leave them out': "pass --missing "
    "drop-rows or --missing drop-columns to leave them out",
    'missing="drop-rows" must leave 2 rows': "--missing drop-rows must leave 2 rows",
    "use more rows or a greater test_size": "use more rows or a greater --test-size",
    "below comparisons/(n_permutations + 1)); got 9": "below comparisons/(--permutations + 1)); "
    "got 9",
    "n_variables must be an integer": "--variables must be an integer",
    "random_state must be None": "--seed must be None",
    "pick two with group='T cells' and against='B'": "pick two with --group 'T cells' and "
    "--against B",
    "pass keep=['a b'] to compare it": "pass --keep 'a b' to compare it",
    "compare every group with compare_groups": "compare every group with tellapart groups",
    "convert or drop the column": "convert or leave it out with --drop",
    # English, data and files are left alone.
    "rows with missing values, by groups": "rows with missing values, by groups",
    "got 'missing=\"x\"', 'n_jobs' and \"it's by=1\"": "got 'missing=\"x\"', 'n_jobs' and "
    '"it\'s by=1"',
    "n_jobs.csv: no such file": "n_jobs.csv: no such file",
    "by: no such file": "by: no such file",
    "data/n_jobs: there is no n_jobs/x": "data/n_jobs: there is no n_jobs/x",
    "": "",
}


@pytest.mark.parametrize(("message", "expected"), MESSAGES.items())
def test_arguments_become_options(message, expected):
    assert in_options(message) == expected


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv.write_csv(pa.table({"u": [1.0, 2, 3, 4, None], "w": [5.0, 1, 4, 2, 3]}), "gaps.csv")
    csv.write_csv(pa.table({"u": [1.0, 2, 3, 4, 6], "w": [5.0, 1, 4, 2, 3]}), "a.csv")
    kinds = pa.table({"kind": ["a b", "c", "d"] * 3, "u": [1.0, 2, 3, 4, 5, 6, 7, 8, 9]})
    csv.write_csv(kinds, "kinds.csv")
    csv.write_csv(pa.table({"u": [1.0], "w": [2.0]}), "tiny.csv")
    return tmp_path


BY, SPLIT = ["kinds.csv", "--by", "kind"], ["a.csv", "a.csv", "--method", "split"]
SPOKEN = [
    (["gaps.csv", "a.csv"], "pass --missing "),
    (["gaps.csv", "a.csv"], "column 'u' (1 in 'gaps')"),
    (["tiny.csv", "a.csv"], "'tiny' must have at least 2 rows; got 1"),
    (["a.csv", "a.csv", "--test-size", "0.3"], "left out with --method scan, where"),
    (["a.csv", "a.csv", "--method", "both"], "--method must be 'scan' or 'split'; got 'both'"),
    (["a.csv", "a.csv", "--families", "means"], "--families must be among location, shape, "),
    (["a.csv", "a.csv", "--error-rate", "most"], "--error-rate must be one of 'fwer', 'fdr', "),
    (["a.csv", "a.csv", "--false-proportion", "2"], "--false-proportion must be"),
    (["a.csv", "a.csv", "--table", "out.doc"], "--table must end in .csv, .tex, .html; got "),
    (["a.csv", "a.csv", "--fold-change", "ratio"], "--fold-change must be one of 'counts', "),
    ([*SPLIT, "--test-size", "2"], "--test-size must be"),
    (["a.csv", "a.csv", "--variables", "9"], "--variables must be an integer in 1..2; got 9"),
    (["a.csv", "a.csv", "--kernel", "x"], "--kernel must be"),
    (["a.csv", "a.csv", "--regularization", "x"], "--regularization must be"),
    (["a.csv", "a.csv", "--solver", "x"], "--solver must be"),
    (["a.csv", "a.csv", "--solver", "sdp"], "'local-search' or 'truncation'\n"),
    (["a.csv", "a.csv", "--alpha", "0"], "--alpha must be"),
    (["a.csv", "a.csv", "--smallest-effect", "z=1"], "--smallest-effect must have columns or "),
    (["a.csv", "a.csv", "--permutations", "9"], "--permutations must be at least 19 for"),
    (["a.csv", "a.csv", "--permutations", "9"], "is 1/(--permutations + 1)"),
    (["a.csv", "a.csv", "--seed", "-1"], "--seed must be"),
    (["a.csv", "a.csv", "--jobs", "-2"], "--jobs must be"),
    (["a.csv", "a.csv", "--time-limit", "0"], "--time-limit must be"),
    (["a.csv", "a.csv", "--memory-budget", "x"], "--memory-budget must be"),
    (["a.csv", "a.csv", "--missing", "x"], "--missing must be one of"),
    (["a.csv", "a.csv", "--format", "x"], "--format must be one of"),
    (["a.csv", "a.csv", "--columns", "u,ww"], "--columns must name columns; got 'ww'; the near"),
    (["a.csv", "a.csv", "--drop", "z"], "--drop must name columns; got 'z'; there are 'u', 'w'"),
    (["a.csv", "a.csv", "--keep", "z"], "--keep must name columns; got 'z'; there are 'u', 'w'"),
    (["a.csv", "a.csv", "--layer", "counts"], "--layer must be left out unless it is of AnnData"),
    (
        ["a.csv", "a.csv", "--raw"],
        "--raw must be left out unless it is of AnnData; got pyarrow Tab",
    ),
    (["a.csv", "a.csv", "--drop", "u,w"], "--drop must leave at least one column"),
    (["a.csv", "a.csv", "--group", "a"], "name it with --by COLUMN"),
    (["kinds.csv", "--by", "kin"], "--by must be a column of the table; got 'kin'"),
    (BY, "pick two with --group 'a b' and --against c, or compare every group with tellapart gr"),
    ([*BY, "--group", "x"], "--group must be one of the values of 'kind'; got 'x'"),
    ([*BY, "--group", "c", "--against", "x"], "--against must be one of the values of 'kind'"),
    ([*BY, "--against", "c"], "--against c needs a group"),
    ([*BY, "--drop", "kind"], "--drop must leave the column 'kind'"),
    (["a.csv", "a.csv", "--json", "a.csv"], "--json must"),
    (["a.csv", "a.csv", "--plot", "a.xyz"], "--plot must"),
    (["a.csv", "a.csv", "--report", "-"], "--report must"),
    (["a.csv", "a.csv", "--adjust", "age"], "--adjust must name columns of 'A'; got 'age'"),
    (["a.csv", "a.csv", "--strata", "site"], "--strata must be a column of 'A'; got 'site'"),
    (["a.csv", "a.csv", "--paired", "who"], "--paired must be a column"),
    (["a.csv", "a.csv", "--clusters", "u"], "--clusters must lie wholly in one sample"),
    (["a.csv", "a.csv", "--weights", "ww"], "--weights must be a column of"),
]
NO_MISTAKE = {"quiet", "b", "a", "by", "csv", "figure", "latex", "all_findings"}
"""What is no option, or cannot be wrong by itself."""


@pytest.mark.parametrize(("arguments", "part"), SPOKEN)
def test_errors_name_options(folder, capsys, arguments, part):
    assert run(["compare", *arguments]) == 2
    err = capsys.readouterr().err
    assert part in err
    assert "=" not in err.replace("= 0.05", "")


def test_every_option_has_its_error_above():
    shown = " ".join(part for _, part in SPOKEN)
    command = typer.main.get_command(app).commands["compare"]
    names = {max(o.opts, key=len) for o in command.params if o.name not in NO_MISTAKE}
    assert [name for name in sorted(names) if name not in f"{shown} --help"] == []


def test_every_argument_is_an_option_or_has_none():
    arguments = set(signature(ta.two_sample_test).parameters)
    arguments |= set(signature(ta.compare_groups).parameters)
    commands = typer.main.get_command(app).commands.values()
    options = {name for command in commands for o in command.params for name in o.opts}
    assert set(OPTION_OF.values()) <= options
    assert {name for name in arguments if name not in OPTION_OF} <= NO_OPTION


def test_warnings_name_options(folder, capsys):
    given = ["--method", "split", "--seed", "0", "--variables", "1"]
    assert run(["compare", "a.csv", "a.csv", *given]) == 0
    err = capsys.readouterr().err
    assert "a greater --test-size, an alpha of at least 0.34 or --method scan, which tests" in err
