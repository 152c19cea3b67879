"""Files, folders and patterns: what opens, and what is refused by its name."""

import gzip
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import dataset as ds
from pyarrow import feather, parquet

from row_sums import numbers, table, write_parts
from tellapart.data.reader import read_chunked, read_samples
from tellapart.data.sources.files import open_dataset, read_table
from tellapart.errors import InputError


def rows_of(dataset):
    store = read_chunked(dataset, dataset).stores[0]
    return store.rows(np.arange(store.shape[0]))


@pytest.mark.parametrize("form", ["parquet", "feather", "csv"])
def test_folders_patterns_and_lists(form, tmp_path):
    values = numbers(50)
    folder = tmp_path / form
    paths = write_parts(folder, values, (20, 30), form)
    (folder / "_SUCCESS").touch()
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "x.parquet").touch()
    for given in (folder, str(folder / "part*"), paths, map(str, paths)):
        assert np.array_equal(rows_of(open_dataset(given)), values)
    assert np.array_equal(
        rows_of(open_dataset(paths[::-1])), values[[*range(30, 50), *range(20, 30), *range(20)]]
    )
    assert np.array_equal(rows_of(open_dataset(paths[0])), values[:20])


def test_folders_within_folders(tmp_path):
    values = numbers(20)
    for k, year in enumerate(("year=2023", "year=2024")):
        write_parts(tmp_path / year, values[10 * k : 10 * k + 10], (), "parquet")
    assert np.array_equal(rows_of(open_dataset(tmp_path)), values)
    assert np.array_equal(rows_of(open_dataset(str(tmp_path / "**" / "*.parquet"))), values)


def test_tabs_and_compressed_files(tmp_path):
    text = "a\tb\n1\tx\n2.5\ty\n3\tx\n"
    (tmp_path / "a.tsv").write_text(text)
    with gzip.open(tmp_path / "b.tsv.gz", "wt") as file:
        file.write(text)
    assert rows_of(open_dataset(tmp_path)).tolist() == [[1, 0], [2.5, 1], [3, 0]] * 2


def test_columns_can_be_chosen(tmp_path):
    parquet.write_table(table(numbers(9)), tmp_path / "a.parquet")
    assert open_dataset(tmp_path, columns=["x2", "x0"]).names == ("x2", "x0")
    assert open_dataset(tmp_path, drop=["x2", "x0"]).names == ("x1", "x3")
    assert np.array_equal(rows_of(open_dataset(tmp_path, columns=["x2"])), numbers(9)[:, [2]])
    assert repr(open_dataset(tmp_path)) == "<FileDataset of 1 file, 4 columns>"
    assert open_dataset(tmp_path, drop=["x1"]).to_table().column_names == ["x0", "x2", "x3"]


def test_names_are_taken_literally(tmp_path):
    given = pa.table({"a.b": [1.0, 2.0], "": [3.0, 4.0], "{x}": [5.0, 6.0], "a": [7.0, 8.0]})
    parquet.write_table(given, tmp_path / "a.parquet")
    feather.write_feather(given, tmp_path / "a.feather")
    for path in (tmp_path / "a.parquet", tmp_path / "a.feather"):
        assert rows_of(open_dataset(path)).tolist() == [[1, 3, 5, 7], [2, 4, 6, 8]]
        assert rows_of(open_dataset(path, columns=["a", ""])).tolist() == [[7, 3], [8, 4]]


def test_datasets_of_arrow_keep_their_filters_and_partitions(tmp_path):
    for year in (2023, 2024):
        write_parts(tmp_path / f"year={year}", numbers(20, seed=year), (), "parquet")
    both = ds.dataset(tmp_path, partitioning="hive")
    assert read_chunked(both, both).names == ("x0", "x1", "x2", "x3", "year")
    late = ds.dataset(tmp_path).filter(ds.field("x0") > 0)
    expected = np.concatenate([numbers(20, seed=year) for year in (2023, 2024)])
    assert np.array_equal(rows_of(late), expected[expected[:, 0] > 0])


def test_row_labels_are_left_out(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0]}, index=["p", "q"]).to_csv(tmp_path / "a.csv")
    with pytest.warns(UserWarning, match="taken for row labels"):
        assert open_dataset(tmp_path).names == ("a",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert open_dataset(tmp_path, drop=[""]).names == ("a",)


# Beyond the first megabyte, from which Arrow guesses the types.
LATE = {
    "whole numbers, then fractions": ("1", "1.5"),
    "numbers, then text": ("1", "high"),
    "nothing, then numbers": ("", "7"),
    "nothing, then text": ("", "north"),
    "nothing, then truth values": ("", "true"),
    "truth values, then text": ("true", "maybe"),
}


@pytest.mark.parametrize("case", LATE)
def test_types_may_show_late_in_a_text_file(case, tmp_path):
    early, late = LATE[case]
    path = tmp_path / f"{case}.csv"
    lines = [f"{early},{k}.5,filling" for k in range(100_000)] + [f"{late},1,filling"] * 100_001
    path.write_text("\n".join(["a,b,c", *lines]) + "\n")
    memory = read_table(path)
    expected = read_samples(memory, memory, missing="drop-rows")
    found = read_chunked(open_dataset(path), open_dataset(path), missing="drop-rows")
    assert found.kinds == expected.kinds
    assert found.categories == expected.categories
    rows = found.stores[0].rows(np.arange(found.n_read[0]))
    assert np.array_equal(rows[~np.isnan(rows).any(axis=1)], expected.x)
    assert found.n_values == (expected.n_x, expected.n_y)


def test_numbers_of_several_types_are_numbers(tmp_path):
    parquet.write_table(pa.table({"a": [1, 2]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"a": [1.5, 2.5]}), tmp_path / "b.parquet")
    parquet.write_table(pa.table({"a": pa.nulls(1)}), tmp_path / "c.parquet")
    found = read_chunked(*[open_dataset(tmp_path)] * 2, missing="drop-rows")
    assert found.stores[0].rows(np.arange(4)).ravel().tolist() == [1, 2, 1.5, 2.5]
    assert found.dropped_rows == (1, 1)


def refused(message, paths, **settings):
    with pytest.raises(InputError, match=message):
        open_dataset(paths, **settings)


def test_what_cannot_be_opened_is_named(tmp_path):
    good = tmp_path / "good.parquet"
    parquet.write_table(table(numbers(500)), good)
    refused("there is no such file", tmp_path / "none.parquet")
    refused("no file of .* matches", str(tmp_path / "*.csv"))
    refused("at least one file", [])
    (tmp_path / "folder").mkdir()
    refused("folder: no file of", tmp_path / "folder")
    (tmp_path / "empty.parquet").touch()
    refused("empty.parquet: the file is empty", [good, tmp_path / "empty.parquet"])
    (tmp_path / "cut.parquet").write_bytes(good.read_bytes()[:-20])
    refused("cut.parquet: the file cannot be read", [good, tmp_path / "cut.parquet"])
    (tmp_path / "cut.feather").write_bytes(b"ARROW1 and then nothing of use")
    refused("cut.feather: the file cannot be read", tmp_path / "cut.feather")
    (tmp_path / "a.csv").write_text("x0\n1\n")
    refused(
        "a.csv: all files must be of one format; got csv beside parquet", [good, tmp_path / "a.csv"]
    )
    (tmp_path / "a.xlsx").write_text("x")
    refused("file name must end in", tmp_path / "a.xlsx")
    (tmp_path / "a.h5ad").write_text("x")
    refused("must be of csv, tsv", tmp_path / "a.h5ad")
    (tmp_path / "semicolons.csv").write_text("a;b\n1;2\n")
    refused("looks separated by ';'", tmp_path / "semicolons.csv")
    (tmp_path / "latin.csv").write_bytes("a,b\nM\xfcnchen,1\n".encode("latin-1"))
    refused("UTF-8", tmp_path / "latin.csv")
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n")
    refused("twice.csv: .* multiple columns named a", tmp_path / "twice.csv")


def test_files_must_fit_together(tmp_path):
    first = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"a": [1], "b": ["x"]}), first)
    parquet.write_table(pa.table({"a": [1], "c": ["x"]}), tmp_path / "b.parquet")
    refused("b.parquet: must have the same columns .*missing: 'b'; beyond them: 'c'", tmp_path)
    parquet.write_table(pa.table({"a": ["x"], "b": ["x"]}), tmp_path / "b.parquet")
    refused("b.parquet: column 'a' must be of one type .* got string beside int64", tmp_path)
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.csv").write_text("b,a\n1,2\n")
    refused("b.csv: must have the columns in the same order", str(tmp_path / "*.csv"))


def test_columns_must_exist(tmp_path):
    parquet.write_table(table(numbers(9)), tmp_path / "a.parquet")
    refused("drop must name columns .* none called 'z'", tmp_path, drop=["z"])
    refused("columns must name columns .* none called 'z'", tmp_path, columns=["z"])
    refused("must be a sequence of names", tmp_path, drop="x0")
    refused("at least one column that is not dropped", tmp_path, columns=["x0"], drop=["x0"])


def test_no_rows(tmp_path):
    feather.write_feather(table(numbers(9))[:0], tmp_path / "a.feather")
    with pytest.raises(InputError, match="X must have at least 2 rows; got 0"):
        read_chunked(open_dataset(tmp_path), numbers(9))


def test_files_that_are_damaged_inside(tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(table(numbers(5000)), path, compression="zstd")
    content = bytearray(path.read_bytes())
    content[5000:60_000] = bytes(55_000)
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.parquet: the file cannot be read"):
        read_chunked(open_dataset(path), numbers(9))
    (tmp_path / "b.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(InputError, match=r"the file cannot be read.*Expected 2 columns, got 1"):
        read_chunked(open_dataset(tmp_path / "b.csv"), numbers(9, n_columns=2))


def test_files_that_change_between_two_passes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n" + "1\n" * 50)
    store = read_chunked(open_dataset(path), numbers(9, n_columns=1)).stores[0]
    for n_rows in (40, 60):
        path.write_text("a\n" + "1\n" * n_rows)
        with pytest.raises(InputError, match="changed while they were read: there were 50 rows"):
            store.rows(np.arange(5))
