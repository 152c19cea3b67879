"""What a monitor must remember from one check to the next, as plain values and as a JSON file.

Numbers are written so that reading them gives the same bits: a monitor that was stored gives the
same answers as one that was not. The reference is not in it, only its fingerprint.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tellapart.arrays import FloatArray
from tellapart.data.coded_rows import CodedRows
from tellapart.data.column_store import ColumnStore, SparseColumns
from tellapart.errors import InputError
from tellapart.testing.betting import EXPONENTS, Bets, Promise
from tellapart.testing.check_record import CheckRecord
from tellapart.testing.seen_rows import SeenRows
from tellapart.writing import check_writable, write_atomically

FORMAT = "tellapart monitor, version 1"


@dataclass(frozen=True)
class MonitorState:
    """Where a sequence of checks stands.

    Attributes
    ----------
    history : tuple of CheckRecord
        The answers so far.
    bets : Bets or None
        What they say together; None with a planned end, where each stands alone.
    seen : SeenRows
        What the next batch is compared with.
    """

    history: tuple[CheckRecord, ...]
    bets: Bets | None
    seen: SeenRows

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        seen, bets = self.seen, self.bets
        n_old = seen.of_reference.size
        later = None if seen.later is None else plain_rows(seen.later)
        return {
            "bets": None if bets is None else {"number": bets.number, "sums": list(bets.sums)},
            "reference_rows": seen.of_reference.tolist(),
            "parts": {
                "reference": seen.parts[:n_old].tolist(),
                "later": seen.parts[n_old:].tolist(),
            },
            "later": later,
            "history": [record.to_dict() for record in self.history],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], promise: Promise | None) -> MonitorState:
        """Return the state that `to_dict` was made of; the promise is the one of the settings."""
        parts = plain["parts"]
        seen = SeenRows(
            np.array(plain["reference_rows"], dtype=np.intp),
            np.array([*parts["reference"], *parts["later"]], dtype=np.intp),
            None if plain["later"] is None else coded_rows(plain["later"]),
        )
        bets = None
        if promise is not None:
            sums = tuple(float(part) for part in plain["bets"]["sums"])
            if len(sums) != EXPONENTS.size:
                raise ValueError(f"{len(sums)} bets where this version has {EXPONENTS.size}")
            bets = Bets(promise, int(plain["bets"]["number"]), sums)
        return cls(tuple(map(CheckRecord.from_dict, plain["history"])), bets, seen)


def plain_rows(rows: CodedRows) -> dict[str, Any]:
    """Return rows as plain values, with the labels of their codes, and None for what is missing.

    Examples
    --------
    >>> rows = CodedRows(np.array([[1.5], [np.nan]]), ("age",), ("numeric",))
    >>> plain_rows(rows)["columns"]
    [[1.5, None]]
    """
    head = {
        "names": list(rows.names),
        "kinds": list(rows.kinds),
        "categories": {name: list(labels) for name, labels in rows.categories.items()},
    }
    values = rows.values
    if isinstance(values, SparseColumns):
        held = values.matrix.tocoo()
        places = {"rows": held.row.tolist(), "columns": held.col.tolist()}
        return head | {"n_rows": rows.n_rows, "sparse": places | {"values": held.data.tolist()}}
    columns = [_plain_column(values[:, s]) for s in range(values.shape[1])]
    return head | {"columns": columns}


def coded_rows(plain: Mapping[str, Any]) -> CodedRows:
    """Return the rows that `plain_rows` was made of."""
    names = tuple(plain["names"])
    values: FloatArray | ColumnStore
    if "sparse" in plain:
        held = plain["sparse"]
        shape = (plain["n_rows"], len(names))
        entries = np.array(held["values"], dtype=np.float64)
        matrix = sparse.coo_array((entries, (held["rows"], held["columns"])), shape=shape)
        values = SparseColumns.from_scipy(matrix)
    else:
        columns = [np.array(column, dtype=np.float64) for column in plain["columns"]]
        values = np.column_stack(columns)
    labels = {name: tuple(labels) for name, labels in plain["categories"].items()}
    return CodedRows(values, names, tuple(plain["kinds"]), labels)


def write_file(path: str | os.PathLike[str], head: Mapping[str, Any], state: MonitorState) -> None:
    """Write settings, reference and columns, the head, and a state; the file is whole or not."""
    target = check_writable("path", path)
    content = {"format": FORMAT, **head, **state.to_dict()}
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    write_atomically(target, f"{text}\n".encode())


def read_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what `write_file` wrote; anything else is one clear error."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be the path of a file; got {path!r}")
    name = os.fspath(path)
    try:
        content = json.loads(Path(name).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it holds no JSON"
        raise InputError(f"path must be a file that a monitor saved; {name!r}: {reason}") from None
    found = content.get("format") if isinstance(content, dict) else None
    if found != FORMAT:
        raise InputError(
            f"path must be a file that a monitor saved, of the format {FORMAT!r}; "
            f"{name!r} is of the format {found!r}"
        )
    assert isinstance(content, dict)
    return content


def _plain_column(column: FloatArray) -> list[float | None]:
    values: list[float | None] = column.tolist()
    if np.isnan(column).any():
        values = [None if value != value else value for value in values]
    return values
