"""Rows to benchmarks/results: a CSV to draw from and a Markdown table to read."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# Rows on file are those of the paper's experiments, which are not part of the package.
sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))

from reproduction.store import Row, Store
from reproduction.store import markdown_table as table

__all__ = ["RESULTS", "Row", "Store", "store", "table"]

RESULTS = Path(__file__).parent / "results"


def store(name: str, text: str, rows: Sequence[Mapping[str, object]], show: bool = True) -> None:
    """Write results/{name}.md and results/{name}.csv, and show the text if `show`."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text.rstrip() + "\n", encoding="utf-8")
    with (RESULTS / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    if show:
        print(text)
