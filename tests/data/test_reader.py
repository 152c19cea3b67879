"""The door for data: what comes in, in which form, and what is refused with which words."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from libraries import every_library
from tellapart.data.reader import read_samples
from tellapart.data.sources.array import with_names
from tellapart.errors import InputError

DATA_X = {"age": [31, 47, 52], "dose": [0.5, 1.5, 2.5]}
DATA_Y = {"dose": [3.5, 4.5], "age": [64, 58]}


def good():
    return np.arange(8.0).reshape(4, 2)


class TestArrays:
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_float64_is_not_copied(self, order):
        X = np.asarray(np.random.default_rng(0).normal(size=(50, 4)), order=order)
        Y = X[:20]
        samples = read_samples(X, Y)
        assert np.shares_memory(samples.x, X)
        assert np.shares_memory(samples.y, Y)
        assert samples.names == ("x0", "x1", "x2", "x3")
        assert samples.kinds == ("numeric",) * 4

    @pytest.mark.parametrize("order", ["C", "F"])
    def test_checks_allocate_nothing_of_the_size_of_the_data(self, order):
        X = np.asarray(np.random.default_rng(0).normal(size=(20_000, 50)), order=order)
        tracemalloc.start()
        read_samples(X, X[:100])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < X.nbytes / 20

    @pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint64", ">f8"])
    def test_other_numbers_become_float64(self, dtype):
        samples = read_samples(good().astype(dtype), good())
        assert samples.x.dtype == np.float64
        np.testing.assert_array_equal(samples.x, good())

    def test_lists_of_rows(self):
        samples = read_samples([[1, 2], [3, 4]], [(5, 6.5), (7, 8)])
        assert samples.x.tolist() == [[1, 2], [3, 4]]
        assert samples.y.tolist() == [[5, 6.5], [7, 8]]

    def test_booleans_are_categorical(self):
        X = np.array([[True, False], [True, True]])
        samples = read_samples(X, ~X)
        assert samples.kinds == ("categorical", "categorical")
        assert samples.categories == {"x0": ("False", "True"), "x1": ("False", "True")}
        assert samples.x.tolist() == [[1, 0], [1, 1]]
        with pytest.raises(InputError, match=r"'x0' must be of one kind.*booleans \(bool\) in X"):
            read_samples(X, good())

    def test_objects_that_are_numbers_pass_and_none_is_missing(self):
        X = np.array([[1, 2.5], [None, 3], [4, pd.NA], [5, 6]], dtype=object)
        assert read_samples(X, good(), missing="drop-rows").x.tolist() == [[1, 2.5], [5, 6]]

    def test_a_mask_means_missing(self):
        X = np.ma.masked_array(good(), mask=good() == 3.0)
        with pytest.raises(InputError, match=r"column 'x1' \(1 in X\)"):
            read_samples(X, good())

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            (np.arange(5.0), r"X must be 2-dimensional.*got numpy ndarray of one dimension.*resh"),
            ([1, 2, 3], r"X must be 2-dimensional.*got list of one dimension; reshape"),
            (pd.Series([1, 2]), r"X must be 2-dimensional.*got pandas Series.*to_frame"),
            (pl.Series([1, 2]), r"X must be 2-dimensional.*got polars Series.*to_frame"),
            (np.zeros((2, 2, 2)), r"X must be a 2-dimensional array.*got .* of 3 dimensions"),
            (3.0, r"X must be a 2-dimensional array.*got float of 0 dimensions"),
            ([[1, 2], [3]], r"X must be .*got list with rows of unequal length"),
            (
                "a.csv",
                r"X must be a 2-dimensional array.*got the text 'a\.csv'; if it is the path",
            ),
            (None, "X must be a 2-dimensional array, .* table, or AnnData; got NoneType"),
            ({"a": [1, 2]}, "X must be .*; got dict"),
            (sparse.eye_array(3) * 1j, "X must hold numbers; got a sparse matrix of dtype complex"),
            (sparse.csr_array((0, 2)), "X must have at least 2 rows; got 0"),
            (sparse.csr_array((5, 0)), "X must have at least one column; got none"),
            (sparse.coo_array([1.0, 2.0]), "X must be .*got scipy coo_array of 1 dimensions"),
            (np.zeros((0, 2)), "X must have at least 2 rows; got 0"),
            (np.zeros((1, 2)), "X must have at least 2 rows; got 1"),
            (np.zeros((5, 0)), "X must have at least one column; got none"),
            (np.ones((3, 3)), "X and Y must have the same number of columns; got 3 and 2"),
            (good() * 1j, "X must hold numbers; got an array of dtype complex128"),
            (
                np.zeros((2, 2), "M8[D]"),
                r"column 'x0' of X must hold numbers.* got dtype timestamp",
            ),
            ([[1, 2], [3, "a"]], r"X must hold numbers; got 'a' \(str\) at row 1, column 1"),
            (np.array([[1, 2], ["a", 4]]), r"X must hold numbers; got 'a' \(str\) at row 1, colu"),
            (
                np.array([["1", "2"]] * 2),
                r"X must hold numbers; got '1' \(str\) at row 0, column 0",
            ),
            (np.array([[1, "2"]] * 2, dtype=object), r"got '2' \(str\) at row 0, column 1"),
        ],
    )
    def test_refused(self, bad, message):
        with pytest.raises(InputError, match=message) as caught:
            read_samples(bad, good())
        assert "\n" not in str(caught.value)

    def test_the_message_says_which_sample(self):
        with pytest.raises(InputError, match="Y must have at least 2 rows"):
            read_samples(good(), good()[:1])


class TestNames:
    @every_library
    def test_columns_are_matched_by_name_in_the_order_of_x(self, table):
        samples = read_samples(table(DATA_X), table(DATA_Y))
        assert samples.names == ("age", "dose")
        assert samples.x.tolist() == [[31, 0.5], [47, 1.5], [52, 2.5]]
        assert samples.y.tolist() == [[64, 3.5], [58, 4.5]]

    def test_libraries_mix(self):
        samples = read_samples(pd.DataFrame(DATA_X), pl.DataFrame(DATA_Y))
        assert samples.y.tolist() == [[64, 3.5], [58, 4.5]]

    @every_library
    def test_an_array_takes_the_names_of_a_table_and_is_not_copied(self, table):
        for samples, values in (
            (read_samples(table(DATA_X), good()), "y"),
            (read_samples(good(), table(DATA_X)), "x"),
        ):
            assert samples.names == ("age", "dose")
            np.testing.assert_array_equal(getattr(samples, values), good())
        Y = good()
        assert np.shares_memory(read_samples(table(DATA_X), Y).y, Y)

    def test_labels_that_are_no_strings_become_strings(self):
        samples = read_samples(pd.DataFrame(good()), pd.DataFrame(good()[:, ::-1], columns=[1, 0]))
        assert samples.names == ("0", "1")
        np.testing.assert_array_equal(samples.x, samples.y)

    def test_mixed_columns_with_integer_labels_are_read_by_position(self):
        X = pd.DataFrame({1: ["a", "b"], 0: [1.0, 2.0]})
        samples = read_samples(X, X)
        assert samples.names == ("1", "0")
        assert samples.kinds == ("categorical", "numeric")

    @every_library
    def test_different_columns_are_named(self, table):
        X = table({"a": [1, 2], "b": [1, 2], **{f"c{i}": [1, 2] for i in range(9)}})
        Y = table({"a": [1, 2], "z": [1, 2]})
        with pytest.raises(
            InputError,
            match=r"X and Y must have the same columns; "
            r"got only in X: 'b', 'c0', 'c1', 'c2', 'c3' and 5 more; only in Y: 'z'$",
        ):
            read_samples(X, Y)

    @every_library
    def test_one_sided_difference_says_one_side_only(self, table):
        with pytest.raises(InputError, match=r"got only in Y: 'dose'$"):
            read_samples(table({"age": [1, 2]}), table(DATA_Y))

    @pytest.mark.parametrize(
        "bad",
        [
            pd.DataFrame(good(), columns=["a", "a"]),
            pa.table([[1, 2], [3, 4]], names=["a", "a"]),
            pd.DataFrame(np.ones((2, 3)), columns=["a", "b", "a"]),
        ],
    )
    def test_repeated_names_are_named(self, bad):
        with pytest.raises(InputError, match=r"X must have distinct column names; .* one 'a'$"):
            read_samples(bad, bad)

    def test_labels_equal_only_as_strings_are_repeated_names(self):
        bad = pd.DataFrame(good(), columns=[1, "1"])
        with pytest.raises(InputError, match=r"Y must have distinct column names; .* one '1'$"):
            read_samples(good(), bad)

    @every_library
    def test_empty_tables_are_refused(self, table):
        with pytest.raises(InputError, match="X must have at least one column; got none"):
            read_samples(table({}), table({}))
        with pytest.raises(InputError, match="X must have at least 2 rows; got 0"):
            read_samples(table({"a": []}), table({"a": []}))


def test_unknown_policy_is_refused_before_any_work():
    with pytest.raises(InputError, match="missing must be one of 'error', 'pairwise', 'drop-rows'"):
        read_samples(None, None, missing="impute")


def test_pandas_and_polars_are_never_imported():
    code = (
        "import sys, numpy as np; from tellapart.data.reader import read_samples\n"
        "read_samples(np.eye(3), np.eye(3))\n"
        "assert not {'pandas', 'polars'} & set(sys.modules), 'imported'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i4", "u2", ">f8"])
def test_memory_mapped_arrays_are_never_copied_whole(dtype, tmp_path):
    values = np.random.default_rng(0).integers(0, 99, (5000, 3)).astype(dtype)
    np.save(tmp_path / "x.npy", values)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    samples = read_samples(with_names(mapped, list("abc")), values)
    held = samples.x if isinstance(samples.x, np.ndarray) else samples.x.values
    assert np.shares_memory(held, mapped)
    np.testing.assert_array_equal(samples.x[:, [2, 0]], values[:, [2, 0]].astype(float))
    assert samples.x[:, 0].dtype == np.float64


def test_bad_values_in_memory_mapped_arrays_are_counted(tmp_path):
    values = np.zeros((9, 2), dtype=np.float32)
    values[4, 1], values[7, 1] = np.nan, np.nan
    np.save(tmp_path / "x.npy", values)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    with pytest.raises(InputError, match=r"missing values; got values in column 'x1' \(2 in X\)"):
        read_samples(mapped, values[:3])
    assert read_samples(mapped, values[:3], missing="drop-rows").n_x == 7
