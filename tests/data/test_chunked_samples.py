"""What is read from chunks is what is read from memory: values, draws, and what is refused."""

from dataclasses import replace

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import dataset as ds
from pyarrow import parquet

from row_sums import numbers, write_parts
from tellapart.data.reader import read_chunked, read_samples
from tellapart.data.sources.files import open_dataset
from tellapart.errors import InputError


def mixed(n_rows, seed, labels):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.normal(50, 9, n_rows),
            "visits": rng.poisson(3, n_rows),
            "clinic": rng.choice(labels, n_rows),
            "smoker": rng.random(n_rows) < 0.3,
            "stage": pd.Categorical(rng.choice(["III", "I"], n_rows), ["I", "II", "III"]),
        }
    )


X, Y = mixed(900, 0, ["north", "east"]), mixed(700, 1, ["west", "north"])[::-1]


def as_files(folder, frame, cuts):
    folder.mkdir()
    for start, stop in zip((0, *cuts), (*cuts, len(frame)), strict=True):
        part = pa.Table.from_pandas(frame[start:stop], preserve_index=False)
        parquet.write_table(part, folder / f"{start:04d}.parquet", row_group_size=83)
    return open_dataset(folder)


def as_csv(folder, frame, cuts):
    folder.mkdir()
    for start, stop in zip((0, *cuts), (*cuts, len(frame)), strict=True):
        frame[start:stop].to_csv(folder / f"{start:04d}.csv", index=False)
    return open_dataset(folder)


def check_same(found, expected):
    """Compare chunked samples with samples in memory, to the last bit."""
    memory = replace(expected, seed=3)
    for name in ("names", "kinds", "categories", "n_read", "n_values", "dropped_columns"):
        assert getattr(found, name) == getattr(memory, name), name
    assert found.dropped_rows == memory.dropped_rows
    read = expected if expected.as_read is None else expected.as_read
    for mine, other in zip(found.stores, (read.x, read.y), strict=True):
        assert np.array_equal(mine.rows(np.arange(len(other))), other, equal_nan=True)
    mine, other = found.whole, memory.whole
    assert np.array_equal(mine.least, other.least)
    assert np.array_equal(mine.greatest, other.greatest)
    assert np.array_equal(mine.pooled, other.pooled, equal_nan=True)
    assert np.array_equal(mine.pooled_rows[0], other.pooled_rows[0])
    assert np.array_equal(mine.pooled_rows[1], other.pooled_rows[1])
    drawn = [
        one.drawn if one.drawn.as_read is None else one.drawn.as_read for one in (found, memory)
    ]
    assert np.array_equal(drawn[0].x, drawn[1].x, equal_nan=True)
    assert np.array_equal(drawn[0].y, drawn[1].y, equal_nan=True)
    for name in ("names", "kinds", "categories", "dropped_columns", "dropped_rows"):
        assert getattr(found.drawn, name) == getattr(expected, name)


@pytest.fixture(autouse=True)
def few_drawn(set_budget):
    set_budget(pooled_rows=300)
    set_budget(drawn_rows=120)


def in_forms(tmp_path, x=X, y=Y):
    """Give the two samples in every form of chunks."""
    yield as_files(tmp_path / "x", x, (1, 400)), as_files(tmp_path / "y", y, (333,))
    yield as_files(tmp_path / "x2", x, ()), y
    yield dd.from_pandas(x, npartitions=5), dd.from_pandas(y, npartitions=2, sort=False)
    yield pa.table(x), dd.from_pandas(y, npartitions=3, sort=False)


def test_tables_of_every_kind_of_column(tmp_path):
    expected = read_samples(X, Y)
    for x, y in in_forms(tmp_path):
        check_same(read_chunked(x, y, seed=3), expected)


def test_columns_are_matched_by_name(tmp_path):
    for x, y in in_forms(tmp_path, X, Y[["clinic", "age", "stage", "smoker", "visits"]]):
        check_same(read_chunked(x, y, seed=3), read_samples(X, Y))


def test_text_files_have_no_categories_but_text(tmp_path):
    text = {"stage": str, "smoker": bool}
    check_same(
        read_chunked(as_csv(tmp_path / "x", X, (7,)), as_csv(tmp_path / "y", Y, ()), seed=3),
        read_samples(X.astype(text), Y.astype(text)),
    )


def test_arrays_without_names(tmp_path):
    x, y = numbers(500), numbers(400, seed=1)
    expected = read_samples(x, y)
    check_same(read_chunked(da.from_array(x, chunks=(77, 3)), y, seed=3), expected)
    folder = tmp_path / "y"
    write_parts(folder, y, (3,), "feather")
    check_same(read_chunked(da.from_array(x, chunks=500), open_dataset(folder), seed=3), expected)


def test_dask_arrays_of_truth_values_and_integers():
    x, y = np.arange(40).reshape(20, 2) % 3, np.arange(60).reshape(30, 2) % 2
    check_same(read_chunked(da.from_array(x, chunks=(7, 1)), y, seed=3), read_samples(x, y))
    x, y = x > 0, y > 0
    check_same(read_chunked(da.from_array(x, chunks=(7, 1)), y, seed=3), read_samples(x, y))


def gappy(frame, seed):
    rng = np.random.default_rng(seed)
    frame = frame.copy()
    frame.loc[rng.random(len(frame)) < 0.1, "age"] = np.nan
    frame.loc[rng.random(len(frame)) < 0.1, "clinic"] = None
    return frame


@pytest.mark.parametrize("missing", ["pairwise", "drop-rows", "drop-columns"])
def test_missing_values_are_left_out_or_filled_in(missing, tmp_path):
    x, y = gappy(X, 0), gappy(Y, 1)
    expected = read_samples(x, y, missing=missing)
    (tmp_path / missing).mkdir()
    for forms in in_forms(tmp_path / missing, x, y):
        found = read_chunked(*forms, missing=missing, seed=3)
        check_same(found, expected)
        assert found.pattern.names == expected.as_read.pattern.names == ("age", "clinic")
        more = found.draw(500, np.random.default_rng(0))
        assert not np.isnan(more.x).any()
        assert more.n_read == (500, 500)


def test_other_seeds_draw_other_rows():
    x, y = ds.dataset(pa.table(X)), ds.dataset(pa.table(Y))
    first, second = (read_chunked(x, y, seed=seed).whole.pooled_rows[0] for seed in (0, 1))
    assert not np.array_equal(first, second)


def test_progress_counts_the_rows_of_both():
    told = []
    read_chunked(ds.dataset(pa.table(X)), ds.dataset(pa.table(Y)), progress=told.append)
    assert told[-1] == 1600
    assert told == sorted(told)


def test_wide_samples_get_fewer_drawn_rows(set_budget):
    set_budget(drawn_bytes=8 * 5 * 50)
    set_budget(fewest_drawn_rows=10)
    found = read_chunked(ds.dataset(pa.table(X)), Y)
    assert found.whole.pooled.shape[0] == 50


def refused(message, x, y=None, **settings):
    y = x if y is None else y
    for left, right in ((x, y), (dd.from_pandas(x, 2, sort=False), y)):
        left = ds.dataset(pa.table(left)) if isinstance(left, pd.DataFrame) else left
        with pytest.raises(InputError, match=message):
            read_chunked(left, right, **settings)


def test_bad_input_is_named():
    infinite = X.replace({"age": {X.age[5]: np.inf}})
    named = [X.assign(clinic=[f"x{i}" for i in range(900)]), Y.assign(clinic=Y.index.astype(str))]
    named[1]["clinic"] = "y" + named[1]["clinic"]
    day = pd.Timestamp("2024-01-01")
    refused("missing values; got values in column 'age' .* in X", gappy(X, 0), X)
    refused("finite numbers; got infinite values in column 'age' .1 in X", infinite, X)
    refused("at most 1e.150", X.assign(age=1e200), X)
    refused("only in X: 'age'; only in Y: 'years'", X, X.rename(columns={"age": "years"}))
    refused("one kind in X and Y; got numbers .* text", X, X.assign(age=["a", "b"] * 450))
    refused("'clinic' of X and Y looks like an identifier", *named)
    refused("must hold numbers, but all .* text", X.assign(clinic="1.5"), Y.assign(clinic="2"))
    refused("must leave at least one column", X[["age"]] * np.nan, missing="drop-columns")
    refused("at least 2 rows of X; got 0", X.assign(age=np.nan), X, missing="drop-rows")
    refused("at least 2 rows; got 1", X[:1], X)
    refused("must be one of", X, missing="ignore")
    refused("numbers, booleans, categories or text", X.assign(age=day))


def test_too_many_labels_are_refused_while_reading(set_budget):
    set_budget(most_levels=3)
    refused("more than 3 distinct labels", X.assign(clinic=[f"c{i % 5}" for i in range(900)]))


def test_dask_arrays_that_are_no_samples():
    for bad, message in (
        (da.zeros(5), "2-dimensional"),
        (da.from_array(np.array([["a", "b"]] * 3)), "must hold numbers"),
        (da.zeros((5, 3)), "same number of columns"),
    ):
        with pytest.raises(InputError, match=message):
            read_chunked(bad, np.zeros((4, 2)))
    with pytest.raises(InputError, match="at least one column"):
        read_chunked(da.zeros((5, 0)), da.zeros((5, 0)))


def test_chunks_of_different_kinds_are_refused():
    parts = [pd.DataFrame({"a": pd.Series(part, dtype=object)}) for part in ([1, 2], ["x", "y"])]
    with dask.config.set({"dataframe.convert-string": False}):
        frame = dd.from_map(lambda k: parts[k], [0, 1], meta=parts[0])
        with pytest.raises(InputError, match="one kind in all of its chunks"):
            read_chunked(frame, np.zeros((3, 1)))
