"""tellapart beside other libraries: seconds, memory and answers from 200 to a million rows.

    python benchmarks/bench_peers.py [--only NAME ...] [--sizes 2000x100 ...] [--limit 60]
                                     [--memory 8] [--again]
    python benchmarks/bench_peers.py --draw

What is on file is not measured again without --again. Every peer is optional:
benchmarks/peers/__init__.py says how to install them. Linux only, for the memory.
Writes benchmarks/results/peers/NAME.csv row by row, then benchmarks/results/peers.md and .csv and
docs/images/peers.svg of all rows on file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from peers import measure
from peers.figure import draw_figure
from peers.measure import Limits, Size
from peers.methods import PEERS
from peers.summary import flat, page, rows_on_file, seconds
from store import store

ROWS = (200, 2_000, 20_000, 200_000, 1_000_000)
COLUMNS = (20, 100)
SIZES = tuple(Size(rows, columns) for columns in COLUMNS for rows in ROWS)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is missing, and draw what is on file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--sizes", nargs="+", type=Size.of, default=SIZES)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of one call")
    parser.add_argument("--memory", type=float, default=8.0, help="GB that a peer may ask for")
    parser.add_argument("--again", action="store_true", help="measure again what is on file")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    given = parser.parse_args(arguments)
    if not given.draw:
        limits = Limits(given.limit, given.memory * 1e9)
        for name in given.only:
            _measure(name, given.sizes, limits, given.again)
    found = rows_on_file()
    rows = flat(found)
    if not rows:
        sys.exit("nothing is on file")
    store("peers", page(found), rows)
    draw_figure(found)


def _measure(name: str, sizes: Sequence[Size], limits: Limits, again: bool) -> None:
    peer = PEERS[name]
    if peer.missing():
        absent = ", ".join(peer.missing())
        print(f"{name}: not installed ({absent}); pip install {peer.package}", flush=True)
        return
    for row in measure.run(name, sizes, limits, again):
        size = measure.size_of(row)
        told = seconds({size: row}, size)
        print(f"{name}: {size.rows:,} + {size.rows:,} × {size.columns}: {told}", flush=True)


if __name__ == "__main__":
    main()
