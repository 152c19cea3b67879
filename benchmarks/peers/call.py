"""One measurement in this process: a first call, then the call that counts, then its memory.

Started by `measure.py`, which listens at the other end of a pipe: a message says what the first
call took, one for each later call says what that took, and the last gives the answer.
"""

from __future__ import annotations

import os
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from peers.methods import PEERS
from peers.task import draw

TINY = 48
"""Rows of each sample in the first call, which imports and compiles."""
REPEATS = 3
ENOUGH = 5.0
"""Seconds after which a call is not repeated."""


def measure_here(name: str, rows: int, columns: int, seed: int, out: Connection) -> None:
    """Measure one peer at one size and send what was found."""
    peer = PEERS[name]
    warnings.simplefilter("ignore")
    tiny = draw(TINY, columns, seed)
    started = time.perf_counter()
    peer.call(tiny, seed)
    first = time.perf_counter() - started
    pair = draw(rows, columns, seed)
    before = _memory("VmRSS", reset=True)
    out.send({"first": first})
    spent, megabytes = 0.0, 0.0
    for repeat in range(REPEATS):
        started = time.perf_counter()
        answer = peer.call(pair, seed)
        seconds = time.perf_counter() - started
        if repeat == 0:
            megabytes = (_memory("VmHWM") - before) / 1024
        out.send(
            {
                "seconds": seconds,
                "megabytes": megabytes,
                "pvalue": answer.pvalue,
                "columns": answer.columns,
            }
        )
        spent += seconds
        if spent > ENOUGH:
            break


def _memory(what: str, *, reset: bool = False) -> int:
    """Return the kilobytes of this process and all it started; Linux only.

    VmHWM is the peak since it was last reset. Unlike `ru_maxrss` it forgets what was there before
    this program was loaded, and it can be asked of the workers of joblib, too.
    """
    total = 0
    for process in _family(os.getpid()):
        try:
            status = (process / "status").read_text(encoding="ascii")
            if reset:
                (process / "clear_refs").write_text("5", encoding="ascii")
        except OSError:  # it has just ended
            continue
        found = [line for line in status.splitlines() if line.startswith(what)]
        total += int(found[0].split()[1]) if found else 0
    return total


def _family(pid: int) -> Iterator[Path]:
    """Yield the folders of a process and of all that it started below /proc."""
    children: dict[int, list[int]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            stat = (process / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:  # it has just ended
            continue
        # The name, in brackets, may hold anything; the state and the parent follow it.
        parent = int(stat.rpartition(")")[2].split()[1])
        children.setdefault(parent, []).append(int(process.name))
    found = [pid]
    for member in found:
        found += children.get(member, [])
        yield Path(f"/proc/{member}")


def main() -> None:
    """Measure what the command line says; a failure is sent, too."""
    name, rows, columns, seed, most, pipe = sys.argv[1:]
    # What the formula of a peer did not foresee ends in MemoryError, not in a machine that swaps.
    resource.setrlimit(resource.RLIMIT_DATA, (int(most), int(most)))
    with Connection(int(pipe), readable=False) as out:
        # What a peer may raise is not ours to know.
        try:
            measure_here(name, int(rows), int(columns), int(seed), out)
        except Exception as error:
            out.send({"error": " ".join(f"{type(error).__name__}: {error}".split())[:200]})


if __name__ == "__main__":
    main()
