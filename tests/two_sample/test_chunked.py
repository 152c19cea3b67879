"""The whole call on data in chunks: the same answer, to the last bit, as for arrays."""

import os
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from pyarrow import dataset as ds
from scipy import stats

import tellapart as ta
from row_sums import write_parts
from tellapart.budget import Budget, using_budget
from tellapart.scan import sums

NAMES = [f"x{s}" for s in range(4)]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Several lanes of several blocks, though rows are few."""
    monkeypatch.setattr(sums, "block_rows", lambda n_columns: 128)


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2100, 4)), rng.normal(size=(1700, 4))
    y[:, 1] += 0.2
    y[:, 2] += 0.7 * y[:, 3]
    return x, y


def _ask(x, y, **settings):
    return ta.two_sample_test(x, y, n_permutations=99, random_state=0, **settings)


def check_same(found, expected):
    assert found.pvalue == expected.pvalue
    np.testing.assert_array_equal(found.null_distribution, expected.null_distribution)
    assert found.statistic == expected.statistic
    np.testing.assert_array_equal(found.selection.z, expected.selection.z)
    assert found.selection.upper_bound == expected.selection.upper_bound
    assert [f.to_dict() for f in found.findings] == [f.to_dict() for f in expected.findings]
    assert found.n_test == expected.n_test


def test_files(samples, tmp_path):
    x, y = samples
    expected = _ask(x, y)
    assert expected.reject
    assert {"x1", "x2", "x3"} <= {name for f in expected.findings for name in f.variables}
    write_parts(tmp_path / "x", x, (0, 3, 700, 2100), "parquet")
    write_parts(tmp_path / "y", y, (0, 1699, 1700), "parquet")
    check_same(_ask(ta.open_dataset(tmp_path / "x"), ta.open_dataset(tmp_path / "y")), expected)
    mixed = _ask(ds.dataset(tmp_path / "x"), pd.DataFrame(y, columns=NAMES))
    check_same(mixed, expected)
    mixed.to_html(tmp_path / "report.html")
    assert "2,100" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_memory_maps(samples, tmp_path):
    x, y = samples
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    check_same(_ask(mapped, y), _ask(x, y))


@pytest.mark.parametrize("sizes", [(2100, 1700), (97, 1000)])
def test_dask_in_threads(samples, sizes):
    x, y = samples
    expected = _ask(x, y)
    found = _ask(da.from_array(x, chunks=(sizes[0], 4)), da.from_array(y, chunks=(sizes[1], 2)))
    check_same(found, expected)
    frame = dd.from_pandas(pd.DataFrame(x, columns=NAMES), npartitions=5)
    check_same(_ask(frame, pd.DataFrame(y, columns=NAMES)), expected)


def _die_once(block, folder, block_info=None):
    """End the process at the second look at a block in the middle, once."""
    if block_info and block_info[None]["chunk-location"][0] == 3:
        first, second = Path(folder, "first"), Path(folder, "second")
        if not first.exists():
            first.touch()
        elif not second.exists():
            second.touch()
            os._exit(1)
    return block


def _chunked(x, y):
    return da.from_array(x, chunks=(300, 4)), da.from_array(y, chunks=(411, 4))


@pytest.mark.parametrize("n_workers", [1, pytest.param(4, marks=pytest.mark.long)])
def test_clusters_of_threads(samples, n_workers):
    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=False,
        dashboard_address=None,
        silence_logs=50,
    )
    with cluster, Client(cluster):
        check_same(_ask(*_chunked(*samples)), _ask(*samples))


@pytest.mark.long
def test_a_cluster_of_processes_of_which_one_is_killed(dask_cluster, samples, tmp_path):
    expected = _ask(*samples)
    with Client(dask_cluster):
        x, y = _chunked(*samples)
        check_same(_ask(x, y), expected)
        check_same(_ask(x.map_blocks(_die_once, str(tmp_path), dtype=float), y), expected)
        assert (tmp_path / "second").exists()


def test_more_rows_than_are_drawn(samples):
    """Choices and pictures are then made of drawn rows, single columns judged by all of them."""
    x, y = samples
    with using_budget(Budget(evidence_rows=500, drawn_rows=500)):
        _check_drawn(x, y)


def _check_drawn(x, y):
    in_memory, chunked = _ask(x, y), _ask(da.from_array(x, chunks=(300, 4)), y)
    check_same(chunked, in_memory)
    assert chunked.selection.drawn_rows == (500, 500)
    assert chunked.held_out.n_x == 500
    assert chunked.n_test == (2100, 1700)
    assert "judged by all rows" in chunked.summary()
    chosen = ta.select_variables(da.from_array(x, chunks=(300, 4)), y, 3, random_state=0)
    alike = ta.select_variables(x, y, 3, random_state=0)
    np.testing.assert_array_equal(chosen.z, alike.z)
    assert chosen.drawn_rows == (500, 500)
    by_kernel = _ask(da.from_array(x, chunks=(300, 4)), y, kernel="gaussian", n_variables=2)
    assert by_kernel.selection.drawn_rows == (500, 500)


def test_a_split_by_another_kernel_is_made_of_drawn_rows_and_says_so(set_budget, samples):

    set_budget(drawn_rows=500)
    x, y = samples
    result = _ask(
        da.from_array(x, chunks=(300, 4)),
        y,
        method="split",
        kernel="quadratic",
        n_variables=2,
        memory_budget=1e5,
    )
    assert result.drawn_from == (2100, 1700)
    assert sum(result.n_train) + sum(result.n_test) < 2 * 1000 + 1
    assert "drawn at random from 2,100 rows" in result.summary()


@pytest.fixture
def few_drawn(monkeypatch, set_budget):
    """More rows than are drawn, and coefficients by several lanes of several blocks."""
    from tellapart.statistics import coefficients as chunked_coefficients

    set_budget(drawn_rows=500)
    monkeypatch.setattr(chunked_coefficients, "block_rows", lambda n_columns: 128)
    return monkeypatch


LINEAR = [{}, {"regularization": 0.5}, {"solver": "branch-and-bound", "nonnegative": False}]


def test_the_linear_kernel_chooses_by_all_rows_after_a_scan(samples, few_drawn, tmp_path):
    x, y = samples
    write_parts(tmp_path / "x", x, (0, 3, 700, 2100), "parquet")
    chunks = (
        (da.from_array(x, chunks=(300, 4)), y),
        (da.from_array(x, chunks=(97, 4)), da.from_array(y, chunks=(1000, 2))),
        (ta.open_dataset(tmp_path / "x"), pd.DataFrame(y, columns=NAMES)),
    )
    asked = [{"kernel": "linear", "n_variables": 2, **settings} for settings in LINEAR]
    by_chunks = [_ask(x, y, **settings) for settings in asked]
    for settings, expected in zip(asked, by_chunks, strict=True):
        for chunked in chunks:
            found = _ask(*chunked, **settings)
            check_same(found, expected)
            assert found.selection.drawn_rows is None
            assert found.selection.status == "optimal"
    few_drawn.undo()
    for settings, expected in zip(asked, by_chunks, strict=True):
        whole = _ask(x, y, **settings)  # few enough rows for the formulas of arrays
        np.testing.assert_allclose(whole.selection.z, expected.selection.z, rtol=0, atol=1e-10)


@pytest.mark.long
def test_selections_of_chunks_take_all_rows_with_the_linear_kernel(few_drawn, samples):
    x, y = samples
    chunked = da.from_array(x, chunks=(300, 4)), da.from_array(y, chunks=(411, 4))
    for settings in ({}, {"objective": "ratio"}, {"regularization": "cv"}):
        own = {"kernel": "linear", "random_state": 0, **settings}
        found = ta.select_variables(*chunked, 2, **own)
        again = ta.select_variables(*(part.rechunk((77, 3)) for part in chunked), 2, **own)
        np.testing.assert_array_equal(found.z, again.z)
        assert found.upper_bound == again.upper_bound
        assert found.drawn_rows is None
        assert found.status == "optimal"
    in_memory = ta.select_variables(x, y, 2, kernel="linear", random_state=0)
    found = ta.select_variables(*chunked, 2, kernel="linear", random_state=0)
    np.testing.assert_allclose(found.z, in_memory.z, rtol=0, atol=1e-10)
    assert found.value == pytest.approx(in_memory.value, rel=0, abs=1e-12)
    laplace = ta.select_variables(*chunked, 2, kernel=ta.kernels.Linear("laplace"), random_state=0)
    gaussian = ta.select_variables(*chunked, 2, kernel="gaussian", random_state=0)
    assert laplace.drawn_rows == gaussian.drawn_rows == (500, 500)


@pytest.fixture
def split_blocks(monkeypatch, few_drawn):
    from tellapart.permutation import mmd as chunked_mmd

    monkeypatch.setattr(chunked_mmd, "block_rows", lambda n_columns: 128)


def test_a_split_of_chunks_takes_all_rows(samples, split_blocks, tmp_path):
    x, y = samples
    write_parts(tmp_path / "x", x, (0, 3, 700, 2100), "parquet")
    chunks = (
        (da.from_array(x, chunks=(300, 4)), y),
        (da.from_array(x, chunks=(97, 4)), da.from_array(y, chunks=(1000, 2))),
        (ta.open_dataset(tmp_path / "x"), pd.DataFrame(y, columns=NAMES)),
    )
    for settings in ({"n_variables": 2, "regularization": 0.1}, {}):
        found = [_ask(*chunked, method="split", **settings) for chunked in chunks]
        first = found[0]
        for other in found[1:]:
            check_same(other, first)
            assert other.tuning == first.tuning
        assert first.drawn_from is None
        assert first.selection.drawn_rows is None
        assert first.n_train == (1050, 850)
        assert first.n_test == (1050, 850)
        assert first.held_out.n_x < 500
        if settings:
            assert first.reject
            assert first.variables == ("x1", "x2")
    assert "Tuned on 2" in first.summary()
    assert first.tuning.drawn_rows == (first.train.n_x, first.train.n_y)
    found[2].to_html(tmp_path / "report.html")
    assert "training rows, drawn at random" in (tmp_path / "report.html").read_text("utf-8")


def test_the_test_of_chunks_is_that_of_the_same_rows_in_memory(samples, split_blocks):
    from tellapart.data.reader import read_samples
    from tellapart.data.row_draws import Holdout
    from tellapart.kernels import Linear
    from tellapart.permutation.mmd import permutation_test_in_chunks
    from tellapart.statistics.coefficients import linear_part

    whole = read_samples(*samples)
    halves = Holdout.of(whole, 0.5, seed=3)
    out = [np.flatnonzero(halves.held_out(k, np.arange(n))) for k, n in enumerate((2100, 1700))]
    held_out = whole.rows(*out)
    for bandwidth in ("median", "mixed"):
        kernel = Linear(bandwidth=bandwidth).fit(whole)
        z = np.array([0.0, 0.6, 0.8, 0.0])
        null = permutation_test_in_chunks(
            whole, halves, kernel, z, n_permutations=199, alpha=0.05,
            rng=np.random.default_rng(0), n_jobs=2,
        )  # fmt: skip
        expected = z @ linear_part(held_out, kernel, 1)
        assert null.statistic == pytest.approx(expected, rel=0, abs=1e-12)
        assert null.rows_per_bin > 1
        assert null.note == ""
        assert abs(null.null_distribution.mean()) < 4 * null.null_distribution.std() / 199**0.5


def test_too_little_time_for_all_rows_draws_some(samples, few_drawn):
    from tellapart.two_sample.settings import Limits, TestSettings
    from tellapart.two_sample.two_sample_test import read_chunked, run_test

    x, y = samples
    chunks = read_chunked(da.from_array(x, chunks=(300, 4)), y)
    settings = TestSettings(method="split", n_variables=2, n_permutations=99, random_state=0)
    now = iter([0.0] + [1.0] * 1000)
    result = run_test(chunks, settings, limits=Limits.begin(5.0, 1e5, now.__next__))
    assert result.drawn_from == (2100, 1700)


@pytest.mark.parametrize("nulls", [20, pytest.param(100, marks=pytest.mark.long)])
def test_splits_of_chunks_keep_their_level(split_blocks, nulls):
    """Heavy tails, which are cut off, and a category, whatever was chosen before."""
    rejections = 0
    for seed in range(nulls):
        rng = np.random.default_rng(seed)
        x, y = (
            np.column_stack([np.exp(2 * rng.normal(size=n)), rng.integers(0, 4, n)])
            for n in (700, 600)
        )
        result = ta.two_sample_test(
            da.from_array(x, chunks=(300, 2)), y, method="split", n_variables=1,
            regularization=0.1, n_permutations=99, alpha=0.1, random_state=seed,
        )  # fmt: skip
        rejections += result.reject
        assert result.n_test == (350, 300)
    low, high = stats.binom.ppf([1e-4, 1 - 1e-4], nulls, 0.1)
    assert low <= rejections <= high
