"""Rows on file to rates of rejection, and where one method is ahead of another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from scipy.stats import binomtest

from arena.kinds import KINDS
from arena.measure import VERDICTS, verdicts
from arena.methods import METHODS
from store import Row

LEAD = 0.10
"""A smaller lead of one method over another is not listed."""


@dataclass(frozen=True)
class Cell:
    """One method on one kind: which of the pairs it rejects, how often it fails, how long it takes.

    `rejected` maps the number of a pair to the verdict; a pair on which the method fails is not
    rejected.
    """

    kind: str
    method: str
    rejected: dict[int, bool]
    failed: int
    seconds: float

    @property
    def rate(self) -> float:
        """Share of the pairs that are rejected: power, or for a null the level."""
        return sum(self.rejected.values()) / len(self.rejected)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the rate."""
        found = binomtest(sum(self.rejected.values()), len(self.rejected))
        low, high = found.proportion_ci(method="wilson")
        return float(low), float(high)


@dataclass(frozen=True)
class Lead:
    """How far one method is ahead of another on the pairs that both judged."""

    kind: str
    method: str
    rate: float
    other: float
    pvalue: float


def on_file() -> list[str]:
    """Return the methods that have rows on file, in the order of the arena."""
    # A method may have rows and yet be unknown here: the scan before it exists, say.
    names = {path.stem for path in VERDICTS.glob("*.csv")}
    return [*(name for name in METHODS if name in names), *sorted(names - set(METHODS))]


def cells(methods: Iterable[str]) -> dict[tuple[str, str], Cell]:
    """Return what is on file by kind and method; kinds that are no longer drawn are left out."""
    found = {}
    for method in methods:
        by_kind: dict[str, list[Row]] = {}
        for row in verdicts(method).rows():
            by_kind.setdefault(row["kind"], []).append(row)
        for kind in KINDS:
            if kind in by_kind:
                found[kind, method] = _cell(kind, method, by_kind[kind])
    return found


def _cell(kind: str, method: str, rows: list[Row]) -> Cell:
    return Cell(
        kind,
        method,
        {int(row["pair"]): row["rejected"] == "1" for row in rows},
        sum(bool(row["error"]) for row in rows),
        median(float(row["seconds"]) for row in rows),
    )


def lead(ahead: Cell, behind: Cell) -> Lead | None:
    """Return a lead of more than LEAD that chance does not explain, or None.

    Both judge the same pairs, so only those that one of them rejects tell them apart: if neither
    is better, each of these is a fair coin (McNemar's exact test, two-sided at 5 %).
    """
    both = ahead.rejected.keys() & behind.rejected.keys()
    gained = sum(ahead.rejected[pair] > behind.rejected[pair] for pair in both)
    lost = sum(ahead.rejected[pair] < behind.rejected[pair] for pair in both)
    if not both or (gained - lost) / len(both) <= LEAD:
        return None
    pvalue = float(binomtest(gained, gained + lost).pvalue)
    if pvalue > 0.05:
        return None
    rate, other = (sum(cell.rejected[pair] for pair in both) for cell in (ahead, behind))
    return Lead(ahead.kind, ahead.method, rate / len(both), other / len(both), pvalue)
