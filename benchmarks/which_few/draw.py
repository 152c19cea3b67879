"""Print the scores on file as Markdown tables; it measures nothing.

    python benchmarks/which_few/draw.py [--methods NAME ...]

One table of mean scores, kind by selector, and one of ours minus the best peer of each kind, over
the tasks that both have. With --methods only these are shown, so that the peers can be looked at
without ours.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from store import table
from which_few.kinds import KINDS
from which_few.measure import ORACLE, SCORES, scores
from which_few.methods import METHODS
from which_few.summary import Cell, best, cell, lead, on_file, ours, peers

Cells = dict[tuple[str, str], Cell]
Rows = list[dict[str, object]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    names = [*METHODS, ORACLE]
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--methods", nargs="+", choices=names, default=names)
    wanted = parser.parse_args(arguments).methods
    methods = [name for name in on_file(SCORES) if name in wanted]
    if not methods:
        sys.exit("nothing is on file: run benchmarks/which_few/run.py first")
    cells = read(methods)
    parts = ["# Which few: share of the true variables found", table(means(cells, methods))]
    if ours(methods) and peers(methods):
        parts += ["## Ours minus the best peer of each kind", table(leads(cells, methods))]
    parts += ["## The selectors", table(selectors(cells, methods))]
    shown = [{"kind": name, "what": kind.what} for name, kind in KINDS.items()]
    parts += ["## The kinds", table(shown)]
    print("\n\n".join(parts))


def read(methods: Sequence[str]) -> Cells:
    """Return what is on file by kind and selector."""
    found: Cells = {}
    for method in methods:
        rows = scores(method).rows()
        for kind in KINDS:
            of_kind = [row for row in rows if row["kind"] == kind]
            if of_kind:
                found[kind, method] = cell(of_kind, "seed", "score")
    return found


def means(cells: Cells, methods: Sequence[str]) -> Rows:
    """Return one row for each kind: the mean score of each selector; the last is their mean."""
    rows: Rows = [
        {"kind": kind, **{m: cells[kind, m].mean if (kind, m) in cells else "–" for m in methods}}
        for kind in KINDS
    ]
    return [*rows, {"kind": "**mean**", **{m: _over_kinds(cells, m) for m in methods}}]


def _over_kinds(cells: Cells, method: str) -> str:
    found = [cells[kind, method].mean.value for kind in KINDS if (kind, method) in cells]
    # A mean over some of the kinds would stand beside means over all of them.
    return f"{fmean(found):.3f}" if len(found) == len(KINDS) else "–"


def leads(cells: Cells, methods: Sequence[str]) -> Rows:
    """Return one row for each kind: the best peer, and ours less that with standard errors."""
    rows: Rows = []
    for kind in KINDS:
        if not any((kind, name) in cells for name in peers(methods)):
            continue
        strongest = best(cells, kind, peers(methods))
        row: dict[str, object] = {
            "kind": kind,
            "best peer": f"{strongest} {cells[kind, strongest].mean}",
        }
        for name in ours(methods):
            ahead = (
                lead(cells[kind, name], cells[kind, strongest]) if (kind, name) in cells else None
            )
            row[name] = ahead.signed if ahead else "–"
        if ORACLE in methods:
            row[ORACLE] = cells[kind, ORACLE].mean if (kind, ORACLE) in cells else "–"
        rows.append(row)
    return rows


def selectors(cells: Cells, methods: Sequence[str]) -> Rows:
    """Return one row for each selector: tasks, failures, seconds, and how it is called."""
    rows: Rows = []
    for method in methods:
        mine = [found for (_, name), found in cells.items() if name == method]
        tasks = sorted({len(found.scores) for found in mine})
        rows.append(
            {
                "selector": method,
                "tasks of a kind": "–".join(str(n) for n in dict.fromkeys((tasks[0], tasks[-1]))),
                "failed": sum(found.failed for found in mine),
                "seconds": f"{median(found.seconds for found in mine):.3f}",
                "slowest kind": f"{max(found.seconds for found in mine):.3f}",
                "called as": METHODS[method].what
                if method in METHODS
                else "told the kind of difference, not the columns",
            }
        )
    return rows


if __name__ == "__main__":
    main()
