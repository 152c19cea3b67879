"""Some columns of tables, chosen by name: `--columns`, `--drop` and `keep`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from tellapart.data.sources.anndata import is_anndata
from tellapart.data.sources.dataset import FileDataset
from tellapart.errors import InputError
from tellapart.optional import is_arrow
from tellapart.text import nearest


def choose_columns(
    tables: Sequence[Any],
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    needed: Sequence[str] = (),
) -> tuple[list[Any], tuple[str, ...]]:
    """Return tables restricted to some columns, in the order of each; and which are left out.

    Parameters
    ----------
    tables : sequence of pyarrow tables, AnnData or file datasets
        As files are read.
    columns : sequence of str or None
        The columns to keep, which every table must have; None for all. Each text is a name, or
        several with commas between them, in double quotes where a name has a comma itself.
    drop : sequence of str
        Columns to leave out, written in the same way. One table may be without them: that is how
        two files with different columns become comparable.
    needed : sequence of str
        Columns that stay whatever is chosen, such as the one that names groups.

    Examples
    --------
    >>> import pyarrow as pa
    >>> x = pa.table({"age": [31, 47], "sex": ["f", "m"], "ward": [1, 2]})
    >>> tables, left_out = choose_columns([x, x.drop(["ward"])], drop=["ward"])
    >>> [table.column_names for table in tables], left_out
    ([['age', 'sex'], ['age', 'sex']], ('ward',))
    >>> choose_columns([x], columns=["ward,age"])[0][0].column_names
    ['age', 'ward']
    """
    if columns is None and not drop:
        return list(tables), ()
    names = [names_of(table) for table in tables]
    every_name = dict.fromkeys(name for some in names for name in some)
    wanted = None if columns is None else typed_names(columns, every_name)
    unwanted = typed_names(drop, every_name)
    for some in names:
        _check_known("columns", wanted or (), some)
    _check_known("drop", unwanted, every_name)
    clash = [name for name in needed if name in unwanted]
    if clash:
        raise InputError(f"drop must leave the column {clash[0]!r}, by which rows are grouped")
    chosen = []
    for table, some in zip(tables, names, strict=True):
        kept = [
            name
            for name in some
            if name in needed or ((wanted is None or name in wanted) and name not in unwanted)
        ]
        if not set(kept) - set(needed):
            raise InputError("drop must leave at least one column to compare; got all of them")
        chosen.append(_with_columns(table, kept))
    left = {name for table in chosen for name in names_of(table)}
    return chosen, tuple(name for name in every_name if name not in left)


def typed_names(texts: Iterable[str], known: Iterable[str]) -> dict[str, None]:
    """Return the names in texts as people type them: one, or several with commas between."""
    typed: dict[str, None] = {}
    for text in texts:
        # A name that has a comma may also be given as it is.
        typed.update(dict.fromkeys([text] if text in known else _between_commas(text)))
    return typed


def _between_commas(text: str) -> list[str]:
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:  # a line break outside quotes: no list, and unknown as a name
        return [text]


def typed_in(tables: Sequence[Any], texts: Iterable[str]) -> list[str]:
    """Return the names of columns that people typed, of tables that may have them."""
    every_name = dict.fromkeys(name for table in tables for name in names_of(table))
    return list(typed_names(texts, every_name))


def _check_known(argument: str, given: Iterable[str], names: Iterable[str]) -> None:
    every = dict.fromkeys(names)
    unknown = [name for name in given if name not in every]
    if unknown:
        raise InputError(
            f"{argument} must name columns; got {unknown[0]!r}; {nearest(unknown[0], every)}"
        )


def names_of(table: Any) -> list[str]:
    """Return the names of the columns of a table, AnnData or file dataset."""
    if is_arrow(table, "Table"):
        return list(table.column_names)
    return [str(name) for name in (table.var_names if is_anndata(table) else table.names)]


def _with_columns(table: Any, names: list[str]) -> Any:
    if is_arrow(table, "Table"):
        wanted = set(names)
        # By place, since names may repeat: that is refused later, in words of its own.
        return table.select([k for k, name in enumerate(table.column_names) if name in wanted])
    if isinstance(table, FileDataset):
        return replace(table, names=tuple(names))
    return table[:, names]
