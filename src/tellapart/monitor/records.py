"""The history of a monitor: one record per check, and one per batch that could not be checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from tellapart.results.columns_table import ColumnsTable
from tellapart.scan.finding import Finding
from tellapart.text import safe

MOST_SCORES = 200
"""Columns whose score a record keeps: of more, those with the largest."""


@dataclass(frozen=True)
class ColumnScore:
    """How much a column of a batch differs from what the batch is compared with.

    Attributes
    ----------
    column, measure : str
        The column, and what is compared: "mean", "levels", or the proportion of one level.
    effect, low, high : float
        The standardised difference, in SDs, and its 95 % interval; of levels it has no sign.
    """

    column: str
    measure: str
    effect: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        sizes = {name: getattr(self, name) for name in ("effect", "low", "high")}
        finite = {name: size if math.isfinite(size) else None for name, size in sizes.items()}
        return {"column": self.column, "measure": self.measure} | finite

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ColumnScore:
        """Return the score that `to_dict` wrote."""
        sizes = (plain[name] for name in ("effect", "low", "high"))
        return cls(
            plain["column"], plain["measure"], *(math.nan if s is None else s for s in sizes)
        )


def largest_scores(scores: Sequence[ColumnScore]) -> tuple[ColumnScore, ...]:
    """Return the scores that a record keeps, in their order."""
    if len(scores) <= MOST_SCORES:
        return tuple(scores)
    sizes = np.nan_to_num([abs(score.effect) for score in scores])
    kept = np.sort(np.argsort(-sizes, kind="stable")[:MOST_SCORES])
    return tuple(scores[k] for k in kept)


def scores_of(table: ColumnsTable) -> list[ColumnScore]:
    """Return the scores of a batch, the second sample of a table of columns."""
    found = []
    for s, (name, kind) in enumerate(zip(table.names, table.types, strict=True)):
        effect, low, high = map(float, table.difference[:, s])
        if kind == "categorical":
            found.append(ColumnScore(name, "levels", effect, low, high))
        else:
            found.append(ColumnScore(name, "mean", 0.0 - effect, 0.0 - high, 0.0 - low))
    return found


@dataclass(frozen=True)
class FailedBatch:
    """A batch that could not be checked.

    Attributes
    ----------
    label : str
        The label of the batch.
    reason : {"schema", "input"}
        "schema" where its columns are not those of the reference.
    message : str
        What is wrong with it.
    after : int
        How many checks had been made.
    """

    label: str
    reason: str
    message: str
    after: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def summary(self) -> str:
        """Return the failure as one line."""
        return f"{safe(self.label)}: not checked: {safe(self.message)}"


def plain_findings(
    findings: Iterable[Finding], tripped: Iterable[Finding]
) -> tuple[dict[str, Any], ...]:
    """Return findings as objects, with their text and whether they tripped an alarm."""
    names = {(one.kind, one.variables) for one in tripped}
    return tuple(
        {
            **one.to_dict(),
            "text": one.summary(),
            "tripped": (one.kind, one.variables) in names,
        }
        for one in findings
    )


@dataclass(frozen=True)
class CheckRecord:
    """One line of a monitor's history: the answer without the data.

    Attributes
    ----------
    number : int
        1 for the first check against the reference.
    label : str
        The label of the batch; dates in ISO 8601.
    n_rows : int
        Rows of the batch.
    pvalue : float
        The check's own p-value.
    alarm_level : float
        The largest p-value that would have raised an alarm; see `CheckResult`.
    alarm : bool
        Whether an alarm was raised.
    variables : tuple of str
        The selected variables; of batches as units, those that findings are about.
    found : tuple of mappings
        What differs: each finding as an object with its `text`, and whether it `tripped` the alarm.
    capital, capital_needed : float or None
        The e-value of the sequence, and what an alarm needs; None with a planned end.
    large_enough : bool
        Whether the interval of a finding excludes effects below the smallest of interest.
    scores : tuple of ColumnScore
        The score of every column, or of the 200 with the largest.
    beyond : tuple of str
        Columns whose score reaches its threshold.
    fingerprint : str
        A text that changes with the rows of the batch.
    """

    number: int
    label: str
    n_rows: int
    pvalue: float
    alarm_level: float
    alarm: bool
    variables: tuple[str, ...]
    found: tuple[Mapping[str, Any], ...] = ()
    capital: float | None = None
    capital_needed: float | None = None
    large_enough: bool = True
    scores: tuple[ColumnScore, ...] = ()
    beyond: tuple[str, ...] = ()
    fingerprint: str = ""

    @property
    def findings(self) -> tuple[str, ...]:
        """What differs, one line each; none with a split."""
        return tuple(one["text"] for one in self.found)

    @property
    def tripped(self) -> tuple[str, ...]:
        """The findings that tripped the alarm, one line each."""
        return tuple(one["text"] for one in self.found if one["tripped"])

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain["findings"] = [dict(one) for one in plain.pop("found")]
        plain["scores"] = [score.to_dict() for score in self.scores]
        return plain | {name: list(plain[name]) for name in ("variables", "beyond")}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> CheckRecord:
        """Return the record that `to_dict` wrote."""
        given = {name: value for name, value in plain.items() if name != "findings"}
        return cls(
            **given
            | {
                "found": tuple(plain["findings"]),
                "scores": tuple(map(ColumnScore.from_dict, plain["scores"])),
                "variables": tuple(plain["variables"]),
                "beyond": tuple(plain["beyond"]),
            }
        )
