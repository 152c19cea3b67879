"""Dask workers that are killed: tasks are done again, and where that is no use, one clear error.

The default call with a worker that dies once is in tests/two_sample/test_chunked.py, a sum in
tests/data/test_row_stores.py.
"""

import os
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from distributed import Client

import tellapart as ta
from tellapart.errors import InputError

SPLIT = {"method": "split", "n_variables": 1, "regularization": 0.1, "n_permutations": 99}


def _die(block, folder, times, block_info=None):
    """End the process at a block in the middle, so many times."""
    if block_info and block_info[None]["chunk-location"][0] == 2:
        before = len(list(Path(folder).iterdir()))
        if before < times:
            Path(folder, str(before)).touch()
            os._exit(1)
    return block


@pytest.fixture
def cluster(dask_cluster):
    with Client(dask_cluster):
        yield dask_cluster


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    return rng.normal(size=(500, 3)), rng.normal((0, 1, 0), size=(400, 3))


@pytest.fixture
def dying(cluster, samples, tmp_path):
    """Return what makes X in chunks, of which the third kills its worker so many times."""

    def make(name, times):
        folder = tmp_path / name
        folder.mkdir()
        chunked = da.from_array(samples[0], chunks=(100, 3))
        return chunked.map_blocks(_die, str(folder), times, dtype=float), folder

    return make


def _choice(x, y):
    return ta.select_variables(x, y, 1, random_state=0).z


def _split(x, y):
    result = ta.two_sample_test(x, y, **SPLIT, random_state=0)
    return [result.pvalue, result.statistic, *result.selection.z, *result.null_distribution]


def _check(x, y):
    monitor = ta.compare_to_reference(x, n_permutations=99, random_state=0)
    result = monitor.check(y)
    return [result.pvalue, result.statistic, monitor.n_rows, *result.selection.z]


def _check_against(x, y):
    return _check(y, x)


@pytest.mark.long
def test_workers_that_die(cluster, dying, samples, monkeypatch, set_budget):
    for ask in (_choice, _split, _check, _check_against):
        x, folder = dying(ask.__name__, 1)
        np.testing.assert_array_equal(ask(x, samples[1]), ask(*samples))
        assert len(list(folder.iterdir())) == 1
    _check_a_split_that_never_holds_its_rows(dying, samples, set_budget)
    # A worker that dies takes seconds to be replaced: here one death is enough to give up.
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    _check_that_a_block_which_kills_every_worker_is_one_error(dying, samples)


def _check_a_split_that_never_holds_its_rows(dying, samples, set_budget):
    """Halves are summed over chunks then, in several passes."""
    set_budget(drawn_rows=100)
    x, folder = dying("summed", 1)
    whole = da.from_array(samples[0], chunks=(100, 3))
    np.testing.assert_array_equal(_split(x, samples[1]), _split(whole, samples[1]))
    assert len(list(folder.iterdir())) == 1


def _check_that_a_block_which_kills_every_worker_is_one_error(dying, samples):
    x, _ = dying("always", 99)
    scan = {"n_permutations": 99}
    for settings in (scan, SPLIT):
        with pytest.raises(InputError, match=r"^X and Y must .* died one .*smaller chunks") as told:
            ta.two_sample_test(x, samples[1], **settings, random_state=0)
        assert "\n" not in str(told.value)
    with pytest.raises(InputError, match=r"^reference must be Dask data .* smaller chunks"):
        ta.compare_to_reference(x, random_state=0)
    monitor = ta.compare_to_reference(samples[1], n_permutations=99, random_state=0)
    with pytest.raises(InputError, match=r"^batch must be Dask data .* smaller chunks"):
        monitor.check(x)
    assert monitor.history == ()  # a batch that was not read is no check
