"""Row labels that were saved with the rows: left out of files, and told by every result."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tellapart as ta
from tellapart.cli import run
from tellapart.data.column_notes import remembered, without_row_labels
from tellapart.data.sources.files import read_table

LINE = "Excluded: a first column without a name, saved row labels."
FEW = {"n_permutations": 39, "random_state": 0}


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Save two samples as pandas does, with their row labels."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for k, name in enumerate(("a", "b")):
        frame = pd.DataFrame(rng.normal(k, 1, size=(30, 2)), columns=["u", "v"])
        frame["arm"] = ["low", "high"] * 15
        frame.index = frame.index.map(lambda i, name=name: f"{name}{i}")
        frame.to_csv(f"{name}.csv")


@pytest.mark.filterwarnings("ignore:.*taken for row labels")
def test_results_tell(saved):
    tables = read_table("a.csv"), read_table("b.csv")
    result = ta.two_sample_test(*tables, **FEW)
    assert LINE in result.summary().splitlines()
    assert result.to_dict()["columns"]["row_labels"] == [""]
    assert "Excluded as row labels" in result.to_html(stability=False)
    stratified = ta.two_sample_test(*tables, strata="arm", **FEW)
    assert stratified.held_out.notes.row_labels == ("",)
    groups = ta.compare_groups(tables[0], by="arm", **FEW)
    assert groups.column_notes.row_labels == ("",)
    chunked = ta.two_sample_test(ta.open_dataset("a.csv"), tables[1], **FEW)
    assert chunked.held_out.notes == result.held_out.notes  # nobody asked for it


@pytest.mark.filterwarnings("ignore:.*taken for row labels")
def test_the_command_line_tells(saved, capsys):
    given = ["compare", "a.csv", "b.csv", "--permutations", "39", "--seed", "0", "--drop", "arm"]
    assert run(given) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert LINE in told
    assert "Excluded by the user: 'arm'." in told


def test_a_table_without_any_says_nothing():
    plain = pa.table({"u": [1.0, 2.0]})
    assert remembered(without_row_labels("a.csv", plain)) == remembered(np.eye(2)) == ()
    with pytest.warns(UserWarning, match=r"^a.csv: column '' is taken for row labels"):
        table = without_row_labels("a.csv", pa.table({"": ["p", "q"], "u": [1.0, 2.0]}))
    # What was left out of an earlier file is not told of the next one.
    assert remembered(without_row_labels("b.csv", table)) == ()
