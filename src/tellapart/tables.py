"""The one door for data: any table or array in, checked samples out."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tellapart.arguments import check_choice
from tellapart.columns import (
    BOOLEAN_LABELS,
    Column,
    Series,
    as_float,
    is_number,
    join_columns,
    label_of,
    looks_numeric,
    read_column,
    sorted_labels,
)
from tellapart.errors import InputError
from tellapart.missing import FEWEST_ROWS, POLICIES, settle_missing
from tellapart.samples import FloatArray, IntArray, Kind, Samples

Frame = nw.DataFrame[Any]

EXPECTED = "a 2-dimensional array or a pandas, polars or pyarrow table"
MOST_NAMED = 5
_NUMERIC: Kind = "numeric"


@dataclass(frozen=True)
class _Sample:
    """One sample as it came: a matrix if all numbers or all booleans, else its columns."""

    title: str
    names: tuple[str, ...] | None
    shape: tuple[int, int]
    data: NDArray[Any] | tuple[Series, ...]

    @property
    def floats(self) -> FloatArray | None:
        """The whole sample as it is, if it is a matrix of floats."""
        if isinstance(self.data, tuple) or self.data.dtype != np.float64:
            return None
        return self.data

    def column(self, place: int, name: str) -> Column:
        """Return one column, under the name that both samples use."""
        if isinstance(self.data, tuple):
            return read_column(self.title, name, self.data[place])
        values = self.data[:, place]
        floats = values.astype(np.float64, copy=False)
        if values.dtype == np.bool_:
            return Column(self.title, name, "boolean", "bool", floats, BOOLEAN_LABELS)
        return Column(self.title, name, "numeric", str(values.dtype), floats)


def read_samples(
    X: object, Y: object, *, missing: str = "error", titles: tuple[str, str] = ("X", "Y")
) -> Samples:
    """Check two samples and bring them into one form: x (m × D) and y (n × D) in float64.

    Float64 NumPy arrays are passed on without a copy. Columns of tables are matched by name,
    in the order of X; arrays get the other sample's names, or x0, x1, …. The rows' index
    plays no part.

    Parameters
    ----------
    X, Y : array or table
        NumPy arrays (or lists of rows) of two dimensions; pandas, polars or pyarrow tables.
        Numbers and decimals are numeric; booleans, categories and text are categorical.
        Text that is mostly numbers, or that names the rows, is refused.
    missing : {"error", "drop-rows", "drop-columns"}
        What to do where there are NaN, None or null.
    titles : pair of str
        What messages call the two samples.

    Returns
    -------
    Samples
        Finite numbers, at least two rows per sample and one column; categorical columns as
        codes of the sorted labels of both samples.

    Raises
    ------
    InputError
        If the samples cannot be compared; the message names the sample and the column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> X = pa.table({"age": [31, 47, 52], "sex": ["f", "m", "f"]})
    >>> Y = pa.table({"sex": ["m", "m"], "age": [64.5, 58.0]})
    >>> samples = read_samples(X, Y)
    >>> samples.names, samples.kinds
    (('age', 'sex'), ('numeric', 'categorical'))
    >>> samples.y
    array([[64.5,  1. ],
           [58. ,  1. ]])
    >>> samples.categories
    {'sex': ('f', 'm')}
    """
    policy = check_choice("missing", missing, POLICIES)
    left, right = _open(titles[0], X), _open(titles[1], Y)
    return settle_missing(_join(left, right), policy, titles)


def read_groups(
    table: object, by: str, *, missing: str = "error"
) -> tuple[Samples, tuple[str, str]]:
    """Split one table by a column of exactly two distinct values, and read the two samples.

    Parameters
    ----------
    table : table
        A pandas, polars or pyarrow table.
    by : str
        The column that tells the samples apart; it is not a variable of theirs.
    missing : {"error", "drop-rows", "drop-columns"}
        As in `read_samples`. Missing values in the column `by` are always an error.

    Returns
    -------
    samples : Samples
        The rows of the first label as X, those of the second as Y.
    labels : pair of str
        The two values in sorted order.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"arm": ["b", "a", "b", "a"], "dose": [1.0, 2.0, 3.0, 4.0]})
    >>> samples, labels = read_groups(table, "arm")
    >>> labels, samples.x.ravel().tolist()
    (('a', 'b'), [2.0, 4.0])
    """
    policy = check_choice("missing", missing, POLICIES)
    frame = _as_frame("table", table)
    if frame is None:
        raise InputError(
            f"table must be a pandas, polars or pyarrow table; got {_described(table)}"
        )
    names = _column_names("table", table)
    place = _find_column(names, by)
    labels, first, second = _two_groups(read_column("table", by, frame[:, place]))
    rest = frame.drop(frame.columns[place])
    others = (*names[:place], *names[place + 1 :])
    titles = (f"group {labels[0]!r}", f"group {labels[1]!r}")
    left = _from_frame(titles[0], others, rest[first])
    right = _from_frame(titles[1], others, rest[second])
    return settle_missing(_join(left, right), policy, titles), labels


def _open(title: str, data: object) -> _Sample:
    frame = _as_frame(title, data)
    if frame is not None:
        return _from_frame(title, _column_names(title, data), frame)
    values = _as_array(title, data)
    n_rows, n_columns = values.shape
    _check_shape(title, n_rows, n_columns)
    return _Sample(title, None, (n_rows, n_columns), _as_numbers(title, values))


def _from_frame(title: str, names: tuple[str, ...], frame: Frame) -> _Sample:
    n_rows, n_columns = frame.shape
    _check_shape(title, n_rows, n_columns)
    if all(dtype.is_integer() or dtype.is_float() for dtype in frame.schema.values()):
        values = frame.to_numpy()
        if values.dtype.kind in "iuf":  # not where a library hands out objects
            floats = values.astype(np.float64, copy=False)
            return _Sample(title, names, (n_rows, n_columns), floats)
    # All columns at once: narwhals takes time in proportion to D to find a single one.
    return _Sample(title, names, (n_rows, n_columns), tuple(frame.iter_columns()))


def _check_shape(title: str, n_rows: int, n_columns: int) -> None:
    if n_columns == 0:
        raise InputError(f"{title} must have at least one column; got none")
    if n_rows < FEWEST_ROWS:
        raise InputError(f"{title} must have at least {FEWEST_ROWS} rows; got {n_rows}")


def _as_frame(title: str, data: object) -> Frame | None:
    """Return the data as a narwhals frame, or None if it is no table."""
    package = type(data).__module__.partition(".")[0]
    if sparse.issparse(data) or package == "anndata":
        raise InputError(
            f"{title} must be {EXPECTED}; {_described(data)} is not supported yet: "
            "make it dense, for example with .toarray() or .to_df()"
        )
    try:
        frame = nw.from_native(data, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise _repeated(title, _labels(data)) from None
    return frame if isinstance(frame, nw.DataFrame) else None


def _column_names(title: str, data: object) -> tuple[str, ...]:
    names = _labels(data)
    if len(set(names)) < len(names):  # such as 1 and "1"
        raise _repeated(title, names)
    return names


def _labels(data: Any) -> tuple[str, ...]:
    labels = data.column_names if hasattr(data, "column_names") else data.columns
    return tuple(str(label) for label in labels)


def _repeated(title: str, names: tuple[str, ...]) -> InputError:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    return InputError(
        f"{title} must have distinct column names; got more than one {_quoted(repeated)}"
    )


def _as_array(title: str, data: object) -> NDArray[Any]:
    """Return the data as an array of two dimensions, of any dtype."""
    if data is None or isinstance(data, str | bytes | dict | set):
        raise InputError(f"{title} must be {EXPECTED}; got {_described(data)}")
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        raise InputError(f"{title} must be {EXPECTED}; got {_described(data)}: call .collect()")
    if isinstance(data, np.ma.MaskedArray) and data.dtype.kind in "biuf":
        data = np.ma.filled(data.astype(np.float64), np.nan)
    try:
        values = np.asarray(data)
        if values.dtype.kind in "US" and not isinstance(data, np.ndarray):
            # NumPy turned the numbers beside a text into text as well: keep them apart.
            values = np.array(data, dtype=object)
    except ValueError:
        raise InputError(
            f"{title} must be {EXPECTED}; got {_described(data)} with rows of unequal length"
        ) from None
    if values.ndim == 1:
        raise InputError(
            f"{title} must be 2-dimensional (rows × columns); got {_described(data)} of one "
            "dimension; reshape a single variable to one column, .reshape(-1, 1) or .to_frame()"
        )
    if values.ndim != 2:
        raise InputError(
            f"{title} must be {EXPECTED}; got {_described(data)} of {values.ndim} dimensions"
        )
    return values


def _as_numbers(title: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return the array as float64 or booleans; anything else is refused."""
    kind = values.dtype.kind
    if kind == "b":
        return values
    if kind in "iuf":
        with np.errstate(over="ignore"):  # long doubles: infinite values are refused later
            return values.astype(np.float64, copy=False)
    if kind == "O":
        return _from_objects(title, values)
    if kind in "US":
        places = np.ndindex(values.shape)
        place = next((p for p in places if not looks_numeric(str(values[p]))), (0, 0))
        raise _not_a_number(title, values[place].item(), place)
    raise InputError(f"{title} must hold numbers; got an array of dtype {values.dtype}")


def _from_objects(title: str, values: NDArray[Any]) -> FloatArray:
    floats = np.empty(values.shape)
    for place, value in np.ndenumerate(values):
        if value is None or type(value).__name__ == "NAType":  # pandas.NA, without pandas
            floats[place] = np.nan
        elif is_number(value):
            floats[place] = as_float(value)
        else:
            raise _not_a_number(title, value, place)
    return floats


def _not_a_number(title: str, value: object, place: tuple[int, ...]) -> InputError:
    return InputError(
        f"{title} must hold numbers; got {value!r} ({type(value).__name__}) "
        f"at row {place[0]}, column {place[1]}"
    )


def _join(left: _Sample, right: _Sample) -> Samples:
    names, order = _match_columns(left, right)
    x, y = left.floats, right.floats
    if x is None or y is None:
        return _join_by_column(left, right, names, order)
    if not np.array_equal(order, np.arange(order.size)):
        y = y[:, order]
    return Samples(x, y, names, tuple(_NUMERIC for _ in names))


def _join_by_column(
    left: _Sample, right: _Sample, names: tuple[str, ...], order: IntArray
) -> Samples:
    # Fortran order: columns are written here, and read later, one at a time.
    x = np.empty(left.shape, order="F")
    y = np.empty(right.shape, order="F")
    kinds: list[Kind] = []
    categories: dict[str, tuple[str, ...]] = {}
    for s, name in enumerate(names):
        pair = left.column(s, name), right.column(int(order[s]), name)
        x[:, s], y[:, s], kind, labels = join_columns(*pair)
        kinds.append(kind)
        if labels is not None:
            categories[name] = labels
    return Samples(x, y, names, tuple(kinds), categories)


def _match_columns(left: _Sample, right: _Sample) -> tuple[tuple[str, ...], IntArray]:
    """Return the common names, and where each of them stands in the right sample."""
    n_columns = left.shape[1]
    if left.names is None or right.names is None:
        if n_columns != right.shape[1]:
            raise InputError(
                f"{left.title} and {right.title} must have the same number of columns; "
                f"got {n_columns} and {right.shape[1]}"
            )
        names = left.names or right.names or tuple(f"x{s}" for s in range(n_columns))
        return names, np.arange(n_columns)
    if set(left.names) != set(right.names):
        parts = [
            f"only in {here.title}: {_quoted(extra)}"
            for here, there in ((left, right), (right, left))
            if (extra := [n for n in here.names or () if n not in set(there.names or ())])
        ]
        raise InputError(
            f"{left.title} and {right.title} must have the same columns; got {'; '.join(parts)}"
        )
    place = {name: s for s, name in enumerate(right.names)}
    return left.names, np.array([place[name] for name in left.names], dtype=np.intp)


def _find_column(names: tuple[str, ...], by: object) -> int:
    if by in names:
        return names.index(by)
    near = difflib.get_close_matches(str(by), names, n=3)
    hint = f"the nearest names are {_quoted(near)}" if near else f"there are {_quoted(names)}"
    raise InputError(f"by must be a column of the table; got {by!r}; {hint}")


def _two_groups(column: Column) -> tuple[tuple[str, str], IntArray, IntArray]:
    """Return the two sorted labels of a column and the rows of each."""
    n_missing = np.count_nonzero(np.isnan(column.values))
    if n_missing:
        raise InputError(
            f"column {column.name!r} must say of every row which sample it belongs to; "
            f"got {n_missing} missing of {column.values.size} values"
        )
    if column.labels:
        labels = sorted_labels(+column.label_counts())
        values = column.codes_among(labels)
        distinct = np.arange(len(labels), dtype=np.float64)
    else:
        values = column.values
        distinct = np.unique(values)
        labels = tuple(label_of(float(v)) for v in distinct)
    if len(labels) != 2:
        raise InputError(
            f"column {column.name!r} must hold exactly two distinct values; "
            f"got {len(labels)}: {_quoted(labels)}"
        )
    first, second = (np.flatnonzero(values == v) for v in distinct)
    return (labels[0], labels[1]), first, second


def _described(data: object) -> str:
    package = type(data).__module__.partition(".")[0]
    name = type(data).__name__ if package == "builtins" else f"{package} {type(data).__name__}"
    return f"{name} {data!r}" if isinstance(data, str) else name


def _quoted(names: Iterable[str]) -> str:
    """Return "'a', 'b' and 3 more"."""
    every = list(names)
    more = len(every) - MOST_NAMED
    shown = ", ".join(repr(name) for name in every[:MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown
