"""Columns of tables as numbers: each dtype of each library, labels, and damaged text."""

import datetime
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from libraries import every_library
from tellapart.data.columns import label_of, looks_numeric, read_column, sorted_labels
from tellapart.data.reader import read_samples
from tellapart.errors import InputError

NUMERIC = {
    "pandas nullable": pd.DataFrame({"v": pd.array([1, 2, 3], dtype="Int64")}),
    "pandas arrow": pd.DataFrame({"v": pd.array([1, 2, 3], dtype="int64[pyarrow]")}),
    "pandas float16": pd.DataFrame({"v": np.array([1, 2, 3], dtype="float16")}),
    "pandas object": pd.DataFrame({"v": pd.Series([1, 2.0, Decimal(3)], dtype=object)}),
    "pandas decimal": pd.DataFrame({"v": [Decimal(1), Decimal(2), Decimal(3)]}),
    "polars decimal": pl.DataFrame({"v": [Decimal(1), Decimal(2), Decimal(3)]}),
    "polars uint8": pl.DataFrame({"v": pl.Series([1, 2, 3], dtype=pl.UInt8)}),
    "pyarrow decimal": pa.table({"v": [Decimal(1), Decimal(2), Decimal(3)]}),
    "pyarrow chunks": pa.table({"v": pa.chunked_array([[1], [2, 3]])}),
    "pyarrow half": pa.table({"v": pa.array(np.array([1, 2, 3], dtype="float16"))}),
}
CATEGORICAL = {
    "pandas": pd.DataFrame({"v": ["b", "a", "b"]}),
    "pandas object": pd.DataFrame({"v": pd.Series(["b", "a", "b"], dtype=object)}),
    "pandas category": pd.DataFrame({"v": pd.Categorical(["b", "a", "b"], ["z", "b", "a"])}),
    "polars": pl.DataFrame({"v": ["b", "a", "b"]}),
    "polars categorical": pl.DataFrame({"v": pl.Series(["b", "a", "b"], dtype=pl.Categorical)}),
    "polars enum": pl.DataFrame({"v": pl.Series(["b", "a", "b"], dtype=pl.Enum(["b", "a"]))}),
    "pyarrow": pa.table({"v": ["b", "a", "b"]}),
    "pyarrow large": pa.table({"v": pa.array(["b", "a", "b"], pa.large_string())}),
    "pyarrow view": pa.table({"v": pa.array(["b", "a", "b"], pa.string_view())}),
    "pyarrow dictionary": pa.table({"v": pa.array(["b", "a", "b"]).dictionary_encode()}),
    "pyarrow chunks": pa.table(
        {"v": pa.chunked_array([pa.array(c).dictionary_encode() for c in (["b"], ["a", "b"])])}
    ),
}
WIDE = pa.table({"v": ["c", "a"]})


@pytest.mark.parametrize("frame", NUMERIC.values())
def test_numbers_of_every_dtype(frame):
    samples = read_samples(frame, pa.table({"v": [5.5, 6.5]}))
    assert samples.kinds == ("numeric",)
    assert samples.x.dtype == np.float64
    assert samples.x.ravel().tolist() == [1, 2, 3]


@pytest.mark.parametrize("frame", NUMERIC.values())
def test_numbers_beside_a_text_column_are_the_same(frame):
    text = {"pandas": pd.Series, "polars": pl.Series, "pyarrow": pa.array}
    values = text[type(frame).__module__.partition(".")[0]](["p", "q", "p"])
    if isinstance(frame, pd.DataFrame):
        both = frame.assign(t=values)
    elif isinstance(frame, pl.DataFrame):
        both = frame.with_columns(t=values)
    else:
        both = frame.append_column("t", values)
    samples = read_samples(both, both)
    assert samples.kinds == ("numeric", "categorical")
    assert samples.x[:, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("frame", CATEGORICAL.values())
def test_labels_of_every_dtype_are_pooled_and_sorted(frame):
    samples = read_samples(frame, WIDE)
    assert samples.kinds == ("categorical",)
    assert samples.categories == {"v": ("a", "b", "c")}
    assert samples.x.ravel().tolist() == [1, 0, 1]
    assert samples.y.ravel().tolist() == [2, 0]


@every_library
def test_booleans_keep_both_labels(table):
    samples = read_samples(table({"v": [True, True]}), table({"v": [True, True, True]}))
    assert samples.kinds == ("categorical",)
    assert samples.categories == {"v": ("False", "True")}
    assert samples.x.ravel().tolist() == [1, 1]


def test_numeric_categories_are_labelled_alike_and_sorted_by_size():
    x = pd.DataFrame({"v": pd.Categorical([10, 9, 10])})
    y = pd.DataFrame({"v": pd.Categorical([9.0, 10.0, 2.5])})
    samples = read_samples(x, y)
    assert samples.categories == {"v": ("2.5", "9", "10")}
    assert samples.x.ravel().tolist() == [2, 1, 2]


def test_intervals_of_pandas_keep_their_printed_form():
    frame = pd.DataFrame({"v": pd.cut([1, 2, 3, 4], [0, 2, 4])})
    samples = read_samples(frame, frame)
    assert samples.categories == {"v": ("(0, 2]", "(2, 4]")}
    assert samples.x.ravel().tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("value", [None, float("nan"), pd.NA])
def test_missing_objects_of_pandas(value):
    frame = pd.DataFrame({"v": pd.Series(["a", value, "b", "b"], dtype=object)})
    with pytest.raises(InputError, match=r"column 'v' \(1 in X, 1 in Y\)"):
        read_samples(frame, frame)
    samples = read_samples(frame, frame, missing="drop-rows")
    assert samples.x.ravel().tolist() == [0, 1, 1]


@every_library
def test_missing_values_of_every_library(table):
    data = {"n": [1.0, None, 3.0], "i": [1, 2, None], "s": ["a", "b", "b"], "b": [True, None, True]}
    with pytest.raises(
        InputError, match=r"'n' \(1 in X\), column 'i' \(1 in X\), column 'b' \(1 in X\);"
    ):
        read_samples(table(data), table({k: [v[0]] * 3 for k, v in data.items()}))


def test_nan_in_polars_and_pyarrow_is_missing():
    for make in (pl.DataFrame, pa.table):
        with pytest.raises(InputError, match=r"'v' \(1 in X\)"):
            read_samples(make({"v": [1.0, float("nan")]}), make({"v": [1.0, 2.0]}))


def test_missing_stored_as_a_label_by_arrow_is_missing():
    values = pa.array(["a", None, "b"]).dictionary_encode(null_encoding="encode")
    with pytest.raises(InputError, match=r"'v' \(1 in X\)"):
        read_samples(pa.table({"v": values}), pa.table({"v": ["a", "b"]}))


@every_library
def test_a_column_of_nothing_takes_the_kind_of_the_other(table):
    empty = table({"v": [None, None], "w": [1, 2]})
    with pytest.raises(
        InputError, match=r"missing values; got values in column 'v' \(all 2 in X\)"
    ):
        read_samples(empty, table({"v": ["a", "b"], "w": [1, 2]}))
    assert read_samples(empty, empty, missing="drop-columns").names == ("w",)


@every_library
def test_damaged_numbers_are_refused_with_an_example(table):
    x, y = table({"v": ["12", "n/a", "13.5"]}), table({"v": ["7", "8"]})
    with pytest.raises(
        InputError,
        match="column 'v' of X and Y must hold numbers; got text in 1 of 5 values, such as 'n/a'",
    ):
        read_samples(x, y)


@every_library
def test_damaged_numbers_against_numbers_name_the_damaged_sample(table):
    with pytest.raises(InputError, match="column 'v' of Y must hold numbers; got text in 1 of 2"):
        read_samples(table({"v": [1.0, 2.0]}), table({"v": ["12", "?"]}))


def test_numbers_among_objects_count_as_numbers():
    frame = pd.DataFrame({"v": pd.Series([12, "n/a", 13.5], dtype=object)})
    with pytest.raises(InputError, match="got text in 2 of 6 values, such as 'n/a'"):
        read_samples(frame, frame)


@every_library
def test_numbers_written_as_text_are_refused(table):
    for values in (["1", "2"], ["1,5", "2,5"], ["1,000.5", "2"]):
        with pytest.raises(
            InputError, match=r"'v' of X and Y .*all 4 are written as text.*convert"
        ):
            read_samples(table({"v": values}), table({"v": values}))


@every_library
def test_text_with_few_numbers_is_categorical(table):
    frame = table({"v": ["low", "high", "3"]})
    assert read_samples(frame, frame).categories == {"v": ("3", "high", "low")}


def test_a_dtype_that_says_category_may_hold_numbers():
    x = pd.DataFrame({"v": pd.Categorical(["1", "2", "2"])})
    assert read_samples(x, pd.DataFrame({"v": ["2", "1"]})).categories == {"v": ("1", "2")}


@every_library
def test_identifiers_are_refused(table):
    x = table({"v": [f"p{i}" for i in range(40)]})
    y = table({"v": [f"q{i}" for i in range(40)]})
    with pytest.raises(InputError, match="'v' of X and Y looks like an identifier: 80 distinct"):
        read_samples(x, y)
    many = table({"v": [f"p{i % 60}" for i in range(200)]})
    assert len(read_samples(many, many).categories["v"]) == 60


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1.0, 2.0], ["a", "b"], r"got numbers \(.*\) in X and text \(.*\) in Y"),
        ([True, False], [1, 0], r"got booleans \(.*\) in X and numbers \(.*\) in Y"),
        (["a", "b"], [True, False], r"got text \(.*\) in X and booleans \(.*\) in Y"),
    ],
)
@every_library
def test_kinds_that_differ_are_refused(table, x, y, message):
    with pytest.raises(InputError, match="column 'v' must be of one kind in X and Y; " + message):
        read_samples(table({"v": x}), table({"v": y}))


@pytest.mark.parametrize(
    ("frame", "dtype"),
    [
        (pd.DataFrame({"v": pd.to_datetime(["2020-01-01"] * 2)}), "datetime64"),
        (pd.DataFrame({"v": pd.to_timedelta([1, 2])}), "timedelta64"),
        (pd.DataFrame({"v": [1j, 2j]}), "complex128"),
        (pd.DataFrame({"v": pd.arrays.SparseArray([0.0, 1.0]), "w": [1.0, 2.0]}), "Sparse"),
        (pd.DataFrame({"v": pd.Series([{}, "a"], dtype=object)}), r"object \(holding dict, str\)"),
        (pd.DataFrame({"v": pd.Series([True, "a"], dtype=object)}), r"object \(holding bool, str"),
        (pl.DataFrame({"v": [datetime.date(2020, 1, 1)] * 2}), "Date"),
        (pl.DataFrame({"v": [[1], [2]]}), "List"),
        (pl.DataFrame({"v": pl.Series([object()] * 2, dtype=pl.Object)}), "Object"),
        (pa.table({"v": [b"a", b"b"]}), "binary"),
        (pa.table({"v": [{"a": 1}, {"a": 2}]}), "struct"),
    ],
)
def test_other_dtypes_are_refused_by_name(frame, dtype):
    with pytest.raises(
        InputError, match=f"column 'v' of X must hold numbers, .* got dtype {dtype}.*drop"
    ) as caught:
        read_samples(frame, frame)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("text", ["1", "-2.5", "1e5", " 3 ", "1,5", "1,234.5", "nan", "inf"])
def test_looks_numeric(text):
    assert looks_numeric(text)


@pytest.mark.parametrize("text", ["", "a", "n/a", "1_000", "1-2", "2020-01-01"])
def test_does_not_look_numeric(text):
    assert not looks_numeric(text)


def test_labels():
    assert sorted_labels(["10", "9", "10"]) == ("9", "10")
    assert sorted_labels(["b", "10", "9"]) == ("10", "9", "b")
    assert [label_of(v) for v in (1, 1.0, 1.5, "a", True)] == ["1", "1", "1.5", "a", "True"]


def test_a_name_that_polars_cannot_hand_over():
    series = nw.from_native(pl.Series("a\x00b", ["u", "v"]), series_only=True)
    assert read_column("X", "a\x00b", series).labels == ("u", "v")


def test_text_that_is_no_text_is_refused():
    damaged = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"a\xe2")]
    )
    series = nw.from_native(pa.chunked_array([damaged]), series_only=True)
    with pytest.raises(InputError, match=r"column 'g' of X must hold text in UTF-8; got byte 0xe2"):
        read_column("X", "g", series)
