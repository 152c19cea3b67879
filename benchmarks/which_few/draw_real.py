"""Print the accuracies on file as Markdown tables; it measures nothing.

    python benchmarks/which_few/draw_real.py [--methods NAME ...]

Mean balanced accuracy on held-out rows with its standard error, in percent; then each selector
less the best one, over the splits that both have.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from store import table
from which_few.methods import METHODS
from which_few.real import ALL, CLASSIFIERS, REAL, accuracies
from which_few.real_data import DATA
from which_few.summary import Cell, best, cell, lead

Where = tuple[str, int, str]
"""Data, number of variables, classifier."""
Cells = dict[tuple[Where, str], Cell]
Rows = list[dict[str, object]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    names = [*METHODS, ALL]
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--methods", nargs="+", choices=names, default=names)
    wanted = parser.parse_args(arguments).methods
    methods = [name for name in wanted if (REAL / f"{name}.csv").exists()]
    if not methods:
        sys.exit("nothing is on file: run benchmarks/which_few/real.py first")
    cells = read(methods)
    places = list(dict.fromkeys(where for where, _ in cells))
    parts = [
        "# Which few, real data: balanced accuracy (%) on rows held out",
        table(accuracy_rows(cells, places, methods)),
        "## Less the best selector, in points",
        table(lead_rows(cells, places, methods)),
    ]
    print("\n\n".join(parts))


def read(methods: Sequence[str]) -> Cells:
    """Return what is on file by place and selector, in percent."""
    found: Cells = {}
    stored = {method: accuracies(method).rows() for method in methods}
    for name, data in DATA.items():
        for d in data.sizes:
            for classifier in CLASSIFIERS:
                for method, rows in stored.items():
                    kept = [
                        {**row, "percent": str(100 * float(row[classifier]))}
                        for row in rows
                        if row["data"] == name and row["d"] == str(d)
                    ]
                    if kept:
                        found[(name, d, classifier), method] = cell(kept, "split", "percent")
    return found


def _head(where: Where) -> str:
    name, d, classifier = where
    return f"{name} {d} {classifier}"


def accuracy_rows(cells: Cells, places: Sequence[Where], methods: Sequence[str]) -> Rows:
    """Return one row for each selector: mean accuracy and its error in each place."""
    rows: Rows = []
    for method in methods:
        row: dict[str, object] = {"selector": method}
        mine = [found for (_, name), found in cells.items() if name == method]
        for where in places:
            found = cells.get((where, method))
            row[_head(where)] = _with_error(found) if found else "–"
        row["splits"] = max(len(found.scores) for found in mine)
        row["failed"] = sum(found.failed for found in mine) // len(CLASSIFIERS)
        row["seconds"] = f"{median(found.seconds for found in mine):.3f}"
        rows.append(row)
    return rows


def _with_error(found: Cell) -> str:
    mean = found.mean
    return f"{mean.value:.1f}" + (f" ± {mean.error:.1f}" if mean.error is not None else "")


def lead_rows(cells: Cells, places: Sequence[Where], methods: Sequence[str]) -> Rows:
    """Return one row for each selector: its paired difference from the best in each place."""
    selectors = [name for name in methods if name != ALL]
    strongest = {where: best(cells, where, selectors) for where in places}
    rows: Rows = []
    for method in methods:
        row: dict[str, object] = {"selector": method}
        for where in places:
            behind = None
            if (where, method) in cells:
                behind = lead(cells[where, method], cells[where, strongest[where]])
            if method == strongest[where]:
                row[_head(where)] = "best"
            else:
                row[_head(where)] = behind.signed if behind else "–"
        rows.append(row)
    return rows


if __name__ == "__main__":
    main()
