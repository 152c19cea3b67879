"""What a monitor keeps from one check to the next, as plain values and as a JSON file.

Numbers are written so that reading them gives the same bits: a stored monitor gives the same
answers as one that was not stored. The file holds the fingerprint of the reference, not its rows,
and the SHA-256 of its own content: a file that was truncated or altered is refused.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.column_notes import ColumnNotes
from tellapart.data.column_store import ColumnStore, SparseColumns
from tellapart.data.samples import CodedRows
from tellapart.errors import InputError
from tellapart.monitor.batch_summary import BatchSummary, Layout
from tellapart.monitor.betting import EXPONENTS, MOST_CAPITAL, Bets, Ever, Rate, Streams
from tellapart.monitor.records import CheckRecord, FailedBatch
from tellapart.monitor.rows import SeenRows
from tellapart.writing import check_writable, write_atomically

FORMAT = "tellapart monitor, version 3"
WITHOUT_CHECKSUM = "tellapart monitor, version 1"
"""A format without a checksum, whose files may have been altered: they are refused."""
OF_ROWS = "tellapart monitor, version 2"
"""A format with findings as texts and without scores: it is read."""

MOST = 2**62
"""The largest whole number that a state may hold."""

_LABELS = {"names": [str], "kinds": [str], "categories": dict}
_ROWS = (
    {**_LABELS, "columns": [[(float, None)]]},
    {**_LABELS, "n_rows": int, "sparse": {"rows": [int], "columns": [int], "values": [float]}},
)
_SIZE = (float, None)
_SCORE = {"column": str, "measure": str, "effect": _SIZE, "low": _SIZE, "high": _SIZE}
_RECORD = {
    "number": int,
    "label": str,
    "n_rows": int,
    "pvalue": float,
    "alarm_level": float,
    "alarm": bool,
    "variables": [str],
    "findings": [dict],
    "capital": _SIZE,
    "capital_needed": _SIZE,
    "large_enough": bool,
    "scores": [_SCORE],
    "beyond": [str],
    "fingerprint": str,
}
_FAILURE = {"label": str, "reason": str, "message": str, "after": int}
_NOTES = {
    name: dict if isinstance(value, dict) else [str]
    for name, value in ColumnNotes().to_dict().items()
}
SCHEMA = {
    "format": str,
    "settings": dict,
    "reference": str,
    "left_out": _NOTES,
    "history": [_RECORD],
    "failures": [_FAILURE],
    "bets": ({"number": int, "sums": [float]}, None),
    "reference_rows": [int],
    "parts": {"reference": [int], "later": [int]},
    "later": (*_ROWS, None),
}
"""What a state holds: a type, a list of one kind, a dict with these keys, or one of a tuple."""
_BATCH = {"n_rows": int, "values": [_SIZE], "variances": [_SIZE], "levels": dict}
SCHEMA_OF_BATCHES = {
    **{name: SCHEMA[name] for name in ("format", "settings", "reference", "left_out")},
    "history": [_RECORD],
    "failures": [_FAILURE],
    "bets": ({"number": int, "sums": [[[float]]]}, None),
    "reference_batches": [int],
    "later_batches": [_BATCH],
}
"""The same where batches are the units."""


@dataclass(frozen=True)
class MonitorState:
    """The state of a sequence of checks.

    Attributes
    ----------
    history : tuple of CheckRecord
        The answers so far.
    bets : Bets or None
        Their evidence combined; None with a planned end, where every check stands alone.
    seen : SeenRows
        What the next batch is compared with.
    failures : tuple of FailedBatch
        Batches that could not be checked.
    """

    history: tuple[CheckRecord, ...]
    bets: Bets | None
    seen: SeenRows
    failures: tuple[FailedBatch, ...] = ()

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
            **plain_history(self.history, self.failures),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], promise: Ever | Rate | None) -> MonitorState:
        """Return the state that `to_dict` was made of; the promise is the one of the settings."""
        history, failures = read_history(plain, promise)
        _check_rows(plain)
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
        return cls(history, bets, seen, failures)


@dataclass(frozen=True, eq=False)
class BatchState:
    """The state of a sequence of checks whose units are batches.

    Attributes
    ----------
    history, failures : tuples of records
        The answers so far, and batches that could not be checked.
    bets : Streams or None
        The evidence; None with a planned end.
    of_reference : array
        Which batches of the reference are held, by number.
    later : tuple of BatchSummary
        The batches since the reference, or since the last alarm.
    """

    history: tuple[CheckRecord, ...]
    failures: tuple[FailedBatch, ...]
    bets: Streams | None
    of_reference: IntArray
    later: tuple[BatchSummary, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        bets = self.bets
        return {
            **plain_history(self.history, self.failures),
            "bets": None if bets is None else {"number": bets.number, "sums": bets.sums.tolist()},
            "reference_batches": self.of_reference.tolist(),
            "later_batches": [batch.to_dict() for batch in self.later],
        }

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, Any], bets: Streams | None, layout: Layout, n_reference: int
    ) -> BatchState:
        """Return the state that `to_dict` was made of; `bets` are those before the first check."""
        history, failures = read_history(plain, None if bets is None else bets.promise)
        if bets is not None:
            sums = np.array(plain["bets"]["sums"], dtype=np.float64)
            if sums.shape != bets.sums.shape:
                raise ValueError("its bets are not those of the columns of the reference")
            bets = replace(bets, number=int(plain["bets"]["number"]), sums=sums)
        numbers = plain["reference_batches"]
        if numbers != sorted(set(numbers)) or not set(numbers) <= set(range(n_reference)):
            raise ValueError("its batches of the reference are not in order")
        later = tuple(BatchSummary.from_dict(one, layout) for one in plain["later_batches"])
        return cls(history, failures, bets, np.array(numbers, dtype=np.intp), later)


def plain_history(
    history: Sequence[CheckRecord], failures: Sequence[FailedBatch]
) -> dict[str, list[dict[str, Any]]]:
    """Return the records as plain values."""
    return {
        "history": [record.to_dict() for record in history],
        "failures": [failed.to_dict() for failed in failures],
    }


def read_history(
    plain: Mapping[str, Any], promise: Ever | Rate | None
) -> tuple[tuple[CheckRecord, ...], tuple[FailedBatch, ...]]:
    """Return the records that `plain_history` wrote; ValueError if they are impossible."""
    _check_history(plain, promise)
    history = tuple(map(CheckRecord.from_dict, plain["history"]))
    return history, tuple(FailedBatch(**failed) for failed in plain["failures"])


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
        entries = values.matrix.tocoo()
        triplets = {
            "rows": entries.row.tolist(),
            "columns": entries.col.tolist(),
            "values": entries.data.tolist(),
        }
        return head | {"n_rows": rows.n_rows, "sparse": triplets}
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


def write_file(
    path: str | os.PathLike[str], head: Mapping[str, Any], state: MonitorState | BatchState
) -> None:
    """Write settings, reference and columns, the head, and a state; the file is whole or not."""
    target = check_writable("path", path)
    content = {"format": FORMAT, **head, **state.to_dict()}
    content["checksum"] = checksum(content)
    write_atomically(target, f"{_as_json(content)}\n".encode())


def read_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what `write_file` wrote; anything else is one clear error."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be the path of a file; got {path!r}")
    name = os.fspath(path)
    expected = "path must be a file that a monitor saved"
    try:
        content = json.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{expected}; {name!r}: {error.strerror}") from None
    except (ValueError, RecursionError):
        # Truncated, not text, or nested beyond Python's limit.
        raise InputError(f"{expected}; {name!r}: it holds no JSON") from None
    form = content.get("format") if isinstance(content, dict) else None
    if form == WITHOUT_CHECKSUM:
        raise InputError(
            f"{expected}, of the format {FORMAT!r}; {name!r} is of version 1, which has no "
            "checksum and may have been altered: start a new state"
        )
    if form not in (FORMAT, OF_ROWS):
        raise InputError(
            f"{expected}, of the format {FORMAT!r}; {name!r} is of the format {form!r}"
        )
    stored: dict[str, Any] = content
    try:
        if stored.pop("checksum", None) != checksum(stored):
            raise ValueError("its checksum does not match its content")
        if form == OF_ROWS:
            stored = _upgraded(stored, f"{expected}; {name!r}")
        schema = SCHEMA if "reference_rows" in stored else SCHEMA_OF_BATCHES
        _check_shape(stored, schema, "the state")
    except InputError:
        raise
    except (ValueError, RecursionError) as error:  # such as NaN, which is not JSON
        raise InputError(
            f"{expected}; {name!r} was altered or damaged: {error}; restore it from a copy, or "
            "start a new state"
        ) from None
    return stored


def _upgraded(content: dict[str, Any], found: str) -> dict[str, Any]:
    """Return a state of version 2 as one of version 3: findings are objects with their text."""
    settings = content.get("settings")
    if not isinstance(settings, dict) or not isinstance(content.get("history"), list):
        raise ValueError("it has no settings or no history")
    if settings.get("smallest_effect") is not None:
        raise InputError(
            f"{found} is of version 2 and has a smallest effect, whose units were others: start a "
            "new state"
        )
    history = [
        {
            **record,
            "findings": [{"text": text, "tripped": False} for text in record["findings"]],
            "scores": [],
            "beyond": [],
        }
        for record in content["history"]
        if isinstance(record, dict) and isinstance(record.get("findings"), list)
    ]
    if len(history) < len(content["history"]):
        raise ValueError("a check has no findings")
    return {
        **content,
        "format": FORMAT,
        "settings": {**settings, "thresholds": None, "batches": None},
        "history": history,
        "failures": [],
    }


def checksum(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of all entries but the checksum, as JSON without blanks.

    Examples
    --------
    >>> one = checksum({"alpha": 0.05})
    >>> one == checksum({"alpha": 0.050, "checksum": one}), one == checksum({"alpha": 0.06})
    (True, False)
    """
    entries = {key: value for key, value in content.items() if key != "checksum"}
    return hashlib.sha256(_as_json(entries).encode()).hexdigest()


def _as_json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, allow_nan=False, separators=(",", ":"))


def _check_shape(value: Any, expected: Any, title: str) -> None:
    """Raise ValueError if nested plain values are not as a schema says; see `SCHEMA`."""
    if isinstance(expected, tuple):
        if not any(_has_shape(value, one, title) for one in expected):
            raise ValueError(f"{title} has none of the forms it may have")
    elif isinstance(expected, dict):
        if not isinstance(value, dict) or value.keys() != expected.keys():
            raise ValueError(f"{title} must have the entries {', '.join(expected)}")
        for key, part in expected.items():
            _check_shape(value[key], part, key)
    elif isinstance(expected, list):
        if not isinstance(value, list):
            raise ValueError(f"{title} must be a list")
        for one in value:
            _check_shape(one, expected[0], title)
    elif expected is None or isinstance(value, bool):
        if value is not None and expected is not bool:
            raise ValueError(f"{title} must not be {value!r}")
    elif not isinstance(value, int | float if expected is float else expected):
        raise ValueError(f"{title} must be of type {expected.__name__}")
    for number in value.values() if isinstance(value, dict) else (value,):
        if isinstance(number, int) and abs(number) > MOST:
            raise ValueError(f"{title} must have no number beyond {MOST}")


def _has_shape(value: Any, expected: Any, title: str) -> bool:
    try:
        _check_shape(value, expected, title)
    except ValueError:
        return False
    return True


def _check_history(plain: Mapping[str, Any], promise: Ever | Rate | None) -> None:
    """Raise ValueError if the answers so far, or the bets on them, are impossible."""
    history, bets = plain["history"], plain["bets"]
    if [record["number"] for record in history] != list(range(1, len(history) + 1)):
        raise ValueError("its checks are not numbered from 1 on")
    for record in history:
        if not all(isinstance(one.get("text"), str) for one in record["findings"]) or not all(
            isinstance(one.get("tripped"), bool) for one in record["findings"]
        ):
            raise ValueError(f"check {record['number']} has findings without a text")
        if not 0 < record["pvalue"] <= 1 or not 0 <= record["alarm_level"] <= 1:
            raise ValueError(f"check {record['number']} has no p-value in (0, 1]")
        if len({promise is None, *(record[key] is None for key in _OF_BETS)}) > 1:
            raise ValueError(f"check {record['number']} does not belong to these settings")
    if (promise is None) != (bets is None):
        raise ValueError("its bets do not belong to these settings")
    if bets is not None and not 0 <= bets["number"] <= len(history):
        raise ValueError(f"{bets['number']} bets on {len(history)} checks")
    if bets is not None and not _in_range(bets["sums"]):
        raise ValueError("its bets are out of range")


def _in_range(sums: Any) -> bool:
    every = np.ravel(np.array(sums, dtype=np.float64))
    return bool(np.all((every >= 0) & (every <= MOST_CAPITAL)))


_OF_BETS = ("capital", "capital_needed")


def _check_rows(plain: Mapping[str, Any]) -> None:
    """Raise ValueError if the rows that are held contradict each other."""
    rows, parts, later = plain["reference_rows"], plain["parts"], plain["later"]
    n_parts = 2 if plain["settings"]["method"] == "split" else 1
    if len(parts["reference"]) != len(rows) or not {
        *parts["reference"],
        *parts["later"],
    } <= set(range(n_parts)):
        raise ValueError("its rows belong to parts that do not exist")
    if rows != sorted(set(rows)) or (rows and rows[0] < 0):
        raise ValueError("its rows of the reference are not in order")
    n_later = 0 if later is None else _count_rows(later)
    if n_later != len(parts["later"]):
        raise ValueError(f"{n_later} later rows, of which {len(parts['later'])} have a part")


def _count_rows(later: Mapping[str, Any]) -> int:
    """Return how many rows of batches are held; raise ValueError if they do not form a table."""
    names, kinds, categories = later["names"], later["kinds"], later["categories"]
    if not names or len(set(names)) < len(names) or len(kinds) != len(names):
        raise ValueError("its columns do not all have different names")
    categorical = {name for name, kind in zip(names, kinds, strict=True) if kind == "categorical"}
    if not set(kinds) <= {"numeric", "categorical"} or categories.keys() != categorical:
        raise ValueError("its columns have unknown kinds")
    _check_shape(list(categories.values()), [[str]], "categories")
    if "sparse" in later:
        held, n_rows = later["sparse"], later["n_rows"]
        if len({len(entries) for entries in held.values()}) != 1:
            raise ValueError("its sparse rows have positions without values")
        _check_positions(held["rows"], n_rows)
        _check_positions(held["columns"], len(names))
        return int(n_rows)
    lengths = {len(column) for column in later["columns"]}
    if len(later["columns"]) != len(names) or len(lengths) != 1:
        raise ValueError("its columns are not of one length")
    for name, column in zip(names, later["columns"], strict=True):
        if name in categorical:
            _check_positions([code for code in column if code is not None], len(categories[name]))
    return lengths.pop()


def _check_positions(positions: Sequence[float], end: int) -> None:
    if any(not 0 <= at < end or at != math.floor(at) for at in positions):
        raise ValueError("a position or code is out of range")


def _plain_column(column: FloatArray) -> list[float | None]:
    values: list[float | None] = column.tolist()
    if np.isnan(column).any():
        values = [None if value != value else value for value in values]
    return values
