"""Files that end in the middle: refused, with the file's name and what is wrong with it."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import tellapart as ta
from tellapart.cli import run
from tellapart.data.sources.files import read_table
from tellapart.errors import InputError

TABLE = pa.table({"u": np.linspace(0, 1, 300), "v": [f"label {i % 7}" for i in range(300)]})


@pytest.fixture
def whole(tmp_path):
    """Return the path of a whole file of each format."""
    paths = {ending: tmp_path / f"data.{ending}" for ending in ("parquet", "feather", "csv", "tsv")}
    parquet.write_table(TABLE, paths["parquet"])
    feather.write_feather(TABLE, paths["feather"])
    csv.write_csv(TABLE, paths["csv"])
    csv.write_csv(TABLE, paths["tsv"], csv.WriteOptions(delimiter="\t"))
    return paths


@pytest.mark.parametrize("part", [0.01, 0.5, 0.99])
@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_files_of_blocks(whole, ending, part):
    path = whole[ending]
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    with pytest.raises(InputError, match=rf"data\.{ending}: the file cannot be read: ") as caught:
        read_table(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=rf"data\.{ending}: "):
        ta.open_dataset(path)


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_text_that_ends_in_the_middle_of_a_row(whole, ending):
    path = whole[ending]
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:200]) + "0.5")  # its second field is missing
    with pytest.raises(InputError, match=rf"data\.{ending}: .*[Ee]xpected 2 columns, got 1"):
        read_table(path)


def test_what_cannot_be_seen(whole):
    path = whole["csv"]
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:200]) + '0.5,"lab')
    # Text has no end mark: a value that ends with the file cannot be told from a whole one.
    assert read_table(path)["v"].to_pylist()[-1] == "lab"


def test_the_state_of_a_monitor(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reference = np.random.default_rng(0).normal(size=(60, 2))
    np.savetxt("reference.csv", reference, delimiter=",", header="u,v", comments="")
    np.savetxt("batch.csv", reference[:30] + 0.1, delimiter=",", header="u,v", comments="")
    given = ["monitor", "reference.csv", "batch.csv", "--state", "state.json", "--seed", "0"]
    assert run([*given, "--permutations", "99", "--quiet"]) == 0
    state = tmp_path / "state.json"
    content = state.read_bytes()
    for part in (0.0, 0.3, 0.999):
        cut = content[: int(part * len(content)) - 2]
        state.write_bytes(cut)
        assert run(given) == 2
        line = capsys.readouterr().err
        assert line.startswith("tellapart: error: --state must be a file that a monitor saved; ")
        assert "state.json" in line
        assert line.count("\n") == 1
        assert state.read_bytes() == cut  # nothing is written over what may be mended


def test_annotated_data(tmp_path):
    anndata = pytest.importorskip("anndata")
    path = tmp_path / "cells.h5ad"
    anndata.AnnData(np.ones((5, 3), dtype=np.float32)).write_h5ad(path)
    content = path.read_bytes()
    for part in (0.1, 0.5, 0.95):
        path.write_bytes(content[: int(part * len(content))])
        with pytest.raises(InputError, match=r"cells\.h5ad: the file cannot be read: .*truncated"):
            read_table(path)
