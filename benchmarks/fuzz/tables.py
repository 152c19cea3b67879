"""Hypothesis strategies for pairs of tables: every library, type, scale and kind of mistake."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st
from scipy import sparse

Column = tuple[str, list[object]]
HOSTILE = (
    "a\x1b[31m",
    "b\u202ec",
    "<script>",
    "=1+1",
    "",
    " ",
    "a\nb",
    "x" * 300,
    "\x00",
    "é",
    "π",
)
NAMES = st.one_of(
    st.sampled_from(["x0", "x1", "age", "weight", "id", "when", "sepsis"]),
    st.sampled_from(HOSTILE),
)
FLOATS = st.one_of(
    st.floats(-10, 10),
    st.sampled_from([0.0, -0.0, 1.0, 1e-300, -1e300, 1e300, 5e-324, 1e16, 0.1]),
    st.floats(allow_nan=True, allow_infinity=True),
)
TEXTS = st.one_of(st.sampled_from(["a", "b", "c"]), st.sampled_from(HOSTILE), st.text(max_size=4))
DATES = st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2100, 1, 1))
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "tame": st.floats(-10, 10),
    "wild": FLOATS,
    "few": st.integers(0, 2),
    "integer": st.integers(-(2**62), 2**62),
    "beyond": st.integers(-(2**70), 2**70),
    "flag": st.booleans(),
    "text": TEXTS,
    "gaps": st.one_of(st.none(), st.floats(-10, 10)),
    "text with gaps": st.one_of(st.none(), st.sampled_from(["a", "b"])),
    "all missing": st.none(),
    "date": DATES,
    "day": DATES.map(lambda when: when.date()),
    "span": st.timedeltas(dt.timedelta(0), dt.timedelta(days=9)),
    "decimal": st.decimals(-100, 100, places=2),
    "bytes": st.binary(max_size=3),
    "lists": st.lists(st.integers(0, 3), max_size=2),
    "mixed": st.one_of(st.integers(0, 9), st.sampled_from(["a", "b"]), st.none(), FLOATS),
    "complex": st.complex_numbers(max_magnitude=9),
}
TAME = ("tame", "few", "flag")
ORDINARY = ("tame", "few", "wild", "flag", "text", "gaps", "integer")


@st.composite
def pairs_of_tables(draw: st.DrawFn) -> tuple[object, object]:
    """Draw two tables that mostly belong together."""
    make = draw(st.sampled_from(list(MAKERS)))
    kinds = st.one_of(st.sampled_from(ORDINARY), st.sampled_from(list(VALUES)))
    # Mostly names and kinds that go together, so that many tables reach the test.
    tame = draw(st.booleans())
    outline = draw(
        st.lists(
            st.tuples(NAMES, st.sampled_from(TAME) if tame else kinds),
            min_size=1 if tame else 0,
            max_size=4,
            unique_by=(lambda column: column[0]) if tame else None,
        )
    )
    first = _columns(draw, outline)
    mistake = draw(st.sampled_from(["none", "none", "none", "order", "fewer", "kinds", "library"]))
    if mistake == "order":
        outline = outline[::-1]
    elif mistake == "fewer":
        outline = outline[:-1]
    elif mistake == "kinds":
        outline = [(name, draw(kinds)) for name, _ in outline]
    second = _columns(draw, outline)
    other = draw(st.sampled_from(list(MAKERS))) if mistake == "library" else make
    return _made(make, first), _made(other, second)


def _columns(draw: st.DrawFn, outline: list[tuple[str, str]]) -> list[Column]:
    n_rows = draw(st.one_of(st.integers(4, 12), st.integers(0, 4)))
    return [
        (name, draw(st.lists(VALUES[kind], min_size=n_rows, max_size=n_rows)))
        for name, kind in outline
    ]


def _made(make: str, columns: list[Column]) -> object:
    """Return the table; what the library itself refuses becomes a plain list of columns."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return MAKERS[make](columns)
    except Exception:
        return [values for _, values in columns]


def _array(columns: list[Column], dtype: object = None) -> np.ndarray:
    rows = list(zip(*(values for _, values in columns), strict=True))
    return np.array(rows, dtype=dtype)


def _frame(columns: list[Column], dtype: object = None) -> pd.DataFrame:
    if not columns:
        return pd.DataFrame()
    parts = [pd.Series(values, dtype=dtype) for _, values in columns]
    frame = pd.concat(parts, axis=1)
    frame.columns = [name for name, _ in columns]
    return frame


def _categories(columns: list[Column]) -> pd.DataFrame:
    return _frame(
        [(name, [str(value) for value in values]) for name, values in columns], "category"
    )


def _polars(columns: list[Column]) -> pl.DataFrame:
    return pl.DataFrame(dict(columns), strict=False)


def _arrow(columns: list[Column]) -> pa.Table:
    return pa.table([pa.array(values) for _, values in columns], [name for name, _ in columns])


def _dictionaries(columns: list[Column]) -> pa.Table:
    arrays = [pa.array(list(map(str, values))).dictionary_encode() for _, values in columns]
    return pa.table(arrays, [name for name, _ in columns])


def _decimals(columns: list[Column]) -> pa.Table:
    arrays = [pa.array([Decimal(str(v)) for v in values]) for _, values in columns]
    return pa.table(arrays, [name for name, _ in columns])


def _sparse(form: str) -> Callable[[list[Column]], object]:
    return lambda columns: sparse.coo_array(_array(columns, np.float64)).asformat(form)


MAKERS: dict[str, Callable[[list[Column]], object]] = {
    "numpy": _array,
    "numpy objects": lambda columns: _array(columns, object),
    "numpy float32": lambda columns: _array(columns, np.float32),
    "numpy float16": lambda columns: _array(columns, np.float16),
    "numpy longdouble": lambda columns: _array(columns, np.longdouble),
    "numpy int8": lambda columns: _array(columns, np.int8),
    "numpy uint64": lambda columns: _array(columns, np.uint64),
    "numpy text": lambda columns: _array(columns, str),
    "numpy dates": lambda columns: _array(columns, "datetime64[s]"),
    "masked": lambda columns: np.ma.masked_invalid(_array(columns, np.float64)),
    "three axes": lambda columns: _array(columns, np.float64)[None],
    "one axis": lambda columns: _array(columns, np.float64).ravel(),
    "list of rows": lambda columns: _array(columns, object).tolist(),
    "dict": lambda columns: dict(columns),
    "pandas": _frame,
    "pandas objects": lambda columns: _frame(columns, object),
    "pandas nullable": lambda columns: _frame(columns).convert_dtypes(),
    "pandas Float64": lambda columns: _frame(columns, "Float64"),
    "pandas boolean": lambda columns: _frame(columns, "boolean"),
    "pandas strings": lambda columns: _frame(columns, "string"),
    "pandas categories": _categories,
    "pandas arrow": lambda columns: _frame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "pandas sparse": lambda columns: _frame(columns, pd.SparseDtype("float", 0.0)),
    "pandas series": lambda columns: pd.Series(columns[0][1] if columns else []),
    "polars": _polars,
    "polars categories": lambda columns: _polars(columns).with_columns(
        pl.all().cast(pl.String).cast(pl.Categorical)
    ),
    "polars lazy": lambda columns: _polars(columns).lazy(),
    "arrow": _arrow,
    "arrow dictionaries": _dictionaries,
    "arrow decimals": _decimals,
    "arrow batch": lambda columns: _arrow(columns).to_batches()[0],
    **{
        f"sparse {form}": _sparse(form)
        for form in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
    },
}
