"""Samples in chunks are known by what they are; nothing is loaded to find out."""

import subprocess
import sys

import dask.array as da
import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
from pyarrow import dataset as ds
from pyarrow import parquet

from tellapart.data.sources import is_chunked
from tellapart.data.sources.files import open_dataset


def test_what_counts_as_chunked(tmp_path):
    table, frame = pa.table({"a": [1, 2]}), pd.DataFrame({"a": [1, 2]})
    parquet.write_table(table, tmp_path / "a.parquet")
    chunked = (
        open_dataset(tmp_path),
        ds.dataset(table),
        ds.dataset(tmp_path),
        da.zeros((3, 2)),
        dd.from_pandas(frame, npartitions=1),
    )
    assert all(is_chunked(data) for data in chunked)
    assert not any(is_chunked(data) for data in (table, frame, frame.to_numpy(), [[1]], None, "a"))


def test_nothing_is_loaded_for_data_in_memory():
    code = (
        "import sys, numpy as np, pyarrow as pa\n"
        "from tellapart.data.reader import read_chunked\n"
        "from tellapart.data.sources import is_chunked\n"
        "assert not is_chunked(np.eye(3)) and not is_chunked(pa.table({'a': [1]}))\n"
        "read_chunked(np.eye(3), np.eye(3))\n"
        "assert not {'pyarrow.dataset', 'dask', 'distributed'} & set(sys.modules), 'loaded'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
