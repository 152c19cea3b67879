"""The one door for data: any two tables or matrices in, checked samples out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tellapart.arguments import check_choice
from tellapart.arrays import IntArray
from tellapart.data.choice import Headed
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.column_store import ColumnStore
from tellapart.data.columns import pool_columns
from tellapart.data.described import quoted
from tellapart.data.design_labels import DesignArguments, take_labels
from tellapart.data.designed import with_labels
from tellapart.data.missing import POLICIES, REFUSED, handle_missing
from tellapart.data.samples import Kind, Samples, Values, columns_of
from tellapart.data.settle import settle_columns
from tellapart.data.sources import Source, open_source
from tellapart.errors import InputError

_NUMERIC: Kind = "numeric"


def read_samples(
    X: object,
    Y: object,
    *,
    missing: str = "error",
    keep: Sequence[str] | None = None,
    titles: tuple[str, str] = ("X", "Y"),
    design: DesignArguments | None = None,
) -> Samples:
    """Check two samples and bring them into one form: x (m × D) and y (n × D) in float64.

    Float64 NumPy arrays are passed on without a copy, sparse matrices as sparse columns. Columns
    of tables are matched by name, in the order of X; arrays get the other sample's names, or
    x0, x1, …. The rows' index plays no part.

    Parameters
    ----------
    X, Y : array, sparse matrix, table or AnnData
        NumPy arrays (or lists of rows) of two dimensions; SciPy sparse matrices and arrays; what
        `with_names` returns; pandas, polars or pyarrow tables; AnnData, whose X is compared
        under its var_names.
        Numbers and decimals are numeric; booleans, categories and text are categorical.
        Text that is mostly numbers, or that names the rows, is refused.
    missing : {"error", "pairwise", "drop-rows", "drop-columns"}
        What to do where there are NaN, None or null. "pairwise" keeps all rows: every statistic of
        a column, or of several, uses the rows that have them. "drop-rows" leaves out rows with
        any missing value, "drop-columns" columns with one in either sample. A scan compares which
        values are missing all the same, on all rows.
    keep : sequence of str or None
        Columns to compare even if they seem to name rows; others that do are left out with a
        warning, and dates are split into parts: see `tellapart.data.settle`. None takes columns
        as they are, and refuses such ones.
    titles : pair of str
        What messages call the two samples.
    design : DesignArguments or None
        Columns, or labels, of strata, pairs and clusters. Such columns are not compared.

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
    policy = missing if missing == REFUSED else check_choice("missing", missing, POLICIES)
    taken = None
    if design is not None and design.given:
        (X, Y), taken = take_labels((X, Y), design, titles)
    samples = handle_missing(read_as_is(X, Y, titles, keep), policy, titles)
    if taken is None:
        return samples
    labels = taken.coded(titles, samples.n_read)
    return with_labels(samples, labels, policy, titles)


def read_as_is(
    X: object,
    Y: object,
    titles: tuple[str, str] = ("X", "Y"),
    keep: Sequence[str] | None = None,
) -> Samples:
    """Read two samples, NaN where a value is missing; see `read_samples`."""
    sources = [open_source(titles[0], X), open_source(titles[1], Y)]
    notes = ColumnNotes()
    if keep is not None:
        sources, notes = settle_columns(sources, keep)
    notes = notes.with_row_labels(name for source in sources for name in source.row_labels)
    return read_opened(sources[0], sources[1], notes)


def read_opened(left: Source, right: Source, notes: ColumnNotes) -> Samples:
    """Read two samples that are opened, over columns that are settled; see `read_as_is`."""
    names, order = match_columns(left, right)
    (x, y), kinds, categories = read_sources((left, right), names, (None, order))
    return Samples(x, y, names, kinds, categories, notes=notes)


def read_sources(
    sources: Sequence[Source], names: tuple[str, ...], orders: Sequence[IntArray | None]
) -> tuple[list[Values], tuple[Kind, ...], dict[str, tuple[str, ...]]]:
    """Return one matrix per source over the same columns, their kinds, and their labels.

    `orders` says where the columns of `names` stand in each source; None where they are as named.
    """
    matrices = [source.numbers for source in sources]
    whole = [
        matrix if order is None else columns_of(matrix, order)
        for matrix, order in zip(matrices, orders, strict=True)
        if matrix is not None
    ]
    if len(whole) == len(sources):
        return whole, tuple(_NUMERIC for _ in names), {}
    return _read_by_column(sources, names, orders)


def _read_by_column(
    sources: Sequence[Source], names: tuple[str, ...], orders: Sequence[IntArray | None]
) -> tuple[list[Values], tuple[Kind, ...], dict[str, tuple[str, ...]]]:
    places = [np.arange(len(names)) if order is None else order for order in orders]
    matrices: list[Values] = [
        # Numbers and truth values are their own codes: a store of them stays as it is. The others
        # in Fortran order: columns are written here, and read later, one at a time.
        source.data.columns(place)
        if isinstance(source.data, ColumnStore)
        else np.empty(source.shape, order="F")
        for source, place in zip(sources, places, strict=True)
    ]
    kinds: list[Kind] = []
    categories: dict[str, tuple[str, ...]] = {}
    for s, name in enumerate(names):
        columns = [
            source.column(int(place[s]), name)
            for source, place in zip(sources, places, strict=True)
        ]
        values, kind, labels = pool_columns(columns)
        for matrix, column in zip(matrices, values, strict=True):
            if isinstance(matrix, np.ndarray):
                matrix[:, s] = column
        kinds.append(kind)
        if labels is not None:
            categories[name] = labels
    return matrices, tuple(kinds), categories


def match_columns(left: Headed, right: Headed) -> tuple[tuple[str, ...], IntArray | None]:
    """Return the common names, and where each stands in the right sample if not in its place."""
    n_columns = left.n_columns
    if left.names is None or right.names is None:
        if n_columns != right.n_columns:
            raise InputError(
                f"{left.title} and {right.title} must have the same number of columns; "
                f"got {n_columns} and {right.n_columns}"
            )
        names = left.names or right.names or tuple(f"x{s}" for s in range(n_columns))
        return names, None
    if set(left.names) != set(right.names):
        parts = [
            f"only in {here.title}: {quoted(extra)}"
            for here, there in ((left, right), (right, left))
            if (extra := [n for n in here.names or () if n not in set(there.names or ())])
        ]
        raise InputError(
            f"{left.title} and {right.title} must have the same columns; got {'; '.join(parts)}"
        )
    if left.names == right.names:
        return left.names, None
    place = {name: s for s, name in enumerate(right.names)}
    return left.names, np.array([place[name] for name in left.names], dtype=np.intp)
