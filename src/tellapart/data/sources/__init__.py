"""Any input becomes a `Source`: one file per kind, and the registry of kinds."""

from __future__ import annotations

from typing import Any

from tellapart.data.sources.anndata import AnnDataSource, BackedAnnDataSource
from tellapart.data.sources.array import ArraySource, NamedSource
from tellapart.data.sources.dask import DaskSource
from tellapart.data.sources.dataset import DatasetSource
from tellapart.data.sources.metadata import MetadataSource
from tellapart.data.sources.source import (
    HeldSource,
    Source,
    check_columns,
    check_shape,
    distinct,
)
from tellapart.data.sources.sparse import SparseSource
from tellapart.data.sources.table import QuerySource, StreamSource, TableSource, as_frame

SOURCES: list[type[Source]] = [
    ArraySource,
    DatasetSource,
    DaskSource,
    SparseSource,
    NamedSource,
    MetadataSource,
    BackedAnnDataSource,
    AnnDataSource,
    TableSource,
    QuerySource,
    StreamSource,
]
"""Kinds of input; the first that claims an object reads it, and an array is the last resort."""


def register_source(kind: type[Source]) -> type[Source]:
    """Add a kind of input, which comes before all others; see `Source` for what it needs."""
    SOURCES.insert(0, kind)
    return kind


def kind_of_input(data: object) -> type[Source]:
    """Return the kind of input that reads an object."""
    return next((kind for kind in SOURCES if kind.claims(data)), ArraySource)


def is_chunked(data: object) -> bool:
    """Say whether this is a sample in chunks, such as a dataset of files or a Dask array.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, pyarrow.dataset as ds
    >>> is_chunked(np.eye(3)), is_chunked(ds.dataset(pa.table({"a": [1, 2]})))
    (False, True)
    """
    return not kind_of_input(data).in_memory


def names_before_work(title: str, data: object) -> tuple[str, ...] | None:
    """Return the names of an input's columns if they are known before its rows are.

    Examples
    --------
    >>> import polars as pl
    >>> names_before_work("X", pl.LazyFrame({"age": [31, 47]}).with_columns(old=pl.col("age") > 40))
    ('age', 'old')
    """
    kind = kind_of_input(data)
    if issubclass(kind, QuerySource):
        return kind.names_of(title, data)
    if not kind.in_memory:
        return kind.opened(title, data).names
    frame = as_frame(title, data) if issubclass(kind, TableSource) else None
    return None if frame is None else distinct(title, frame.columns)


def load(title: str, data: Any) -> Any:
    """Return what an input holds as a table, a matrix or an array in memory.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.dataset as ds
    >>> load("X", ds.dataset(pa.table({"age": [31, 47]}))).to_pydict()
    {'age': [31, 47]}
    """
    loaded = kind_of_input(data).load(title, data)
    return data if loaded is data else load(title, loaded)


def open_source(title: str, data: object) -> Source:
    """Open anything that may hold a sample; what cannot is one clear error."""
    kind = kind_of_input(data)
    if kind.in_memory:
        return open_held(title, data)
    source = kind.opened(title, data)
    check_columns(title, source.n_columns)
    return source


def open_held(title: str, data: object, *, any_rows: bool = False) -> HeldSource:
    """Open anything that may hold a sample in memory; with two rows at least, unless any will do.

    Data in chunks are read into memory.
    """
    held = load(title, data)
    source = kind_of_input(held).opened(title, held)
    assert isinstance(source, HeldSource)
    if not any_rows:
        check_shape(title, *source.shape)
    return source
