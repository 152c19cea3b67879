"""Dask workers that are killed: tasks are done again, and where that is no use, one clear error.

The default call with a worker that dies once is in tests/testing/test_chunked.py, a sum in
tests/data/chunks/test_fold.py.
"""

import os
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

import tellapart as ta
from tellapart.errors import InputError


def _die(block, folder, times, block_info=None):
    """End the process at a block in the middle, so many times."""
    if block_info and block_info[None]["chunk-location"][0] == 2:
        before = len(list(Path(folder).iterdir()))
        if before < times:
            Path(folder, str(before)).touch()
            os._exit(1)
    return block


@pytest.mark.slow
def test_choices_and_splits_survive_and_a_block_that_kills_is_named(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(500, 3)), rng.normal((0, 1, 0), size=(400, 3))
    chunked = da.from_array(x, chunks=(100, 3))
    once, always = tmp_path / "once", tmp_path / "always"
    once.mkdir()
    always.mkdir()
    settings = {
        "distributed.scheduler.allowed-failures": 2,
        "distributed.logging.distributed": "critical",
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster),
    ):
        dying = chunked.map_blocks(_die, str(once), 1, dtype=float)
        chosen = ta.select_variables(dying, y, 1, random_state=0)
        np.testing.assert_array_equal(chosen.z, ta.select_variables(x, y, 1, random_state=0).z)
        assert len(list(once.iterdir())) == 1
        deadly = chunked.map_blocks(_die, str(always), 99, dtype=float)
        with pytest.raises(InputError, match=r"died one after the other.*smaller chunks") as caught:
            ta.two_sample_test(deadly, y, n_permutations=99, random_state=0)
        assert "\n" not in str(caught.value)
