"""Queries, streams and paths: run once, checked first, refused with one clear line."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tellapart.data.grouping import read_grouped
from tellapart.data.reader import read_chunked, read_samples
from tellapart.data.sources import is_chunked, names_before_work
from tellapart.errors import InputError

TABLE = pa.table({"age": [31.0, 47.0, 52.0, 60.0], "sex": ["f", "m", "f", "m"]})
OTHER = pa.table({"sex": ["m", "m", "f"], "age": [64.5, 58.0, 41.0]})


class Stream:
    """Nothing but Arrow's C stream interface."""

    def __init__(self, batches):
        self.batches = batches

    def __arrow_c_stream__(self, requested_schema=None):
        return self.batches.__arrow_c_stream__(requested_schema)


def as_lazy(table):
    return pl.from_arrow(table).lazy()


def as_relation(table):  # DuckDB finds the table by its name
    return pytest.importorskip("duckdb").connect().from_arrow(table)


def counted(table, runs):
    """Return a lazy frame that counts how often it is run."""

    def run(frame):
        runs.append(len(frame))
        return frame

    lazy = as_lazy(table)
    return lazy.map_batches(run, schema=lazy.collect_schema())


@pytest.mark.parametrize("given", [as_lazy, as_relation, Stream, pa.Table.to_reader])
def test_the_same_samples_as_those_of_the_table(given):
    expected = read_samples(TABLE, OTHER)
    samples = read_samples(given(TABLE), given(OTHER))
    assert samples.names == expected.names
    assert samples.categories == expected.categories
    np.testing.assert_array_equal(samples.x, expected.x)
    np.testing.assert_array_equal(samples.y, expected.y)
    assert not is_chunked(given(TABLE))


@pytest.mark.parametrize("given", [as_lazy, as_relation, Stream])
def test_groups_and_designs_take_their_columns(given):
    grouped = read_grouped(given(TABLE), "sex")
    assert grouped.labels == ("f", "m")
    assert grouped.rows.names == ("age",)


def test_whole_numbers_of_a_database_are_numbers():
    duckdb = pytest.importorskip("duckdb")
    total = duckdb.sql("select sum(i) as total, (i % 2 = 0) as even from range(9) t(i) group by i")
    samples = read_samples(total, total)
    assert samples.kinds == ("numeric", "categorical")
    assert samples.x[:, 0].sum() == 36


def test_columns_are_checked_before_a_query_is_run():
    runs = []
    for other in (OTHER.select(["sex"]), as_lazy(OTHER.select(["sex"])), Stream(OTHER)):
        if isinstance(other, Stream):  # whose columns are not known before it is read
            continue
        with pytest.raises(InputError, match=r"only in X: 'age'"):
            read_samples(counted(TABLE, runs), other)
    dataset = pytest.importorskip("pyarrow.dataset").dataset(OTHER.select(["sex"]))
    with pytest.raises(InputError, match=r"only in X: 'age'"):
        read_chunked(counted(TABLE, runs), dataset)
    assert runs == []


def test_a_query_is_run_once():
    runs = []
    samples = read_samples(counted(TABLE, runs), OTHER)
    assert (samples.n_x, sum(runs)) == (4, 4)


def test_a_query_that_fails_is_one_line():
    lazy = as_lazy(TABLE)
    with pytest.raises(InputError, match=r"^Y: the query cannot be run: ColumnNotFoundError") as no:
        read_samples(lazy, lazy.select("height"))
    assert "\n" not in str(no.value)
    failing = lazy.map_batches(lambda frame: 1 // 0, schema=lazy.collect_schema())
    with pytest.raises(InputError, match=r"^X: the query cannot be run: ZeroDivisionError"):
        read_samples(failing, OTHER)


def test_names_known_without_reading_rows():
    assert names_before_work("X", as_lazy(TABLE)) == ("age", "sex")
    assert names_before_work("X", TABLE) == ("age", "sex")
    assert names_before_work("X", np.eye(2)) is None


def test_a_single_column_is_no_sample():
    with pytest.raises(InputError, match=r"got polars Series of one dimension"):
        read_samples(pl.Series([1.0, 2.0]), OTHER)
    with pytest.raises(InputError, match=r"whose stream cannot be read as a table"):
        read_samples(Stream(pa.chunked_array([[1.0, 2.0]])), OTHER)


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("a.csv", r"pass tellapart.open_dataset\('a.csv'\)$"),
        ("cells.h5ad", r"pass anndata.read_h5ad\('cells.h5ad'\)$"),
    ],
)
def test_a_path_points_to_what_opens_it(path, hint, tmp_path):
    with pytest.raises(InputError, match=hint):
        read_samples(path, path)
    with pytest.raises(InputError, match=r"if it is the path of a file"):
        read_samples(OTHER, tmp_path / path)
    with pytest.raises(InputError, match=hint):
        read_grouped(path, np.array(["a", "b"]))


def test_a_pandas_frame_with_repeated_names_is_still_refused_by_name():
    twice = pd.DataFrame(np.eye(3), columns=["a", "a", "b"])
    with pytest.raises(InputError, match=r"distinct column names"):
        read_samples(as_lazy(TABLE), twice)
