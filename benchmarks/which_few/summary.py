"""Rows on file to means with their errors, and one selector's lead over another."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import fmean, median, stdev

from store import Row
from which_few.measure import ORACLE
from which_few.methods import METHODS


@dataclass(frozen=True)
class Mean:
    """A mean with its standard error, None for a single value."""

    value: float
    error: float | None
    count: int

    def __str__(self) -> str:
        return f"{self.value:.2f}"

    @property
    def signed(self) -> str:
        """The mean with its sign and its error, as a difference is shown."""
        error = "–" if self.error is None else f"{self.error:.3f}"
        return f"{self.value:+.3f} ± {error}"


def mean(values: Iterable[float]) -> Mean:
    """Return the mean of some values, at least one."""
    found = list(values)
    error = stdev(found) / sqrt(len(found)) if len(found) > 1 else None
    return Mean(fmean(found), error, len(found))


@dataclass(frozen=True)
class Cell:
    """One selector on one kind: its score by trial, how often it fails, how long it takes.

    `seconds` are the median of the processor's, of those on the wall where no other is on file.
    """

    scores: Mapping[str, float]
    failed: int
    seconds: float

    @property
    def mean(self) -> Mean:
        """The mean score."""
        return mean(self.scores.values())


def cell(rows: Iterable[Row], trial: str, score: str) -> Cell:
    """Return the cell of some rows; two names say which columns hold the trial and the score."""
    kept = list(rows)
    return Cell(
        {row[trial]: float(row[score]) for row in kept},
        sum(bool(row["error"]) for row in kept),
        median([float(row["cpu"]) for row in kept if row["cpu"]] or _wall(kept)),
    )


def _wall(rows: Iterable[Row]) -> list[float]:
    return [float(row["seconds"]) for row in rows]


def lead(ahead: Cell, behind: Cell) -> Mean | None:
    """Return the mean difference over the trials that both have, or None without any."""
    both = [trial for trial in ahead.scores if trial in behind.scores]
    if not both:
        return None
    return mean(ahead.scores[trial] - behind.scores[trial] for trial in both)


def on_file(folder: Path) -> list[str]:
    """Return the selectors that have rows in a folder: ours, then the peers, then the oracle."""
    names = {path.stem for path in folder.glob("*.csv")}
    return [name for name in (*ours(METHODS), *peers(METHODS), ORACLE) if name in names]


def peers(methods: Iterable[str]) -> list[str]:
    """Return the selectors that compete with ours."""
    return [name for name in methods if name != ORACLE and not METHODS[name].own]


def ours(methods: Iterable[str]) -> list[str]:
    """Return the selectors of tellapart."""
    return [name for name in methods if name != ORACLE and METHODS[name].own]


def best(cells: Mapping[tuple[Hashable, str], Cell], where: Hashable, of: Iterable[str]) -> str:
    """Return the selector with the largest mean score in one place, the first of several."""
    at_hand = [name for name in of if (where, name) in cells]
    return max(at_hand, key=lambda name: cells[where, name].mean.value)
