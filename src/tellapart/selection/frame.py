"""The selected variables as a table: weight, how each differs, and by how much."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tellapart.data.frames import make_frame
from tellapart.scan.finding import Finding

if TYPE_CHECKING:
    from tellapart.selection.selection import Selection


SIZES = (
    "effect", "low", "high", "first", "second", "pvalue", "simultaneous_low", "simultaneous_high",
)  # fmt: skip
COLUMNS = ("variable", "weight", "kind", "with", "measure", *SIZES, "named", "differs")


def variables_frame(selection: Selection) -> Any:
    """Return a table with one row per selected variable, the largest weight first."""
    return make_frame(variable_rows(selection))


def variable_rows(selection: Selection) -> dict[str, list[Any]]:
    """Return the columns of that table.

    Where it is not known what a variable differs in, numbers are NaN and words are empty.
    """
    description, rows = selection.description, []
    for name, weight in selection.weights.items():
        change = selection.changes.get(name)
        row = {"variable": name, "weight": weight, **_sized(name, change)}
        rows.append({**row, "named": change and change.named, "differs": description[name]})
    return {key: [row[key] for row in rows] for key in COLUMNS}


def _sized(name: str, change: Finding | None) -> dict[str, Any]:
    if change is None:
        return {"kind": "", "with": "", "measure": "", **dict.fromkeys(SIZES, math.nan)}
    (low, high), (first, second) = change.interval, change.values
    return {
        "kind": change.kind,
        "with": ", ".join(other for other in change.variables if other != name),
        "measure": change.measure,
        "effect": change.effect,
        "low": low,
        "high": high,
        "first": first,
        "second": second,
        "pvalue": change.pvalue,
        "simultaneous_low": change.simultaneous[0],
        "simultaneous_high": change.simultaneous[1],
    }
