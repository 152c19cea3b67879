"""Dates, times and durations split into parts that can be compared.

A moment has no distribution that means much beside that of another year: what can be compared is
the hour of the day, the weekday, the month, and time itself as a number, which sees a trend.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray
from tellapart.optional import is_arrow, pa, pc

DAYS, HOUR, WEEKDAY, MONTH, SECONDS = "days", "hour", "weekday", "month", "seconds"
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_MICROSECONDS = {"hour": 3_600_000_000, "day": 86_400_000_000}
# A time zone that is no more than an offset, such as "+02:00".
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
# 1 January 1970 was a Thursday.
_FIRST_WEEKDAY = WEEKDAYS.index("Thu")


class Part(NamedTuple):
    """One part of dates, times or durations: numbers, or codes into labels; NaN where missing."""

    values: FloatArray
    labels: tuple[str, ...] = ()


def type_of(values: Any) -> Any:
    """Return the type of an Arrow array, or the dtype of a column of narwhals or NumPy."""
    if isinstance(values, nw.Series) and _is_zoned(values):
        return nw.Datetime()
    return values.dtype if isinstance(values, nw.Series | np.ndarray) else values.type


def is_null(values: Any) -> bool:
    """Say whether all values of an Arrow array, or of a column of narwhals, are missing."""
    if isinstance(values, np.ndarray):
        return False
    count = values.null_count() if isinstance(values, nw.Series) else values.null_count
    return bool(count == len(values))


def parts_of(kind: Any) -> tuple[str, ...]:
    """Return the parts into which values of a type are split, of Arrow or of narwhals, if any.

    >>> parts_of(pa.date32()), parts_of(pa.time32("s")), parts_of(pa.int64())
    (('days', 'hour', 'weekday', 'month'), ('hour',), ())
    """
    if isinstance(kind, np.dtype):
        return ()
    if isinstance(kind, nw.dtypes.DType):
        is_moment, is_time = isinstance(kind, nw.Datetime | nw.Date), isinstance(kind, nw.Time)
        is_duration = isinstance(kind, nw.Duration)
    else:
        is_moment = pa.types.is_timestamp(kind) or pa.types.is_date(kind)
        is_time, is_duration = pa.types.is_time(kind), pa.types.is_duration(kind)
    # A date is a moment at midnight: beside one with hours, it has the same parts.
    if is_moment:
        return (DAYS, HOUR, WEEKDAY, MONTH)
    if is_time:
        return (HOUR,)
    return (SECONDS,) if is_duration else ()


def part_of(values: Any, part: str) -> Part:
    """Return one part of dates, times or durations.

    - days: days since 1 January 1970, with fractions; in UTC where there is a time zone;
    - hour: hours since midnight, with fractions, by the clock of the time zone given;
    - weekday, month: categories Mon…Sun and Jan…Dec, by the same clock;
    - seconds: the length of a duration.

    Parameters
    ----------
    values : Arrow array or chunked array; column of narwhals where pyarrow is not installed
        Of a type with parts (see `parts_of`).
    part : str
        One of its parts.

    Examples
    --------
    >>> from datetime import datetime
    >>> when = pa.array([datetime(1970, 1, 2, 18), None])
    >>> for part in parts_of(when.type):
    ...     part, part_of(when, part).values
    ('days', array([1.75,  nan]))
    ('hour', array([18., nan]))
    ('weekday', array([ 4., nan]))
    ('month', array([ 0., nan]))
    """
    if isinstance(values, nw.Series):
        missing = values.is_null().to_numpy()
    else:
        if is_arrow(values, "ChunkedArray"):
            values = values.combine_chunks()
        missing = values.is_null().to_numpy(zero_copy_only=False)
    kind = type_of(values)
    if SECONDS in parts_of(kind):
        return _numbers(_lengths(values) / 1e6, missing)
    if DAYS not in parts_of(kind):
        return _numbers(_since_midnight(values) / _MICROSECONDS["hour"], missing)
    if part == DAYS:
        return _numbers(_since_1970(values) / _MICROSECONDS["day"], missing)
    local = clock_microseconds(values)
    if part == HOUR:
        return _numbers(np.mod(local, _MICROSECONDS["day"]) / _MICROSECONDS["hour"], missing)
    days = np.floor_divide(local, _MICROSECONDS["day"])
    if part == WEEKDAY:
        codes = np.mod(days + _FIRST_WEEKDAY, len(WEEKDAYS))
        return _numbers(codes, missing)._replace(labels=WEEKDAYS)
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return _numbers(np.mod(months, len(MONTHS)), missing)._replace(labels=MONTHS)


def clock_microseconds(values: Any) -> NDArray[np.int64]:
    """Return microseconds since 1970 of dates or moments, by the clock of their time zone.

    >>> clock_microseconds(pa.array([1], pa.date32())).tolist()
    [86400000000]
    """
    return _since_1970(_by_the_clock(values))


def moments_of(objects: Sequence[object]) -> NDArray[Any] | None:
    """Return dates, moments or durations of Python as NumPy has them; None for anything else.

    >>> from datetime import date
    >>> moments_of([date(1970, 1, 2), None])
    array(['1970-01-02T00:00:00.000000',                        'NaT'],
          dtype='datetime64[us]')
    """
    present = [value for value in objects if value is not None]
    for kinds, dtype in (((date,), "datetime64[us]"), ((timedelta,), "timedelta64[us]")):
        zones = any(getattr(value, "tzinfo", None) for value in present)
        if present and not zones and all(isinstance(value, kinds) for value in present):
            return np.array(objects, dtype=dtype)
    return None


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
    if isinstance(values, nw.Series):
        zoned = _is_zoned(values) or getattr(values.dtype, "time_zone", None) is not None
        return values.dt.replace_time_zone(None) if zoned else values
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
    if isinstance(values, nw.Series):
        if values.dtype == nw.Date:
            values = values.cast(nw.Datetime("us"))
        if _is_zoned(values):
            native: Any = values.to_native()
            values = nw.from_native(native.dt.tz_convert("UTC"), series_only=True)
        return _whole(values.dt.timestamp("us"))
    zone = getattr(values.type, "tz", None)
    return _whole(values.cast(pa.timestamp("us", zone), safe=False))


def _is_zoned(values: nw.Series[Any]) -> bool:
    """Say whether a column is one of moments in a zone that narwhals has no name for.

    It does not know zones of pandas with an underscore, such as America/New_York.
    """
    clock = getattr(values.to_native(), "dt", None) if values.dtype == nw.Unknown else None
    return getattr(clock, "tz", None) is not None


def _since_midnight(values: Any) -> NDArray[np.int64]:
    if isinstance(values, nw.Series):  # of polars, in nanoseconds: pandas has no such dtype
        return _whole(values.cast(nw.Int64)) // 1_000
    return _whole(values.cast(pa.time64("us"), safe=False))


def _lengths(values: Any) -> NDArray[np.int64]:
    if isinstance(values, nw.Series):
        return _whole(values.dt.total_microseconds())
    return _whole(values.cast(pa.duration("us"), safe=False))


def _whole(values: Any) -> NDArray[np.int64]:
    if isinstance(values, nw.Series):
        return values.fill_null(0).to_numpy().astype(np.int64)
    filled = values.cast(pa.int64()).fill_null(0)
    return np.asarray(filled.to_numpy(zero_copy_only=False))


def _numbers(values: NDArray[Any], missing: NDArray[np.bool_]) -> Part:
    return Part(np.where(missing, np.nan, values))
