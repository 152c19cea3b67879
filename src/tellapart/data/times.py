"""Dates, times and durations split into parts that can be compared.

A moment has no distribution that means much beside that of another year: what can be compared is
the hour of the day, the weekday, the month, and time itself as a number, which sees a trend.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tellapart.arrays import FloatArray

DAYS, HOUR, WEEKDAY, MONTH, SECONDS = "days", "hour", "weekday", "month", "seconds"
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_MICROSECONDS = {"hour": 3_600_000_000, "day": 86_400_000_000}
# A time zone that is no more than an offset, such as "+02:00".
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
# 1 January 1970 was a Thursday.
_FIRST_WEEKDAY = WEEKDAYS.index("Thu")


def parts_of(kind: Any) -> tuple[str, ...]:
    """Return the parts into which values of an Arrow type are split; none if it is no time.

    >>> parts_of(pa.date32()), parts_of(pa.time32("s")), parts_of(pa.int64())
    (('days', 'hour', 'weekday', 'month'), ('hour',), ())
    """
    # A date is a moment at midnight: beside one with hours, it has the same parts.
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return (DAYS, HOUR, WEEKDAY, MONTH)
    if pa.types.is_time(kind):
        return (HOUR,)
    return (SECONDS,) if pa.types.is_duration(kind) else ()


def part_of(values: Any, part: str) -> Any:
    """Return one part of dates, times or durations, as an Arrow array.

    - days: days since 1 January 1970, with fractions; in UTC where there is a time zone;
    - hour: hours since midnight, with fractions, by the clock of the time zone given;
    - weekday, month: categories Mon…Sun and Jan…Dec, by the same clock;
    - seconds: the length of a duration.

    Parameters
    ----------
    values : Arrow array or chunked array
        Of a type with parts (see `parts_of`), or all null.
    part : str
        One of its parts.

    Examples
    --------
    >>> from datetime import datetime
    >>> when = pa.array([datetime(1970, 1, 2, 18), None])
    >>> [part_of(when, part).to_pylist() for part in parts_of(when.type)]
    [[1.75, None], [18.0, None], ['Fri', None], ['Jan', None]]
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_null(values.type):
        return values
    missing = values.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_duration(values.type):
        return _numbers(_whole(values.cast(pa.duration("us"), safe=False)) / 1e6, missing)
    if pa.types.is_time(values.type):
        clock = _whole(values.cast(pa.time64("us"), safe=False))
        return _numbers(clock / _MICROSECONDS["hour"], missing)
    if part == DAYS:
        return _numbers(_since_1970(values) / _MICROSECONDS["day"], missing)
    local = clock_microseconds(values)
    if part == HOUR:
        return _numbers(np.mod(local, _MICROSECONDS["day"]) / _MICROSECONDS["hour"], missing)
    days = np.floor_divide(local, _MICROSECONDS["day"])
    if part == WEEKDAY:
        return _labels(np.mod(days + _FIRST_WEEKDAY, len(WEEKDAYS)), WEEKDAYS, missing)
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return _labels(np.mod(months, len(MONTHS)), MONTHS, missing)


def clock_microseconds(values: Any) -> NDArray[np.int64]:
    """Return microseconds since 1970 of dates or moments, by the clock of their time zone.

    >>> clock_microseconds(pa.array([1], pa.date32())).tolist()
    [86400000000]
    """
    return _since_1970(_by_the_clock(values))


def part_name(column: str, part: str) -> str:
    """Return what a part of a column is called.

    >>> part_name("departure", "hour")
    'departure (hour)'
    """
    return f"{column} ({part})"


def split_name(name: str) -> tuple[str, str] | None:
    """Return the column and the part that a name may stand for, or None.

    >>> split_name("departure (hour)"), split_name("size (cm)")
    (('departure', 'hour'), None)
    """
    column, bracket, part = name.removesuffix(")").rpartition(" (")
    is_part = part in (DAYS, HOUR, WEEKDAY, MONTH, SECONDS)
    return (column, part) if bracket and is_part and name.endswith(")") else None


def _by_the_clock(values: Any) -> Any:
    if not pa.types.is_timestamp(values.type) or values.type.tz is None:
        return values
    offset = _OFFSET.fullmatch(values.type.tz)
    if offset is None:
        return pc.local_timestamp(values)
    # Older versions of Arrow know zones by name only.
    seconds = int(f"{offset[1]}1") * (int(offset[2]) * 3600 + int(offset[3]) * 60)
    moved = pc.add(values, pa.scalar(seconds, pa.duration("s")))
    return moved.cast(pa.timestamp(moved.type.unit, "UTC")).cast(pa.timestamp(moved.type.unit))


def _since_1970(values: Any) -> NDArray[np.int64]:
    """Return microseconds: they hold all dates that people have, from any unit."""
    zone = getattr(values.type, "tz", None)
    return _whole(values.cast(pa.timestamp("us", zone), safe=False))


def _whole(values: Any) -> NDArray[np.int64]:
    filled = values.cast(pa.int64()).fill_null(0)
    return np.asarray(filled.to_numpy(zero_copy_only=False))


def _numbers(values: FloatArray, missing: NDArray[np.bool_]) -> Any:
    return pa.array(values, pa.float64(), mask=missing)


def _labels(codes: NDArray[Any], labels: Sequence[str], missing: NDArray[np.bool_]) -> Any:
    indices = pa.array(codes.astype(np.int8), pa.int8(), mask=missing)
    return pa.DictionaryArray.from_arrays(indices, pa.array(labels))
