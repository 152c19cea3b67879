"""Columns as a reference decides: what is left out of it is left out of every batch.

Identifiers of the reference are left out, as `tellapart.data.settle` does of two samples. Of dates
and times a batch has its own by design: it comes later, from one day or one week, and would differ
in day, weekday and month whatever happens. What can be compared is the time of day, and how long
something took. No batch has a say in it, so that all are compared over the same columns.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from tellapart.data.column_notes import ColumnNotes
from tellapart.data.settle import Parts, settle_columns, settled_source
from tellapart.data.sources import Source
from tellapart.data.table_columns import TableColumns
from tellapart.data.times import HOUR, SECONDS, part_of, parts_of
from tellapart.errors import InputError

COMPARED = (HOUR, SECONDS)
"""The parts of dates, times and durations that batches share with a reference."""


def decide_columns(reference: Source, keep: object = ()) -> ColumnNotes:
    """Return which columns of a reference are left out or split; warn of identifiers.

    Parameters
    ----------
    reference : Source
        The reference, opened. A table is looked at; a matrix is compared as it is.
    keep : sequence of str
        Columns to compare even if they look like identifiers.

    Examples
    --------
    >>> from datetime import datetime
    >>> from tellapart.data.sources import open_source
    >>> when = [datetime(2026, 11, 1 + k // 24, k % 24) for k in range(72)]
    >>> table = pa.table({"when": when, "day": [w.date() for w in when], "load": range(0, 144, 2)})
    >>> notes = decide_columns(open_source("reference", table))
    >>> dict(notes.parts), notes.moments
    ({'when': ('hour',)}, ('day',))
    """
    (settled,), notes = settle_columns((reference,), keep)
    shared = {
        name: tuple(part for part in parts if part in COMPARED)
        for name, parts in notes.parts.items()
    }
    decided = replace(
        notes,
        parts={name: parts for name, parts in shared.items() if parts},
        moments=tuple(name for name, parts in shared.items() if not parts),
    ).with_row_labels(settled.row_labels)
    gone = {*decided.naming_rows, *decided.moments}
    if reference.names and gone.issuperset(reference.names):
        raise InputError(
            f"{reference.title} must have a column to compare with batches; its columns are dates "
            f"and names of rows only: {', '.join(map(repr, reference.names))}"
        )
    return decided


def follow_columns(source: Source, notes: ColumnNotes, names: tuple[str, ...] | None) -> Source:
    """Return a reference, or a batch, with its columns as the reference has decided.

    `names` are the columns of the reference as it came, for a batch of as many without names. What
    is left out need not be there.
    """
    gone = {*notes.naming_rows, *notes.moments}
    if not (gone or notes.parts or notes.kept):
        return source
    if source.names is None and names is not None and len(names) == source.n_columns:
        source = replace(source, names=names)
    times: Parts = {
        name: {part: [_part(source, name, part)] for part in parts}
        for name, parts in notes.parts.items()
        if name in (source.names or ())
    }
    return settled_source(source, 0, gone, times, notes.kept)


def _part(source: Source, name: str, part: str) -> pa.Array:
    """Return one part of a column that must hold dates, times or durations, or nothing at all."""
    values = TableColumns(source).arrow(name) if source.dtypes else None
    if values is not None and values.null_count == len(values):
        return pa.nulls(len(values))
    if values is None or part not in parts_of(values.type):
        kind = "numbers" if values is None else str(values.type)
        expected = "durations" if part == SECONDS else "dates or times"
        raise InputError(
            f"column {name!r} of {source.title} must hold {expected}, as in the reference; "
            f"got {kind}"
        )
    return part_of(values, part)
