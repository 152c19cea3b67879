"""Rows in order of time: blocks of time as clusters, and a warning where rows depend on each other.

Rows that follow each other in time are alike: by autocorrelation, trends and seasons. Labels of
single rows may then not be permuted; those of whole blocks of time may, approximately, where
blocks are long beside the dependence.

The warning is a test of its own. In each sample, rows are put in order of time, ties at random, and
columns are replaced by their ranks. If rows are exchangeable, the lag-1 correlation of n ranks has
the mean −1/(n − 1), a variance of about 1/n and a normal tail. The smallest one-sided p-value
counts 2·(columns) times.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import special

from tellapart.arrays import FloatArray
from tellapart.data.columns import to_times
from tellapart.data.samples import Samples
from tellapart.data.times import DAYS, clock_microseconds, moments_of, part_name, parts_of
from tellapart.errors import InputError, warn_caller
from tellapart.optional import is_arrow, is_installed, pa, stats
from tellapart.text import described

_WIDTH = re.compile(r"(\d*)\s*([A-Za-z]+)")
_UNITS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_MONTHS = {"m": 1, "q": 3, "y": 12}
# Weeks begin on Mondays: 29 December 1969 is the last one before 1970.
_FIRST_MONDAY = -3 * 86_400_000_000
MOST_CUT = 2
"""Blocks that a pair of samples may share, to be cut where one ends and the other begins."""
WIDTHS = "such as '7D', '12h', '30min', '2W', '1M' (months), '1Q' or '1Y'"


def time_blocks(times: Any, width: Any) -> Any:
    """Return the block of time of every row, for `clusters=`, `strata=` or `paired=`.

    Blocks have equal widths and begin at fixed moments: the same time is in the same block in every
    call. As clusters they should be several times as long as rows stay alike.

    Parameters
    ----------
    times : array or series of times, or a pair of them
        Dates, datetimes, ISO 8601 texts or numbers; of a time zone, by its clock. A pair, one for
        each sample, gives a pair.
    width : str, timedelta or float
        The width of a block: such as "7D", "12h", "30min", "2W" (weeks begin on Mondays), "1M"
        (calendar months), "1Q" or "1Y"; of numbers, a number.

    Returns
    -------
    array of str or float, or pair of them
        The beginning of each row's block. Of a pair, a block in which one sample ends and the
        other begins is cut there; blocks that both samples share otherwise are strata or pairs,
        not clusters.

    Examples
    --------
    >>> from tellapart import time_blocks
    >>> time_blocks(["2024-01-01", "2024-01-07T18:00", "2024-01-08"], "7D").tolist()
    ['2024-01-01', '2024-01-01', '2024-01-08']
    >>> time_blocks([0.5, 3.0, 7.9], 4).tolist()
    [0.0, 0.0, 4.0]
    """
    if isinstance(times, tuple | list) and len(times) == 2 and not any(map(_is_one, times)):
        sides = [_blocks(own, width) for own in times]
        return _cut([moments for moments, _ in sides], [labels for _, labels in sides])
    return _blocks(times, width)[1]


def _blocks(times: Any, width: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return times as numbers, and the beginning of each block."""
    numbers = _from_arrow(times) if is_installed("pyarrow") else _from_plain(times)
    if numbers.dtype == np.float64:
        return numbers, _number_blocks(numbers, width)
    return numbers, _moment_blocks(numbers, width)


def _from_arrow(times: Any) -> NDArray[Any]:
    """Return times as numbers, or as microseconds since 1970 by the clock."""
    moments = _as_arrow(times)
    _check_present(moments.null_count)
    if pa.types.is_integer(moments.type) or pa.types.is_floating(moments.type):
        return np.asarray(moments.to_numpy(zero_copy_only=False).astype(np.float64))
    return clock_microseconds(moments)


def _from_plain(times: Any) -> NDArray[Any]:
    """Return the same without Arrow."""
    native = nw.from_native(cast(Any, times), series_only=True, pass_through=True)
    if isinstance(native, nw.Series):
        native = to_times(native)
    if isinstance(native, nw.Series):
        _check_present(native.null_count())
        if DAYS in parts_of(native.dtype):
            return clock_microseconds(native)
        native = native.to_list() if native.dtype == nw.String else native.to_numpy()
    values = np.asarray(times if native is None else native)
    if values.ndim != 1:
        raise InputError(f"times must have one dimension; got {described(times)}")
    if values.dtype.kind in "iuf":
        _check_present(int(np.isnan(values).sum()))
        return values.astype(np.float64)
    if values.dtype.kind != "M":
        values = _read_objects(times, values.tolist())
    _check_present(int(np.isnat(values).sum()))
    return values.astype("datetime64[us]").astype(np.int64)


def _read_objects(times: Any, values: list[Any]) -> NDArray[Any]:
    """Return dates, moments and ISO 8601 texts, in UTC where they have an offset."""
    try:
        read = [datetime.fromisoformat(v) if isinstance(v, str) else v for v in values]
        moments = moments_of([_in_utc(v) for v in read])
    except ValueError as error:
        raise _unlike_times(described(times), f" ({error})") from error
    if moments is None or moments.dtype.kind != "M":
        raise _unlike_times(described(times))
    return moments


def _in_utc(moment: Any) -> Any:
    if getattr(moment, "tzinfo", None) is None:
        return moment
    return moment.astimezone(UTC).replace(tzinfo=None)


def _unlike_times(got: object, why: str = "") -> InputError:
    return InputError(
        f"times must be dates, datetimes, texts like '2024-03-01T12:00' or numbers; got {got}{why}"
    )


def _check_present(n_missing: int) -> None:
    if n_missing:
        raise InputError(f"times must not be missing; got {n_missing} missing")


def _cut(times: Sequence[NDArray[Any]], labels: list[NDArray[Any]]) -> tuple[Any, Any]:
    """Return the labels of two samples, a block cut in two where one sample ends, one begins."""
    shared = np.intersect1d(labels[0], labels[1])
    if shared.size <= MOST_CUT:
        for block in shared:
            inside = [times[k][labels[k] == block] for k in (0, 1)]
            later = int(inside[1].min() > inside[0].max())
            if later or inside[0].min() > inside[1].max():
                begin = inside[1 if later else 0].min()
                side = 1 if later else 0
                name = begin if begin.dtype.kind == "f" else str(begin.astype("datetime64[us]"))
                own = labels[side].astype(object)
                own[own == block] = name
                labels[side] = np.array(own.tolist())
    return labels[0], labels[1]


def _is_one(value: object) -> bool:
    """Return whether this is one time, not an array of them."""
    return isinstance(value, str | bytes) or not hasattr(value, "__len__")


def _as_arrow(times: Any) -> Any:
    """Return times as an Arrow array of timestamps, dates or numbers."""
    native = nw.from_native(cast(Any, times), series_only=True, pass_through=True)
    try:
        if isinstance(native, nw.Series):
            found = pa.chunked_array([native.to_arrow()]).combine_chunks()
        elif is_arrow(times, "Array", "ChunkedArray"):
            found = pa.chunked_array([times] if is_arrow(times, "Array") else times.chunks)
            found = found.combine_chunks()
        else:
            values = np.asarray(times)
            if values.ndim != 1:
                raise InputError(f"times must have one dimension; got {described(times)}")
            kind = values.dtype.kind
            found = pa.array(values if kind in "Miuf" else list(times), from_pandas=True)
        if pa.types.is_dictionary(found.type):
            found = found.dictionary_decode()
        if pa.types.is_string(found.type) or pa.types.is_large_string(found.type):
            found = _parsed(found)
        if pa.types.is_decimal(found.type):
            found = found.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise _unlike_times(described(times), f" ({str(error).splitlines()[0]})") from error
    numbers = pa.types.is_integer(found.type) or pa.types.is_floating(found.type)
    if not (numbers or pa.types.is_timestamp(found.type) or pa.types.is_date(found.type)):
        raise _unlike_times(found.type)
    return found


def _parsed(texts: Any) -> Any:
    """Return ISO 8601 texts as timestamps, in UTC where they have an offset."""
    try:
        return texts.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return texts.cast(pa.timestamp("us", "UTC"))


def _number_blocks(times: FloatArray, width: Any) -> FloatArray:
    plain = isinstance(width, int | float | np.integer | np.floating)
    if not plain or isinstance(width, bool) or not (math.isfinite(width) and width > 0):
        raise InputError(
            f"width must be a number above 0 for times that are numbers; got {width!r}"
        )
    if not np.isfinite(times).all():
        raise InputError("times must be finite; got NaN or infinity")
    return np.asarray(np.floor(times / width) * width)


def _moment_blocks(moments: NDArray[np.int64], width: Any) -> NDArray[np.str_]:
    months, microseconds = _width_of(width)
    if months:
        month = moments.astype("datetime64[us]").astype("datetime64[M]").astype(np.int64)
        begin = (month // months * months).astype("datetime64[M]").astype("datetime64[D]")
        return begin.astype(str)
    begin = (moments - _FIRST_MONDAY) // microseconds * microseconds + _FIRST_MONDAY
    whole_days = microseconds % 86_400_000_000 == 0
    unit = "D" if whole_days else "s" if microseconds % 1_000_000 == 0 else "us"
    return begin.astype("datetime64[us]").astype(f"datetime64[{unit}]").astype(str)


def _width_of(width: Any) -> tuple[int, int]:
    """Return a width in calendar months, or else in microseconds."""
    if isinstance(width, timedelta):
        microseconds = round(width.total_seconds() * 1_000_000)
        if microseconds > 0:
            return 0, microseconds
    elif isinstance(width, np.timedelta64):
        return _width_of(width.astype("timedelta64[us]").item())
    elif isinstance(width, str) and (found := _WIDTH.fullmatch(width.strip())):
        count, unit = int(found[1] or 1), found[2].lower()
        if count > 0 and unit in _MONTHS:
            return count * _MONTHS[unit], 0
        if count > 0 and unit in _UNITS:
            return 0, count * _UNITS[unit] * 1_000_000
    raise InputError(f"width must be a span of time, {WIDTHS}, or a timedelta; got {width!r}")


# The warning where a column of dates and consecutive rows suggest dependence.


FALSE_ALARMS = 0.005
"""The chance of a warning where rows are independent."""
FEWEST_ROWS = 50
MOST_COLUMNS, MOST_ROWS = 50, 5_000
"""Columns, evenly spaced, and rows, the first in order of time, that are looked at."""
LEAST_VARIED = 0.45
"""The variance of ranks, in multiples of that without ties, below which a correlation is not
normal: where 80 % of the rows have one value."""
CLOCKS = 0.9
"""A column whose rank correlation with time exceeds this in size is a clock itself."""
MOST_NAMED = 3


def warn_of_time_order(samples: Samples, titles: tuple[str, str]) -> None:
    """Warn where rows in order of a column of dates depend on those before them."""
    dates = [name for name, parts in samples.notes.parts.items() if DAYS in parts]
    if samples.design is not None or samples.all_rows is not None or not dates:
        return
    own_parts = {
        part_name(name, part) for name, parts in samples.notes.parts.items() for part in parts
    }
    columns = [k for k, name in enumerate(samples.names) if name not in own_parts]
    if not columns:
        return
    places = np.linspace(0, len(columns) - 1, min(len(columns), MOST_COLUMNS)).astype(np.intp)
    columns = [columns[place] for place in places]
    for date in dates:
        name = part_name(date, DAYS)
        if name not in samples.names:
            continue
        days = samples.names.index(name)
        found = [_lagged(side, days, columns, samples.kinds) for side in (samples.x, samples.y)]
        zscores = np.stack([z for _, z in found])
        threshold = float(-special.ndtri(FALSE_ALARMS / (2 * len(columns) * len(dates))))
        if zscores.max() > threshold:
            _warn(date, samples, columns, found, threshold, titles)
            return


def _lagged(
    values: Any, days: int, columns: Sequence[int], kinds: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """Return the lag-1 correlations of some columns of a sample, and their z-scores."""
    none = np.zeros(len(columns)), np.zeros(len(columns))
    times = np.asarray(values[:, [days]], dtype=np.float64)[:, 0]
    # Rows of one time are in no order: what order they have in the table may be by their values.
    shuffled = np.random.default_rng(0).permutation(times.size)
    order = shuffled[np.argsort(times[shuffled], kind="stable")][:MOST_ROWS]
    n = order.size
    if n < FEWEST_ROWS or times[order[0]] == times[order[-1]]:
        return none
    rows = np.asarray(values[:, list(columns)], dtype=np.float64)[order]
    for place, column in enumerate(columns):
        if kinds[column] != "numeric":
            rows[:, place] = rows[:, place] == stats.mode(rows[:, place]).mode
    ranks = _unit_ranks(rows)
    clock = np.abs(_unit_ranks(times[order][:, np.newaxis])[:, 0] @ ranks)
    r = (ranks[1:] * ranks[:-1]).sum(axis=0)
    r[clock > CLOCKS] = 0.0
    return r, (r + 1 / (n - 1)) * math.sqrt(n)


def _unit_ranks(values: FloatArray) -> FloatArray:
    """Return ranks of columns, centred and of length 1; 0 of a column that hardly varies."""
    ranks = stats.rankdata(values, axis=0)
    ranks -= ranks.mean(axis=0)
    squares, n = np.square(ranks).sum(axis=0), len(ranks)
    varies = squares >= LEAST_VARIED * n * (n * n - 1) / 12
    return np.asarray(ranks * np.where(varies, 1 / np.sqrt(np.where(varies, squares, 1.0)), 0.0))


def _warn(
    date: str,
    samples: Samples,
    columns: Sequence[int],
    found: Sequence[tuple[FloatArray, FloatArray]],
    threshold: float,
    titles: tuple[str, str],
) -> None:
    side = int(np.argmax([z.max() for _, z in found]))
    r, z = found[side]
    strongest = [k for k in np.argsort(-z)[:MOST_NAMED] if z[k] > threshold]
    named = ", ".join(f"{samples.names[columns[k]]!r} ({r[k]:.2f})" for k in strongest)
    more = int((z > threshold).sum()) - len(strongest)
    warn_caller(
        f"rows of {titles[side]} in order of {date!r} depend on those before them, so that labels "
        f"of single rows are not exchangeable and p-values are too small: lag-1 correlation of "
        f"{named}{f' and {more} more columns' if more else ''}. Permute whole blocks of time, as "
        f"with clusters=ta.time_blocks((X[{date!r}], Y[{date!r}]), '7D'), longer than rows stay "
        "alike."
    )
