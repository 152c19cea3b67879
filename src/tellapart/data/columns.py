"""Columns turned into numbers: their own values, codes of their labels, or parts of dates."""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, SupportsFloat, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.times import (
    MONTHS,
    WEEKDAYS,
    is_null,
    moments_of,
    part_of,
    parts_of,
    split_name,
    type_of,
)
from tellapart.errors import InputError, warn_caller
from tellapart.optional import is_arrow, is_installed, pa, pc
from tellapart.text import safe

# Columns of two answers, of which one says yes: people read the share of "yes", not of "no".


# No and yes, in small letters.
PAIRS = (
    ("false", "true"),
    ("f", "t"),
    ("0", "1"),
    ("no", "yes"),
    ("n", "y"),
    ("off", "on"),
    ("absent", "present"),
    ("negative", "positive"),
)


def place_of_yes(labels: Sequence[str]) -> int | None:
    """Return which of two labels says yes; None where they are no such pair.

    >>> place_of_yes(["False", "True"]), place_of_yes(["Y", "N"]), place_of_yes(["male", "female"])
    (1, 0, None)
    """
    lower = [label.strip().lower() for label in labels]
    for no, yes in PAIRS:
        if sorted(lower) == sorted((no, yes)):
            return lower.index(yes)
    return None


# Whole numbers beyond 2⁵³, of which float64 holds only some: rounded without harm, or refused.


Extremes = tuple[int, int]

LARGEST_WHOLE = 1 << 53
"""Up to here float64 holds every whole number."""
FEWEST_STEPS = 1 << 20
"""Whole numbers that are rounded must range over so many of the steps they are rounded to."""


def rounded_extremes(values: NDArray[Any]) -> Extremes | None:
    """Return the smallest and the largest of whole numbers if float64 does not hold them all.

    >>> rounded_extremes(np.array([2**60, 2**60 + 256])) is None
    True
    >>> rounded_extremes(np.array([2**60, 2**60 + 1])) == (2**60, 2**60 + 1)
    True
    """
    if not values.size or values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return None
    least, greatest = int(values.min()), int(values.max())
    if least >= -LARGEST_WHOLE and greatest <= LARGEST_WHOLE:
        return None
    # Of the bits of a number 53 are held, from its first one on: the others must be 0.
    _, n_bits = np.frexp(values.astype(np.float64))
    dropped = np.maximum(n_bits - 53, 0).astype(np.uint64)
    rest = np.abs(values).astype(np.uint64) & ((np.uint64(1) << dropped) - np.uint64(1))
    return (least, greatest) if rest.any() else None


def has_large_whole(values: NDArray[Any]) -> bool:
    """Say whether an array holds whole numbers beyond those of which float64 holds every one."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return False
    return bool(int(values.max()) > LARGEST_WHOLE or int(values.min()) < -LARGEST_WHOLE)


def floats_of(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as float64, without a copy where they are; whole ones beyond 2⁵³ stay so."""
    if has_large_whole(values):
        return values
    with np.errstate(over="ignore"):  # long doubles: infinite values are refused later
        return values.astype(np.float64, copy=False)


def check_rounded(subject: str, least: int, greatest: int, *, exact: bool = True) -> None:
    """Refuse whole numbers that float64 merges; warn of those that it rounds without harm.

    Beyond 2⁵³ float64 holds multiples of 2, 4, … only. Where the numbers range over very many of
    these steps, as time in nanoseconds does, rounding does not matter; where they do not, numbers
    that differ may become equal.

    Parameters
    ----------
    subject : str
        What messages call the column.
    least, greatest : int
        The pooled extremes.
    exact : bool
        Whether the extremes are known exactly, so that equal ones mean that nothing varies.
    """
    span, largest = greatest - least, max(abs(least), abs(greatest))
    # Numbers beyond all of float64 are refused as infinite ones.
    if (exact and span == 0) or largest > int(np.finfo(np.float64).max):
        return
    step = int(np.spacing(float(largest)))
    if span < FEWEST_STEPS * step:
        raise InputError(
            f"{subject} must hold whole numbers up to 2**53, or far apart; got {least} to "
            f"{greatest}, of which float64 holds multiples of {step} only: subtract the smallest "
            "one first, or drop the column if it is an identifier"
        )
    warn_caller(
        f"{subject} holds whole numbers beyond 2**53, which are compared rounded to multiples of "
        f"{step}"
    )


Form = Literal["numeric", "boolean", "category", "text", "empty"]
Series = nw.Series[Any]

BOOLEAN_LABELS = ("False", "True")


@dataclass(frozen=True)
class Column:
    """One column of one sample, as numbers; missing values are NaN.

    Attributes
    ----------
    title : str
        What messages call the sample: "X", "Y".
    name : str
        What messages call the column.
    form : str
        "numeric", "boolean", "category" (the dtype says so), "text", or "empty" when every
        value is missing and the dtype says nothing.
    dtype : str
        The dtype as its own library prints it.
    values : float array
        The numbers; for all but numeric columns, codes into `labels`.
    labels : tuple of str
        The labels, in code order.
    rounded : pair of int, or None
        The smallest and the largest of whole numbers of which float64 does not hold all.
    """

    title: str
    name: str
    form: Form
    dtype: str
    values: FloatArray
    labels: tuple[str, ...] = ()
    rounded: Extremes | None = None

    def codes_among(self, labels: tuple[str, ...]) -> FloatArray:
        """Return the values as codes into `labels`, which hold all that occur here."""
        code_of = {label: float(code) for code, label in enumerate(labels)}
        # The last entry stands for "missing", which is code -1 below.
        table = np.array([*(code_of.get(label, np.nan) for label in self.labels), np.nan])
        return cast(FloatArray, table[self._codes()])

    def label_counts(self) -> Counter[str]:
        """Return how often each label occurs; those that never do are left out."""
        codes = self._codes()
        counts = np.bincount(codes[codes >= 0], minlength=len(self.labels))
        total: Counter[str] = Counter()
        for code in np.flatnonzero(counts):
            total[self.labels[code]] += int(counts[code])
        return total

    def _codes(self) -> IntArray:
        return np.where(np.isnan(self.values), -1, self.values).astype(np.intp)


def looks_numeric(text: str) -> bool:
    """Say whether a text reads as a number; commas, decimal or of thousands, are let pass."""
    try:
        float(text.replace(",", ""))
    except ValueError:
        return False
    return "_" not in text  # Python reads 1_000 as a number, but nobody writes data so


def is_number(value: object) -> bool:
    """Say whether a Python object is a real number, booleans left out."""
    return isinstance(value, numbers.Real | Decimal) and not isinstance(value, bool)


def as_float(value: object) -> float:
    """Return a number as a float, infinite where it is beyond float64."""
    try:
        return float(cast(SupportsFloat, value))
    except OverflowError:
        return math.inf
    except ValueError:  # the signalling NaN of Decimal
        return math.nan


def sorted_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct labels in order: of size, of the calendar, else of the alphabet."""
    distinct = sorted(set(labels))
    for calendar in (WEEKDAYS, MONTHS):
        if distinct and set(distinct) <= set(calendar):
            return tuple(label for label in calendar if label in distinct)
    try:
        return tuple(sorted(distinct, key=float))
    except ValueError:
        return tuple(distinct)


def label_of(value: object) -> str:
    """Return the label of one value, the same for 1 and 1.0."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def read_column(title: str, name: str, series: Series) -> Column:
    """Return a table's column as numbers; the error names the column and its dtype."""
    dtype = _dtype_name(series)
    values = to_arrow(series)
    if values is not None:
        return _read_arrow(title, name, dtype, values, series)
    if series.dtype == nw.Object:
        return _read_objects(title, name, dtype, series)
    if not is_installed("pyarrow"):
        return _read_plain(title, name, dtype, series)
    raise _unsupported(title, name, dtype)


def read_arrow(title: str, name: str, values: Any) -> Column:
    """Return one column of an Arrow record batch as numbers; see `read_column`."""
    if not is_arrow_number(values.type):
        # Through narwhals, for the rare types that need more than Arrow knows of them.
        return read_column(title, name, as_series(values))
    floats, rounded = _floats(values), _rounded_arrow(values)
    return Column(title, name, "numeric", safe(values.type), floats, rounded=rounded)


def as_series(values: Any) -> Series:
    """Return an Arrow array, chunked or not, as a column of a table."""
    chunks = values if is_arrow(values, "ChunkedArray") else pa.chunked_array([values])
    return nw.from_native(chunks, series_only=True)


def is_arrow_number(kind: Any) -> bool:
    """Say whether an Arrow type is one of numbers."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def to_arrow(series: Series) -> Any:
    """Return a column as an Arrow array, or None where Arrow has no type for it, or is absent."""
    native = series.to_native()
    if is_arrow(native, "ChunkedArray"):
        # As narwhals would, which takes its time for each of very many columns.
        return native.combine_chunks()
    if not is_installed("pyarrow"):
        return None
    try:
        # Without its name: polars cannot hand over one with a null character in it.
        return series.alias("").to_arrow()
    except (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError):
        return None


def to_times(series: Series) -> Any:
    """Return a column as what `part_of` reads; None where it can hold neither times nor nothing."""
    if is_installed("pyarrow"):
        return to_arrow(series)
    if series.dtype != nw.Object or series.null_count() == len(series):
        return series
    moments = moments_of(_listed(series))
    # Such columns are those of pandas, or of a library that does as pandas does.
    native: Any = None if moments is None else type(series.to_native())(moments)
    return None if native is None else nw.from_native(native, series_only=True)


def _read_arrow(title: str, name: str, dtype: str, values: Any, series: Series) -> Column:
    kind = values.type
    if pa.types.is_null(kind):
        return Column(title, name, "empty", dtype, np.full(len(values), np.nan))
    if is_arrow_number(kind):
        rounded = _rounded_arrow(values)
        return Column(title, name, "numeric", dtype, _floats(values), rounded=rounded)
    if pa.types.is_boolean(kind):
        return Column(title, name, "boolean", dtype, _floats(values), BOOLEAN_LABELS)
    if pa.types.is_dictionary(kind):
        return _encoded(title, name, "category", dtype, values, series)
    if is_arrow_text(kind):
        # Views cannot be hashed by every version of Arrow, large strings can.
        codes = pc.dictionary_encode(values.cast(pa.large_string()))
        return _encoded(title, name, "text", dtype, codes, series)
    raise _unsupported(title, name, dtype)


def _read_plain(title: str, name: str, dtype: str, series: Series) -> Column:
    """Read a column of a table without Arrow: the same numbers and labels as with it."""
    kind = series.dtype
    untyped = kind == nw.Unknown or dtype == "object"
    if untyped and series.null_count() == len(series):
        return Column(title, name, "empty", dtype, np.full(len(series), np.nan))
    if kind.is_numeric():
        present = series.drop_nulls().to_numpy() if kind in (nw.Int64, nw.UInt64) else np.empty(0)
        floats = series.cast(nw.Float64).to_numpy()
        return Column(title, name, "numeric", dtype, floats, rounded=rounded_extremes(present))
    if kind == nw.Boolean:
        floats = series.cast(nw.Float64).to_numpy()
        return Column(title, name, "boolean", dtype, floats, BOOLEAN_LABELS)
    if kind == nw.String:
        return _labelled(title, name, "text", dtype, _listed(series))
    if kind in (nw.Categorical, nw.Enum):
        categories: Any = getattr(series.to_native(), "cat", None)
        if not hasattr(categories, "codes"):
            texts = _listed(series.cast(nw.String))
            return _labelled(title, name, "category", dtype, texts)
        codes = np.array(categories.codes, dtype=np.float64)
        labels = tuple(map(label_of, categories.categories))
        codes[codes < 0] = np.nan
        return Column(title, name, "category", dtype, codes, labels)
    raise _unsupported(title, name, dtype)


def _read_objects(title: str, name: str, dtype: str, series: Series) -> Column:
    """Read a pandas column of mixed Python objects, such as numbers with a text in between."""
    return read_objects(title, name, dtype, _listed(series))


def read_objects(title: str, name: str, dtype: str, values: list[Any]) -> Column:
    """Read Python objects, None where they are missing: numbers, truth values, texts or mixed."""
    present = [v for v in values if v is not None]
    if not present:
        return Column(title, name, "empty", dtype, np.full(len(values), np.nan))
    if all(is_number(v) for v in present):
        floats = [np.nan if v is None else as_float(v) for v in values]
        rounded = _rounded_objects(present)
        values_read = np.array(floats, dtype=np.float64)
        return Column(title, name, "numeric", dtype, values_read, rounded=rounded)
    if all(isinstance(v, bool | np.bool_) for v in present):
        flags = np.array([np.nan if v is None else float(v) for v in values])
        return Column(title, name, "boolean", dtype, flags, BOOLEAN_LABELS)
    if all(is_number(v) or isinstance(v, str) for v in present):
        texts = [None if v is None else label_of(v) for v in values]
        return _labelled(title, name, "text", dtype, texts)
    types = ", ".join(sorted({type(v).__name__ for v in present}))
    raise _unsupported(title, name, f"{dtype} (holding {types})")


def _listed(series: Series) -> list[Any]:
    """Return the values of a column, None where they are missing."""
    missing = series.is_null().to_list()
    return [None if gone else v for v, gone in zip(series.to_list(), missing, strict=True)]


def _labelled(title: str, name: str, form: Form, dtype: str, texts: list[Any]) -> Column:
    """Return texts as codes into those that occur, in the order in which they do."""
    labels = dict.fromkeys(texts)
    labels.pop(None, None)
    codes = {None: np.nan} | {label: float(code) for code, label in enumerate(labels)}
    values = np.fromiter(map(codes.__getitem__, texts), np.float64, len(texts))
    return Column(title, name, form, dtype, values, tuple(labels))


def _encoded(title: str, name: str, form: Form, dtype: str, values: Any, series: Series) -> Column:
    if is_arrow(values, "ChunkedArray"):
        values = values.unify_dictionaries().combine_chunks()
    indices = _floats(values.indices)
    if isinstance(values.type.value_type, pa.BaseExtensionType):
        # pandas intervals: Arrow would show their innards, pandas prints "(0, 1]".
        levels = list(series.to_native().cat.categories)
    else:
        levels = decoded_labels(title, name, values.dictionary)
    absent = [code for code, level in enumerate(levels) if level is None]
    if absent:  # Arrow may store "missing" as a label of its own
        indices = np.where(np.isin(indices, absent), np.nan, indices)
    return Column(title, name, form, dtype, indices, tuple(label_of(v) for v in levels))


def decoded_labels(title: str, name: str, levels: Any) -> list[Any]:
    """Return the labels; a damaged file may hold bytes that are no text."""
    try:
        return list(levels.to_pylist())
    except UnicodeDecodeError as error:
        raise InputError(
            f"column {name!r} of {title} must hold text in UTF-8; got byte "
            f"0x{error.object[error.start]:02x} in a label, so that the data are damaged"
        ) from None


def _rounded_arrow(values: Any) -> Extremes | None:
    """Return the extremes of an Arrow array of whole numbers if float64 does not hold them all."""
    if values.type not in (pa.int64(), pa.uint64()):
        return None
    present = values.drop_null()
    if is_arrow(present, "ChunkedArray"):
        return rounded_extremes(present.to_numpy())
    return rounded_extremes(present.to_numpy(zero_copy_only=False))


def _rounded_objects(values: Iterable[object]) -> Extremes | None:
    """Return the extremes of whole numbers of Python if float64 does not hold them all."""
    whole = [value for value in values if isinstance(value, int)]
    if all(value == as_float(value) for value in whole):
        return None
    return min(whole), max(whole)


def _floats(values: Any) -> FloatArray:
    # safe=False: integers beyond 2^53 are rounded; `check_rounded` refuses where that matters.
    decoded = values.cast(pa.float64(), safe=False)
    if is_arrow(decoded, "ChunkedArray"):
        return cast(FloatArray, decoded.to_numpy())
    return cast(FloatArray, decoded.to_numpy(zero_copy_only=False))


def is_arrow_text(kind: Any) -> bool:
    """Say whether an Arrow type is one of text."""
    is_view = getattr(pa.types, "is_string_view", lambda _: False)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or is_view(kind))


def _dtype_name(series: Series) -> str:
    native = series.to_native()
    return safe(native.dtype if hasattr(native, "dtype") else native.type)


def _unsupported(title: str, name: str, dtype: str) -> InputError:
    return InputError(
        f"column {name!r} of {title} must hold numbers, booleans, categories or text; "
        f"got dtype {dtype}; convert or drop the column"
    )


# How the columns of one sample are read, all rows at once or chunk by chunk.


Labels = tuple[tuple[str, ...] | None, ...]
"""For each column its labels, in the order of their codes; None where it holds numbers."""


@dataclass(frozen=True)
class ColumnKind:
    """What the type of a column says before its values are read.

    Attributes
    ----------
    parts : tuple of str
        The parts of dates, times and durations; none for anything else.
    whole : bool
        Whether it holds numbers that are whole, or may be: delimited text does not say.
    empty : bool
        Whether the type allows missing values only.
    dtype : str
        What messages call it.
    """

    parts: tuple[str, ...] = ()
    whole: bool = False
    empty: bool = False
    dtype: str = ""


def kind_of(kind: Any, *, delimited: bool = False) -> ColumnKind:
    """Return what an Arrow type says; numbers of delimited text are read as floats.

    >>> kind_of(pa.int32()).whole, kind_of(pa.float64()).whole, kind_of(pa.time32("s")).parts
    (True, False, ('hour',))
    """
    whole = pa.types.is_integer(kind) or (delimited and pa.types.is_floating(kind))
    return ColumnKind(parts_of(kind), whole, pa.types.is_null(kind), str(kind))


@dataclass(frozen=True)
class Reading:
    """How one sample is read.

    Attributes
    ----------
    title : str
        What messages call the sample.
    names : tuple of str
        The columns, in the order in which both samples have them.
    places : tuple of int
        Where they stand in the sample.
    parts : tuple of str or None
        The part of dates or times that a column is; None for a column as it is.
    whole : tuple of bool
        Whether it is to be found out if whole numbers are consecutive.
    kept : frozenset of str
        Columns whose text is compared as categories, however many there are.
    labels : tuple
        Labels of the columns that have any; known after the first pass.
    n_rows : int
        Rows of the sample; known after the first pass.
    """

    title: str
    names: tuple[str, ...]
    places: tuple[int, ...]
    parts: tuple[str | None, ...]
    whole: tuple[bool, ...]
    kept: frozenset[str] = frozenset()
    labels: Labels = ()
    n_rows: int = 0

    @classmethod
    def as_is(
        cls,
        title: str,
        names: Sequence[str],
        places: Sequence[int] | IntArray | None = None,
        kept: frozenset[str] = frozenset(),
    ) -> Reading:
        """Return how to read columns as they are, in their order unless `places` are given."""
        n = len(names)
        chosen = tuple(range(n)) if places is None else tuple(map(int, places))
        return cls(title, tuple(names), chosen, (None,) * n, (False,) * n, kept)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns that are read."""
        return self.n_rows, len(self.names)

    def columns(self, index: IntArray | Sequence[int]) -> Reading:
        """Return how to read some of the columns."""
        if len(index) == len(self.names) and np.array_equal(index, np.arange(len(self.names))):
            return self
        return replace(
            self,
            names=tuple(self.names[s] for s in index),
            places=tuple(self.places[s] for s in index),
            parts=tuple(self.parts[s] for s in index),
            whole=tuple(self.whole[s] for s in index),
        )

    def projected(self) -> tuple[list[int], Reading]:
        """Return the places that are read, and how to read chunks with the columns there only."""
        places = list(dict.fromkeys(self.places))
        at = {place: k for k, place in enumerate(places)}
        return places, replace(self, places=tuple(at[place] for place in self.places))

    def open(self, chunk: Any) -> list[Column]:
        """Return the columns of a chunk: of an array, a record batch, or a pandas frame."""
        return [
            self.resolved(_column(self.title, name, chunk, place, part))
            for name, place, part in zip(self.names, self.places, self.parts, strict=True)
        ]

    def resolved(self, column: Column) -> Column:
        """Return a column that was read, its text as categories if it is to be kept."""
        if column.form == "text" and column.name in self.kept:
            return replace(column, form="category")
        return column

    def numbers(self, columns: Sequence[Column]) -> list[FloatArray]:
        """Return the values of columns that were read: numbers, or codes into their labels."""
        return [
            column.values if labels is None else column.codes_among(labels)
            for column, labels in zip(columns, self.labels, strict=True)
        ]

    def matrix(self, columns: Sequence[Column]) -> FloatArray:
        """Return the values of columns that were read as one matrix in Fortran order."""
        values = np.empty((columns[0].values.size, len(columns)), order="F")
        for s, column in enumerate(self.numbers(columns)):
            values[:, s] = column
        return values


def read_part(title: str, name: str, values: Any, part: str) -> Column:
    """Read one part of dates or times, given as `to_times` returns them."""
    if values is None or not parts_of(type_of(values)):
        if values is not None and is_null(values):
            return Column(title, name, "empty", "null", np.full(len(values), np.nan))
        got = "objects" if values is None else str(type_of(values))
        column, _ = split_name(name) or (name, part)
        raise InputError(
            f"column {column!r} of {title} must hold dates, times or durations in all of its rows, "
            f"as in the first; got {got}; fix these values or drop the column"
        )
    return part_column(title, name, values, part)


def part_column(title: str, name: str, values: Any, part: str) -> Column:
    """Return one part of dates or times as a column of its own."""
    found = part_of(values, part)
    if found.labels:
        return Column(title, name, "category", "category", *found)
    return Column(title, name, "numeric", "double", found.values)


def number_column(title: str, name: str, values: NDArray[Any], *, boolean: bool = False) -> Column:
    """Return numbers or truth values of an array as a column."""
    floats = values.astype(np.float64, copy=False)
    if boolean or values.dtype.kind == "b":
        return Column(title, name, "boolean", "bool", floats, BOOLEAN_LABELS)
    rounded = rounded_extremes(values)
    return Column(title, name, "numeric", str(values.dtype), floats, rounded=rounded)


def _column(title: str, name: str, chunk: Any, place: int, part: str | None) -> Column:
    if isinstance(chunk, np.ndarray):
        return number_column(title, name, np.ascontiguousarray(chunk[:, place]))
    if is_arrow(chunk, "RecordBatch"):
        values = chunk.column(place)
        return (
            read_arrow(title, name, values)
            if part is None
            else read_part(title, name, values, part)
        )
    series = chunk.iloc[:, place]
    if part is not None:
        times = to_times(nw.from_native(series, series_only=True))
        return read_part(title, name, times, part)
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biuf":
        return number_column(title, name, np.ascontiguousarray(series.to_numpy()))
    return read_column(title, name, nw.from_native(series, series_only=True))
