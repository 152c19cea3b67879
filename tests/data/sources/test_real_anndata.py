"""AnnData itself, where it is installed: layers, raw, sparse and dense, from files and not."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tellapart as ta
from tellapart.cli import run
from tellapart.data.column_store import dense
from tellapart.data.grouping import read_grouped
from tellapart.data.reader import read_samples
from tellapart.data.sources import open_source
from tellapart.errors import InputError

anndata = pytest.importorskip("anndata")

GENES = [f"gene {k}" for k in range(12)]
KIND = np.repeat(["B", "NK", "T"], 40)
QUICK = ["--quiet", "--permutations", "99", "--seed", "0"]


@pytest.fixture(params=["dense", "sparse"])
def file(request, tmp_path):
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (120, 12)).astype(np.float64)
    counts[KIND == "T", 3] += rng.poisson(3.0, 40)
    form = np.asarray if request.param == "dense" else sparse.csr_matrix
    obs = pd.DataFrame(
        {"kind": pd.Categorical(KIND), "batch": ["a", "b"] * 60},
        index=[f"cell {k}" for k in range(120)],
    )
    whole = anndata.AnnData(
        X=form(np.log1p(counts)),
        obs=obs,
        var=pd.DataFrame(index=GENES),
        layers={"counts": form(counts)},
    )
    whole.raw = whole.copy()
    some = whole[:, :8].copy()
    path = tmp_path / "cells.h5ad"
    some.write_h5ad(path)
    return path


def test_x_layers_and_raw(file):
    cells = anndata.read_h5ad(file)
    t, others = cells[cells.obs["kind"] == "T"], cells[cells.obs["kind"] != "T"]
    plain = read_samples(t, others)
    assert plain.names == tuple(GENES[:8])
    counts = read_samples(*(ta.from_anndata(part, layer="counts") for part in (t, others)))
    assert np.allclose(np.log1p(counts.x[:, np.arange(8)]), plain.x[:, np.arange(8)])
    raw = read_samples(*(ta.from_anndata(part, raw=True) for part in (t, others)))
    assert raw.names == tuple(GENES)
    assert (raw.n_x, raw.n_y) == (40, 80)
    result = ta.two_sample_test(t, others, n_permutations=99, random_state=0)
    assert result.reject
    assert "gene 3" in result.variables


def test_groups_by_a_column_of_obs(file):
    cells = anndata.read_h5ad(file)
    result = ta.compare_groups(cells, by="kind", strata="batch", n_permutations=99, random_state=0)
    assert dict(result.sizes) == {"B": 40, "NK": 40, "T": 40}
    assert "gene 3" in result.results["T", "rest"].variables
    raw = ta.from_anndata(cells, raw=True)
    again = ta.compare_groups(raw, by=cells.obs["kind"], n_permutations=99, random_state=0)
    assert again.n_columns == 12


@pytest.mark.parametrize(
    ("options", "n_columns"),
    [([], 8), (["--layer", "counts"], 8), (["--raw"], 12), (["--drop", "gene 1,gene 2"], 6)],
)
def test_the_shell(file, options, n_columns, capsys):
    given = ["--by", "kind", "--group", "T", "--json", "-", *QUICK, *options]
    assert run(["compare", str(file), *given]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["selection"]["names"]) == n_columns
    assert "gene 3" in told["variables"]


def matrix_of(cells):
    return cells.X.toarray() if sparse.issparse(cells.X) else cells.X


@pytest.fixture
def backed(file):
    held = anndata.read_h5ad(file, backed="r")
    yield held
    held.file.close()


def test_x_that_is_still_in_its_file_is_read_by_chunks_of_rows(file, backed, monkeypatch):
    monkeypatch.setattr("tellapart.data.sources.anndata.CHUNK_BYTES", 0)
    monkeypatch.setattr("tellapart.data.sources.anndata.LEAST_CHUNK_ROWS", 7)
    held = anndata.read_h5ad(file)
    source = open_source("X", backed)
    chunks = list(source.chunks(range(source.n_columns)))
    assert max(map(len, chunks)) == 7
    np.testing.assert_array_equal(np.concatenate(chunks), matrix_of(held))
    np.testing.assert_array_equal(
        np.concatenate(list(source.chunks([3, 1]))), matrix_of(held)[:, [3, 1]]
    )
    settings = {"n_permutations": 19, "random_state": 0}
    expected = ta.two_sample_test(held, held[::2].copy(), **settings)
    result = ta.two_sample_test(backed, held[::2].copy(), **settings)
    assert (result.pvalue, result.statistic) == (expected.pvalue, expected.statistic)


def test_parts_and_groups_of_a_file_are_read_into_memory(file, backed):
    held = anndata.read_h5ad(file)
    samples = read_samples(backed[::2], backed[1::2])
    np.testing.assert_array_equal(dense(samples.x), matrix_of(held)[::2])
    grouped = read_grouped(backed, "kind")
    assert grouped.groups.size == held.n_obs
    with pytest.raises(InputError, match=r"must be AnnData in memory.*to_memory"):
        ta.from_anndata(backed)
