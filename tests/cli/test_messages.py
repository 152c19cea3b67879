"""Errors and warnings of the library, in the words of the command line."""

import pyarrow as pa
import pytest
from pyarrow import csv

from each import each
from tellapart.cli import run
from tellapart.cli.messages import in_options

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
    # English, data and files are left alone.
    "rows with missing values, by groups": "rows with missing values, by groups",
    "got 'missing=\"x\"', 'n_jobs' and \"it's by=1\"": "got 'missing=\"x\"', 'n_jobs' and "
    '"it\'s by=1"',
    "n_jobs.csv: no such file": "n_jobs.csv: no such file",
    "by: no such file": "by: no such file",
    "data/n_jobs: there is no n_jobs/x": "data/n_jobs: there is no n_jobs/x",
    "": "",
}


@each("message, expected", MESSAGES.items())
def test_arguments_become_options(message, expected):
    assert in_options(message) == expected


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv.write_csv(pa.table({"u": [1.0, 2, 3, 4, None], "w": [5.0, 1, 4, 2, 3]}), "gaps.csv")
    csv.write_csv(pa.table({"u": [1.0, 2, 3, 4, 6], "w": [5.0, 1, 4, 2, 3]}), "a.csv")
    return tmp_path


SPOKEN = [
    (["gaps.csv", "a.csv"], "pass --missing drop-rows or --missing drop-columns to"),
    (["a.csv", "a.csv", "--test-size", "0.3"], "left out with --method scan, where"),
    (["a.csv", "a.csv", "--method", "both"], "--method must be 'scan' or 'split'; got 'both'"),
]


@each("arguments, part", SPOKEN)
def test_errors_name_options(folder, capsys, arguments, part):
    assert run(["compare", *arguments]) == 2
    err = capsys.readouterr().err
    assert part in err
    assert "=" not in err


def test_warnings_name_options(folder, capsys):
    given = ["--method", "split", "--seed", "0", "--variables", "1"]
    assert run(["compare", "a.csv", "a.csv", *given]) == 0
    assert "use more rows or a greater --test-size\n" in capsys.readouterr().err
