"""Blocks of time as labels, and the warning where rows depend on those before them."""

import warnings
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tellapart as ta
from tellapart.data.reader import read_samples
from tellapart.data.time_blocks import warn_of_time_order
from tellapart.errors import InputError

DAYS = ["2024-01-01", "2024-01-07", "2024-01-08", "2023-12-31"]
WEEKS = ["2024-01-01", "2024-01-01", "2024-01-08", "2023-12-25"]


@pytest.mark.parametrize(
    "times",
    [
        DAYS,
        np.array(DAYS, dtype="datetime64[ns]"),
        pd.Series(pd.to_datetime(DAYS), index=[7, 8, 9, 10]),
        pd.DatetimeIndex(DAYS),
        pd.DatetimeIndex(DAYS, tz="Europe/Zurich"),
        pd.Series(DAYS, dtype="category"),
        pl.Series([date.fromisoformat(day) for day in DAYS]),
        pa.array([datetime.fromisoformat(day) for day in DAYS]),
        [date.fromisoformat(day) for day in DAYS],
        [f"{day}T23:30:00Z" for day in DAYS],
    ],
)
def test_weeks_begin_on_mondays(times: object) -> None:
    """Whatever holds the times, they are in the same weeks."""
    assert ta.time_blocks(times, "7D").tolist() == WEEKS


@pytest.mark.parametrize(
    "width", ["1W", "w", "7 d", "168h", timedelta(days=7), np.timedelta64(7, "D")]
)
def test_widths(width: object) -> None:
    """A week has several names."""
    found = pd.to_datetime(ta.time_blocks(DAYS, width)).tolist()
    assert found == pd.to_datetime(WEEKS).tolist()


def test_months_are_those_of_pandas() -> None:
    """Calendar months, quarters and years."""
    days = pd.Series(pd.date_range("2023-11-20", periods=200, freq="D"))
    for width, period in (("1M", "M"), ("Q", "Q"), ("1Y", "Y")):
        expected = days.dt.to_period(period).dt.start_time.dt.strftime("%Y-%m-%d")
        assert ta.time_blocks(days, width).tolist() == expected.tolist()
    hours = pd.Series(pd.date_range("2024-03-01", periods=100, freq="13min"))
    expected = hours.dt.floor("30min").dt.strftime("%Y-%m-%dT%H:%M:%S")
    assert ta.time_blocks(hours, "30min").tolist() == expected.tolist()


def test_pairs_and_numbers() -> None:
    """A pair gives a pair with the same blocks."""
    x, y = ta.time_blocks((np.arange(5), np.arange(4.0, 8.0)), 2)
    assert x.tolist() == [0, 0, 2, 2, 4]
    assert y.tolist() == [4, 4, 6, 6]


def test_blocks_are_cut_where_a_sample_ends() -> None:
    """Before and after are clusters, whichever day lies between them."""
    x, y = ta.time_blocks((DAYS[:1], ["2024-01-05", "2024-01-09"]), "7D")
    assert x.tolist() == ["2024-01-01"]
    assert y.tolist() == ["2024-01-05T00:00:00.000000", "2024-01-08"]
    x, y = ta.time_blocks((np.arange(5), np.arange(5.0, 8.0)), 2)
    assert (x.tolist(), y.tolist()) == ([0, 0, 2, 2, 4], [5, 6, 6])


@pytest.mark.parametrize(
    ("times", "width", "message"),
    [
        (DAYS, "fortnight", "width must be a span of time, such as '7D'"),
        (DAYS, "0D", "width must be a span of time"),
        (DAYS, 7, "width must be a span of time"),
        ([1.0, 2.0], "7D", "width must be a number above 0 for times that are numbers; got '7D'"),
        ([1.0, 2.0], -1, "width must be a number above 0"),
        ([1.0, np.inf], 1, "times must be finite"),
        (["2024-01-01", None], "7D", "times must not be missing; got 1 missing"),
        (["1 Jan", "2 Jan"], "7D", "times must be dates, datetimes, texts like"),
        ([True, False], "7D", "times must be dates, datetimes"),
        (np.zeros((3, 2)), 1, "times must have one dimension"),
    ],
)
def test_errors(times: object, width: object, message: str) -> None:
    """What is wrong is said in one line."""
    with pytest.raises(InputError, match=message):
        ta.time_blocks(times, width)


def walk(phi: float, seed: int, n: int = 120) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two tables of daily rows, one column of which is an AR(1) process."""
    rng = np.random.default_rng(seed)
    sides = []
    for first in (0, n):
        noise = rng.normal(size=(n, 3))
        for k in range(1, n):
            noise[k, 0] += phi * noise[k - 1, 0]
        side = pd.DataFrame(noise, columns=["level", "b", "c"])
        side["kind"] = rng.choice(["u", "v"], n)
        side["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(first + np.arange(n), unit="D")
        sides.append(side)
    return sides[0], sides[1]


def warned(x: pd.DataFrame, y: pd.DataFrame) -> list[str]:
    """Return the warnings about the order of rows."""
    samples = read_samples(x, y, keep=())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_time_order(samples, ("X", "Y"))
    return [str(one.message) for one in caught]


def test_independent_rows_are_not_warned_of() -> None:
    """At most one in forty pairs, whose rows of one day are sorted by value."""
    count = 0
    for seed in range(40):
        x, y = walk(0.0, seed, n=60)
        x["day"], y["day"] = x["day"].dt.floor("7D"), y["day"].dt.floor("7D")
        count += bool(warned(x.sort_values(["day", "b"]), y.sort_values(["day", "b"])))
    assert count <= 1


def test_dependent_rows_are() -> None:
    """The message has the column, its correlation in order of time, and what to do."""
    x, y = walk(0.8, 1)
    (message,) = warned(x.sample(frac=1, random_state=0), y)
    assert "'level' (0." in message
    assert "'b'" not in message
    assert "clusters=ta.time_blocks((X['day'], Y['day']), '7D')" in message


def test_only_where_no_design_is_given() -> None:
    """The call warns, and does not with blocks of time."""
    x, y = walk(0.8, 1)
    asked = {"n_permutations": 39, "random_state": 0, "families": "location"}
    with pytest.warns(UserWarning, match="in order of 'day' depend on those before them"):
        ta.two_sample_test(x, y, **asked)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        blocks = ta.time_blocks((x["day"], y["day"]), "15D")
        ta.two_sample_test(x, y, clusters=blocks, **asked)
