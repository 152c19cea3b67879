"""Tables of pandas and polars without pyarrow: the same columns and the same answers as with it."""

import sys
from datetime import date, datetime, timedelta
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

import tellapart as ta
from tellapart.data.columns import read_column, to_times
from tellapart.data.sources.table import make_frame
from tellapart.data.times import parts_of, type_of

DAYS = [date(2024, 2, 28) + timedelta(days=k) for k in range(4)]
COLUMNS = {
    "floats": pd.Series([1.5, np.nan, 2.0]),
    "wholes": pd.Series([3, 1, 2]),
    "large": pd.Series([2**60, 2**60 + 1, 5]),
    "nullable": pd.Series([1, None, 3], dtype="Int64"),
    "flags": pd.Series([True, False, True]),
    "some flags": pd.Series([True, None, False], dtype=object),
    "nullable flags": pd.Series([True, None, False], dtype="boolean"),
    "texts": pd.Series(["b", None, "a", "b"]),
    "strings": pd.Series(["b", None, "a", "b"], dtype="string"),
    "mixed": pd.Series(["b", 1, 2.0, None]),
    "decimals": pd.Series([Decimal("1.5"), None, Decimal("-2")]),
    "categories": pd.Series(["b", None, "a"], dtype=pd.CategoricalDtype(["a", "b", "c"])),
    "codes": pd.Series([3, 1, 3], dtype="category"),
    "intervals": pd.cut(pd.Series([0.5, 1.5, 2.5]), [0, 1, 2, 3]),
    "nothing": pd.Series([None, None], dtype=object),
    "polars floats": pl.Series([1.5, None, float("nan")]),
    "polars wholes": pl.Series([3, None, 2]),
    "polars flags": pl.Series([True, None, False]),
    "polars texts": pl.Series(["b", None, "a", "b"]),
    "polars categories": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
    "polars enum": pl.Series(["b", None, "a"], dtype=pl.Enum(["a", "b", "c"])),
    "polars decimals": pl.Series([Decimal("1.5"), None, Decimal("-2.0")]),
    "polars nothing": pl.Series([None, None]),
}


@pytest.fixture
def no_arrow(monkeypatch):
    """Return a function after which pyarrow seems not to be installed."""
    return lambda: monkeypatch.setitem(sys.modules, "pyarrow", None)


def as_series(values):
    return nw.from_native(values, series_only=True)


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_the_same(name, no_arrow):
    expected = read_column("X", name, as_series(COLUMNS[name]))
    no_arrow()
    found = read_column("X", name, as_series(COLUMNS[name]))
    assert (found.form, found.dtype, found.rounded) == (
        expected.form,
        expected.dtype,
        expected.rounded,
    )
    assert found.label_counts() == expected.label_counts() if expected.labels else not found.labels
    order = tuple(sorted(expected.labels))
    codes = [c.codes_among(order) if order else c.values for c in (found, expected)]
    np.testing.assert_array_equal(*codes)


def test_what_holds_times_is_the_same(no_arrow):
    columns = [pd.Series(DAYS), pd.Series(pd.to_datetime(DAYS)), pl.Series(DAYS), *COLUMNS.values()]
    expected = [parts_of(type_of(v)) if v is not None else () for v in map(timed, columns)]
    no_arrow()
    found = [parts_of(type_of(v)) if v is not None else () for v in map(timed, columns)]
    assert found == expected
    assert found[0] == ("days", "hour", "weekday", "month")


def timed(values):
    return to_times(as_series(values))


def table(rng, shift, library):
    n = 50
    columns = {
        "age": rng.normal(50 + shift, 10, n),
        "arm": rng.choice(["a", "b", "c"], n).tolist(),
        "visit": [
            datetime(2024, 1, 1) + timedelta(hours=int(h)) for h in rng.integers(0, 9_000, n)
        ],
        "there": zoned(rng.integers(0, 10**9, n), library),
        "ill": (rng.random(n) < 0.3).tolist(),
    }
    return library.DataFrame(columns)


def zoned(seconds, library):
    """Moments in a zone for which narwhals has no dtype, where they are of pandas."""
    moments = pd.Series(pd.to_datetime(seconds, unit="s")).dt.tz_localize("UTC")
    moments = moments.dt.tz_convert("America/New_York")
    return moments if library is pd else pl.from_pandas(moments)


@pytest.mark.parametrize("library", [pd, pl])
def test_answers_are_the_same(library, no_arrow):
    rng = np.random.default_rng(0)
    x, y = table(rng, 0, library), table(rng, 9, library)
    groups = ["u"] * 25 + ["v"] * 25
    few = {"n_permutations": 59, "random_state": 0}

    def answers():
        result = ta.two_sample_test(x, y, **few)
        of_groups = ta.compare_groups(x, by=groups, **few)
        by_column = ta.compare_groups(x, by="arm", **few)
        kept = [line for line in result.to_json().splitlines() if "seconds" not in line]
        return kept, *map(listed, (result.to_frame(), of_groups.to_frame(), by_column.to_frame()))

    expected = answers()
    no_arrow()
    assert answers() == expected


def listed(frame):
    """A table as texts: its library, and lists of values."""
    columns = (
        frame.to_dict("list") if isinstance(frame, pd.DataFrame) else frame.to_dict(as_series=False)
    )
    shown = {
        name: [v.tolist() if isinstance(v, np.ndarray) else v for v in values]
        for name, values in columns.items()
    }
    return type(frame).__module__, str(shown)


def test_blocks_of_time_are_the_same(no_arrow):
    texts = ["2024-01-01", "2024-01-07T18:00", "2024-01-08"]
    moments = [datetime.fromisoformat(text) for text in texts]
    given = [
        texts,
        ["2024-01-01T23:30:00+02:00", "2024-01-09T00:30:00Z"],
        moments,
        [moment.date() for moment in moments],
        np.array(texts, dtype="datetime64[s]"),
        pd.Series(moments),
        pd.Series(moments).dt.tz_localize("Asia/Kolkata"),
        pd.Series(texts),
        pl.Series(moments),
        pl.Series([moment.date() for moment in moments]),
    ]
    expected = [ta.time_blocks(times, "7D").tolist() for times in given]
    numbers = ta.time_blocks(pd.Series([0.5, 3.0, 7.9]), 4).tolist()
    no_arrow()
    assert [ta.time_blocks(times, "7D").tolist() for times in given] == expected
    assert ta.time_blocks(pd.Series([0.5, 3.0, 7.9]), 4).tolist() == numbers == [0.0, 0.0, 4.0]
    for wrong in (["yesterday"], [None, None], [timedelta(1)], pd.Series(["a"])):
        with pytest.raises(ta.InputError, match="times must"):
            ta.time_blocks(wrong, "7D")


def test_tables_are_made_of_what_is_installed(monkeypatch, no_arrow):
    columns = {"name": ["a", None], "size": [1, 2.5], "count": [3, None]}
    assert isinstance(make_frame(columns), pd.DataFrame)
    assert make_frame(columns, "polars").schema == {
        "name": pl.String,
        "size": pl.Float64,
        "count": pl.Int64,
    }
    no_arrow()
    assert isinstance(make_frame(columns, "pyarrow"), pd.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(make_frame(columns), pl.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ta.MissingDependencyError, match=r"a table needs pandas, polars or pyarrow"):
        make_frame(columns)
