"""What became of columns at the door is carried to everything that people read."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import tellapart as ta
from tellapart.cli import run
from tellapart.data.column_notes import ColumnNotes

RNG = np.random.default_rng(0)


def table(n: int, first: int = 0) -> pa.Table:
    moments = np.datetime64("2024-01-01T00:00:00") + RNG.integers(6_000_000, size=n)
    return pa.table(
        {
            "id": np.arange(first, first + n),
            "when": moments,
            "site": ["a"] * n,
            "arm": ["f", "m"] * (n // 2),
            "u": RNG.normal(size=n),
        }
    )


@pytest.fixture(scope="module")
def result():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ta.two_sample_test(table(60), table(40, 60), n_permutations=99, random_state=0)


LEFT_OUT = (
    "Excluded: 'id' (consecutive whole numbers, each at most once in a sample), which appears "
    "to be an identifier: keep=['id'] (--keep id in a shell) includes it."
)
SPLIT = "Split into parts: 'when' into days, hour, weekday, month."


def test_summary_and_record(result):
    lines = result.summary().splitlines()
    assert LEFT_OUT in lines
    assert SPLIT in lines
    assert "Constant columns (weight 0): site." in lines
    assert result.to_dict()["columns"] == {
        "naming_rows": {"id": "consecutive whole numbers, each at most once in a sample"},
        "unchosen": [],
        "split_into_parts": {"when": ["days", "hour", "weekday", "month"]},
        "row_labels": [],
        "moments": [],
        "constant_within": {},
        "kept": [],
    }


def test_page(result):
    page = result.to_html(stability=False)
    assert "Excluded: appear to be identifiers" in page
    assert "keep=[&#39;id&#39;]" in page
    assert "when into days, hour, weekday, month" in page


def test_what_was_kept_is_in_the_call_that_repeats_the_answer():
    kept = ta.two_sample_test(
        table(60), table(40, 60), keep=["id"], n_permutations=99, random_state=0
    )
    assert "keep=[&#39;id&#39;]" in kept.to_html(stability=False)
    assert LEFT_OUT not in kept.summary()


def test_groups():
    with pytest.warns(UserWarning, match="'id' of table is excluded"):
        result = ta.compare_groups(table(80), by="arm", n_permutations=99, random_state=0)
    notes = result.notes()
    assert LEFT_OUT in notes
    assert SPLIT in notes
    assert result.to_dict()["columns"]["naming_rows"].keys() == {"id"}


@pytest.mark.parametrize("command", ["compare", "groups"])
def test_shell(command, tmp_path, capsys):
    file = tmp_path / "a.csv"
    csv.write_csv(table(80), file)
    options = ["--by", "arm", "--drop", "u", "--permutations", "99", "--seed", "0"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run([command, str(file), *options]) == 0
    shown = capsys.readouterr().out
    assert LEFT_OUT in shown
    assert "Excluded by the user: 'u'." in shown


def test_many_names_and_names_that_need_quotes():
    notes = ColumnNotes({"a, b": "why"}, tuple(f"c{k}" for k in range(12)))
    first, second = notes.lines()
    assert "--keep 'a, b' in a shell" in first
    assert second.endswith("'c9' and 2 more.")
    assert notes.without(["c0", "d"]).unchosen[-2:] == ("c11", "d")
    assert ColumnNotes().lines() == []
