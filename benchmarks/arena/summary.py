"""Rows on file to rates of rejection, and where one method is ahead of another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from scipy.stats import binomtest

from arena.kinds import KINDS
from arena.measure import VERDICTS, verdicts
from arena.methods import METHODS
from store import Row

LEAD = 0.10
"""A smaller lead of one method over another is not listed."""
CLOSE = 0.03
"""A method that is no further behind the best counts among the winners."""
SEEN = 0.20
"""Nobody wins a kind on which no method has this power."""


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


@dataclass(frozen=True)
class Beside:
    """Mean power of one method over some kinds, beside the best of others.

    `method` is the other with the highest mean, `best` its mean; `each` is the mean of whichever
    is the best on each kind.
    """

    own: float
    method: str
    best: float
    each: float


def mean_power(
    found: Mapping[tuple[str, str], Cell], method: str, kinds: Sequence[str]
) -> float | None:
    """Return the mean power over the kinds; None unless the method was run on all of them."""
    if not kinds or any((kind, method) not in found for kind in kinds):
        return None
    return fmean(found[kind, method].rate for kind in kinds)


def beside(
    found: Mapping[tuple[str, str], Cell], method: str, others: Sequence[str], kinds: Sequence[str]
) -> Beside | None:
    """Return the mean power of a method beside others that were run on all of the kinds."""
    means = {name: mean_power(found, name, kinds) for name in others}
    known = {name: mean for name, mean in means.items() if mean is not None}
    own = mean_power(found, method, kinds)
    if own is None or not known:
        return None
    best = max(known, key=lambda name: known[name])
    each = fmean(max(found[kind, name].rate for name in known) for kind in kinds)
    return Beside(own, best, known[best], each)


def wins(
    found: Mapping[tuple[str, str], Cell], methods: Sequence[str], kinds: Sequence[str]
) -> dict[str, int]:
    """Return on how many of the kinds each method is the best or less than CLOSE behind it."""
    counts = dict.fromkeys(methods, 0)
    for kind in kinds:
        rates = {name: found[kind, name].rate for name in methods if (kind, name) in found}
        best = max(rates.values(), default=0.0)
        for name, rate in rates.items():
            counts[name] += best >= SEEN and rate >= best - CLOSE - 1e-9
    return counts
