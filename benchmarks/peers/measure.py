"""A peer at one size: refused, stopped at the limit, failed, or measured and scored."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from peers.base import THREADS, Peer
from peers.methods import PEERS
from peers.task import planted
from store import Row, Store

RESULTS = Path(__file__).parents[1] / "results"
MEASURED, OVER, MEMORY, FAILED = "measured", "over the limit", "memory", "failed"
SEED = 0
FIRST_LIMIT = 240.0
"""Seconds for the first call, which compiles: it is not what the limit is about."""
FAREWELL = 10.0
"""Seconds that a process has to end by itself."""
ROOM = 4e9
"""Bytes beyond the guard that a process may take: its libraries and what formulas leave out."""


@dataclass(frozen=True, order=True)
class Size:
    """Rows of each sample, and columns."""

    rows: int
    columns: int

    @classmethod
    def of(cls, text: str) -> Size:
        """Read a size such as 2000x100.

        >>> Size.of("2000x100")
        Size(rows=2000, columns=100)
        """
        rows, columns = text.split("x")
        return cls(int(rows), int(columns))

    def within(self, other: Size) -> bool:
        """Return whether no side is longer than that of the other."""
        return self.rows <= other.rows and self.columns <= other.columns


@dataclass(frozen=True)
class Limits:
    """Seconds of one call, and bytes that a peer's formula may ask for."""

    seconds: float
    bytes: float


def measurements(name: str) -> Store:
    """Return the file of a peer's rows, one for each size."""
    return Store(
        RESULTS / "peers" / f"{name}.csv",
        ("rows", "columns"),
        (
            "status",
            "first",
            "seconds",
            "megabytes",
            "pvalue",
            "named",
            "shift",
            "pair",
            "others",
            "limit",
            "version",
            "error",
        ),
    )


def size_of(row: Row) -> Size:
    """Return the size that a row is about."""
    return Size(int(row["rows"]), int(row["columns"]))


def run(name: str, sizes: Sequence[Size], limits: Limits, again: bool) -> Iterator[Row]:
    """Measure a peer at the sizes that are not on file, smaller ones first.

    What is over a limit at one size is not tried at a larger one.
    """
    store = measurements(name)
    if again:
        forget(store, sizes)
    for size in sorted(sizes):
        rows = store.rows()
        if any(size_of(row) == size for row in rows) or hopeless(size, rows):
            continue
        row = measure(PEERS[name], size, limits)
        store.add([row])
        yield row


def forget(store: Store, sizes: Iterable[Size]) -> None:
    """Take the rows of some sizes off the file."""
    kept = [row for row in store.rows() if size_of(row) not in set(sizes)]
    store.path.unlink(missing_ok=True)
    if kept:
        store.add(kept)


def hopeless(size: Size, rows: Iterable[Row]) -> bool:
    """Return whether a size within this one has been over the limit, or has failed."""
    return any(row["status"] in (OVER, FAILED) and size_of(row).within(size) for row in rows)


def measure(peer: Peer, size: Size, limits: Limits) -> Row:
    """Return the row of a peer at one size."""
    row = dict.fromkeys(measurements(peer.name).fields, "")
    row |= {"rows": str(size.rows), "columns": str(size.columns), "version": peer.version()}
    row["limit"] = f"{limits.seconds:g}"
    needed = peer.bytes_needed(size.rows, size.columns) if peer.bytes_needed else 0.0
    if needed > limits.bytes:
        return row | {"status": MEMORY, "megabytes": f"{needed / 1e6:.0f}"}
    sent, stopped = _listen(peer.name, size, limits)
    row["first"] = f"{sent[0]['first']:.4g}" if sent and "first" in sent[0] else ""
    calls = [message for message in sent if "seconds" in message]
    if not calls:
        return row | _failure(sent, stopped)
    best = min(float(call["seconds"]) for call in calls)
    row |= {"status": MEASURED, "seconds": f"{best:.4g}"}
    row["megabytes"] = f"{calls[0]['megabytes']:.1f}"
    return row | score(size, calls[0]["pvalue"], calls[0]["columns"])


def _failure(sent: Sequence[Mapping[str, Any]], stopped: bool) -> Row:
    """Say why there is no measurement: only a call that has begun can be over the limit."""
    if not stopped:
        error = next((str(m["error"]) for m in sent if "error" in m), "the process died")
        return {"status": FAILED, "error": error}
    if sent:
        return {"status": OVER}
    return {"status": FAILED, "error": f"first call: more than {FIRST_LIMIT:g} s"}


def score(size: Size, pvalue: float | None, columns: Sequence[int] | None) -> Row:
    """Return what an answer is worth: the same for all peers, by the planted difference."""
    row = {"pvalue": "" if pvalue is None else f"{pvalue:.4g}"}
    if columns is None:
        return row
    truth, named = planted(size.columns, SEED), set(columns)
    return row | {
        "named": " ".join(map(str, sorted(named))),
        "shift": str(int(truth.shifted in named)),
        "pair": str(int(named.issuperset(truth.correlated))),
        "others": str(len(named - {truth.shifted, *truth.correlated})),
    }


def _listen(name: str, size: Size, limits: Limits) -> tuple[list[dict[str, Any]], bool]:
    """Run one measurement in a process of its own; return what it sent, and if it was stopped."""
    here, there = Pipe(duplex=False)
    input_bytes = 16.0 * size.rows * size.columns
    most = int(limits.bytes + 2 * input_bytes + ROOM)
    arguments = [name, size.rows, size.columns, SEED, most, there.fileno()]
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA")
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("call.py")), *map(str, arguments)],
        pass_fds=(there.fileno(),),
        env=os.environ | {f"{library}_NUM_THREADS": str(THREADS) for library in names},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    there.close()
    try:
        sent, stopped = _messages(here, limits.seconds)
        if not stopped:
            # Libraries write their caches when a process ends: half of one would spoil the next.
            with suppress(subprocess.TimeoutExpired):
                process.wait(FAREWELL)
        return sent, stopped
    finally:
        here.close()
        # The session is its own: workers that it left behind end with it.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _messages(here: Connection, limit: float) -> tuple[list[dict[str, Any]], bool]:
    sent: list[dict[str, Any]] = []
    while here.poll(limit if sent else FIRST_LIMIT):
        try:
            sent.append(here.recv())
        except EOFError:
            return sent, False
    return sent, True
