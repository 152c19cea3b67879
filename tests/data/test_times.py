"""Parts of dates, times and durations, held to what pandas says of them."""

from datetime import date, time, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tellapart.data.times import MONTHS, WEEKDAYS, part_of, parts_of, split_name

# Before about 1910 pandas 2 does not know when clocks were set.
MOMENTS = pd.Series(
    pd.to_datetime(["1912-12-31 23:59:59", "1969-12-31 12:00:00", None, "2024-02-29 06:45:30"])
)


def listed(values, part):
    found = part_of(pa.Array.from_pandas(values), part).to_pylist()
    return [None if v is None else round(v, 9) if isinstance(v, float) else v for v in found]


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
    assert part_of(days, "weekday").to_pylist() == ["Sun", None]
    assert part_of(days, "hour").to_pylist() == [0.0, None]
    clock = pa.array([time(6, 30), None, time(23, 59, 59)])
    assert parts_of(clock.type) == ("hour",)
    assert np.allclose(part_of(clock, "hour").drop_null(), [6.5, 24 - 1 / 3600])
    lengths = pa.array([timedelta(minutes=2), timedelta(microseconds=-5), None])
    assert parts_of(lengths.type) == ("seconds",)
    assert part_of(lengths, "seconds").to_pylist() == [120.0, -5e-6, None]


def test_the_calendar_is_in_order():
    week = pa.array([date(2024, 1, 1) + timedelta(days=k) for k in range(7)])
    assert tuple(part_of(week, "weekday").to_pylist()) == WEEKDAYS
    year = pa.array([date(2023, month, 5) for month in range(1, 13)])
    assert tuple(part_of(year, "month").to_pylist()) == MONTHS


def test_names_of_parts():
    assert split_name("a (b) (hour)") == ("a (b)", "hour")
    assert split_name("hour") is None
    assert split_name("x (hour") is None
