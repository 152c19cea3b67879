"""The same sums to the last bit, whoever holds the rows."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from scipy import sparse

from row_sums import DyingSums, Sums, numbers, write_parts
from tellapart.data.column_store import SparseColumns
from tellapart.data.reader import read_chunked, read_samples
from tellapart.data.row_stores import LANES, ArrayRows, Cut
from tellapart.data.sources.files import open_dataset

STEPS = (1, 2, 3, 7, 64, 1000, 5000)
N = 1003
FOLD = Sums(4)


@pytest.fixture(scope="module")
def values():
    return numbers(N)


@pytest.fixture(scope="module")
def answers(values):
    return {step: by_hand(values, step) for step in STEPS}


def by_hand(values, step):
    """Sum as the contract says, in the plainest way."""
    blocks = [values[k : k + step] for k in range(0, len(values), step)]
    length = max(-(-len(blocks) // 64), 4)
    total = None
    for first in range(0, len(blocks), length):
        held = FOLD.start()
        for b in range(first, min(first + length, len(blocks))):
            held = FOLD.add(held, b * step, np.asfortranarray(blocks[b]))
        total = held if total is None else FOLD.merge(total, held)
    return total


def check(store, values, answers, steps=STEPS):
    assert store.shape == values.shape
    for step in steps:
        told = []
        assert np.array_equal(store.fold(FOLD, step, told.append), answers[step])
        assert told[-1] == len(values)
        assert told == sorted(told)
    index = np.array([0, 1, 17, 500, 1002])
    assert np.array_equal(store.rows(index), values[index])


def store_of(X, values):
    return read_chunked(X, values[:5]).stores[0]


@pytest.mark.parametrize("n_blocks", [1, 63, 64, 65, 127, 128, 129, 1000])
def test_lanes_are_at_most_64_and_cover_all_blocks(n_blocks):
    lanes = Cut(n_blocks, 1).lanes
    assert len(lanes) <= LANES
    assert [block for lane in lanes for block in lane] == list(range(n_blocks))
    assert {len(lane) for lane in lanes[:-1]} <= {max(-(-n_blocks // 64), 4)}


def test_the_order_of_addition_shows(values, answers):
    assert not np.array_equal(answers[2], answers[3])


def test_arrays(values, answers):
    for array in (values, np.asfortranarray(values), np.repeat(values, 2, axis=0)[::2]):
        check(ArrayRows(array), values, answers)


def test_other_stores_of_columns(values, answers):
    check(ArrayRows(SparseColumns.from_scipy(sparse.csr_array(values))), values, answers)


def test_memory_mapped_arrays(values, answers, tmp_path):
    np.save(tmp_path / "x.npy", values)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    samples = read_samples(mapped, values)
    assert np.shares_memory(samples.x, mapped)
    check(samples.stores[0], values, answers)


@pytest.mark.parametrize("form", ["parquet", "feather", "csv"])
def test_files(values, answers, form, tmp_path):
    folder = tmp_path / form
    write_parts(folder, values, (1, 333, 334, 900), form)
    check(store_of(open_dataset(folder), values), values, answers)


def test_dask_arrays(values, answers):
    steps = (3, 1000)
    for chunks in ((N, 4), (97, 3), (N // 2, 1), ((1, 2, 1000), (4,))):
        check(store_of(da.from_array(values, chunks=chunks), values), values, answers, steps)


def test_dask_arrays_of_unknown_size(values, answers):
    whole = da.from_array(np.repeat(values, 2, axis=0), chunks=(101, 4))
    odd = whole[da.arange(2 * N, chunks=101) % 2 == 1]
    check(store_of(odd, values), values, answers, (3,))


def test_dask_frames(values, answers):
    frame = pd.DataFrame(values, columns=[f"x{s}" for s in range(4)])
    check(store_of(dd.from_pandas(frame, npartitions=7), values), values, answers, (3, 1000))


def test_the_threads_of_dask_may_be_one(values, answers):
    store = store_of(da.from_array(values, chunks=(97, 4)), values)
    with dask.config.set(scheduler="synchronous"):
        assert np.array_equal(store.fold(FOLD, 3), answers[3])


@pytest.mark.long
def test_clusters_and_a_worker_that_dies(dask_cluster, values, answers, tmp_path):
    marker = tmp_path / "died"
    fold = DyingSums(4, row=700, marker=str(marker))
    with Client(dask_cluster):
        store = store_of(da.from_array(values, chunks=(97, 4)), values)
        check(store, values, answers, (3,))
        assert np.array_equal(store.fold(fold, 3), answers[3])
        assert marker.exists()
