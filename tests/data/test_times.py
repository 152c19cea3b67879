"""Parts of dates, times and durations, held to what pandas says of them."""

from datetime import UTC, date, datetime, time, timedelta

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tellapart.data.times import (
    MONTHS,
    WEEKDAYS,
    moments_of,
    part_of,
    parts_of,
    split_name,
    type_of,
)

# Before about 1910 pandas 2 does not know when clocks were set.
MOMENTS = pd.Series(
    pd.to_datetime(["1912-12-31 23:59:59", "1969-12-31 12:00:00", None, "2024-02-29 06:45:30"])
)


def listed(values, part):
    """What pandas holds, read by Arrow; without it, of pandas and of polars, it is the same."""
    found = shown(pa.Array.from_pandas(values), part)
    for table in (values, *([] if unknown_to_polars(values) else [pl.from_pandas(values)])):
        assert shown(nw.from_native(table, series_only=True), part) == found
    return [round(v, 9) if isinstance(v, float) else v for v in found]


def unknown_to_polars(values):
    return "+02:00" in str(values.dtype)


def shown(values, part):
    """A part in plain values: labels, numbers, None where it is missing."""
    found = part_of(values, part)
    plain = [None if np.isnan(v) else v for v in found.values.tolist()]
    return [v if v is None or not found.labels else found.labels[int(v)] for v in plain]


def expected(moments, name):
    parts = {
        "hour": moments.dt.hour + moments.dt.minute / 60 + moments.dt.second / 3600,
        "weekday": moments.dt.strftime("%a"),
        "month": moments.dt.strftime("%b"),
    }
    return [None if pd.isna(v) else round(v, 9) if isinstance(v, float) else v for v in parts[name]]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_parts_are_those_of_pandas_in_any_unit(unit):
    moments = MOMENTS.astype(f"datetime64[{unit}]")
    for part in ("hour", "weekday", "month"):
        assert listed(moments, part) == expected(moments, part)
    since = (moments - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    assert np.allclose(listed(moments.dropna(), "days"), since.dropna())


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata", "+02:00"])
def test_hours_are_by_the_clock_of_the_zone_and_days_by_that_of_the_world(zone):
    there = MOMENTS.dt.tz_localize("UTC").dt.tz_convert(zone)
    for part in ("hour", "weekday", "month"):
        assert listed(there, part) == expected(there, part)
    assert listed(there, "days") == listed(MOMENTS, "days")


def test_dates_times_of_day_and_durations():
    days = pa.array([date(2024, 7, 14), None])
    clock = pa.array([time(6, 30), None, time(23, 59, 59)])
    lengths = pa.array([timedelta(minutes=2), timedelta(microseconds=-5), None])
    # Of Arrow, and of polars where Arrow is not installed.
    for given in ([days, clock, lengths], map(polars_column, (days, clock, lengths))):
        days, clock, lengths = given
        assert shown(days, "weekday") == ["Sun", None]
        assert shown(days, "hour") == [0.0, None]
        assert parts_of(type_of(clock)) == ("hour",)
        assert shown(clock, "hour") == [6.5, None, pytest.approx(24 - 1 / 3600)]
        assert parts_of(type_of(lengths)) == ("seconds",)
        assert shown(lengths, "seconds") == [120.0, -5e-6, None]


def polars_column(values):
    return nw.from_native(pl.from_arrow(values), series_only=True)


def test_objects_that_are_moments():
    found = moments_of([date(2024, 7, 14), None, datetime(2024, 7, 14, 6)])
    assert found.astype(str).tolist()[1:] == ["NaT", "2024-07-14T06:00:00.000000"]
    assert moments_of([timedelta(seconds=2)]).tolist() == [timedelta(seconds=2)]
    mixed = [[date(2024, 7, 14), timedelta(1)], ["2024-07-14"], [None], []]
    assert [moments_of(some) for some in mixed] == [None] * 4
    assert moments_of([datetime(2024, 7, 14, tzinfo=UTC)]) is None


def test_the_calendar_is_in_order():
    week = pa.array([date(2024, 1, 1) + timedelta(days=k) for k in range(7)])
    assert tuple(shown(week, "weekday")) == WEEKDAYS
    year = pa.array([date(2023, month, 5) for month in range(1, 13)])
    assert tuple(shown(year, "month")) == MONTHS


def test_names_of_parts():
    assert split_name("a (b) (hour)") == ("a (b)", "hour")
    assert split_name("hour") is None
    assert split_name("x (hour") is None
