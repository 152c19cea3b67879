"""The result of a check: a test result, its number in the sequence, and its alarm."""

from __future__ import annotations

import datetime
import math
import numbers
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np

from tellapart.effects.values import DISTANCE
from tellapart.errors import InputError
from tellapart.monitor.records import CheckRecord, ColumnScore, largest_scores, plain_findings
from tellapart.monitor.settings import USUAL
from tellapart.results.result import TestResult, write_arguments
from tellapart.results.story import ALL_FINDINGS, MOST_LINES, describe_findings
from tellapart.scan.finding import Finding
from tellapart.selection.selection import Selection
from tellapart.text import safe


def label_text(label: object) -> str:
    """Return a label as text: dates and times in ISO 8601, numbers as they are written.

    Examples
    --------
    >>> [label_text(label) for label in (datetime.date(2026, 11, 17), 3, "before")]
    ['2026-11-17', '3', 'before']
    """
    if isinstance(label, str) and label:
        return label
    if isinstance(label, np.generic):
        is_time = isinstance(label, np.datetime64) and not np.isnat(label)
        return str(label) if is_time else label_text(label.item())
    if isinstance(label, datetime.date | datetime.time) and label == label:  # not pandas' NaT
        return label.isoformat()
    is_number = isinstance(label, numbers.Real | Decimal) and not isinstance(label, bool)
    # Periods of pandas, which has no part in this package unless the user brings it.
    is_period = type(label).__name__ == "Period" and hasattr(label, "ordinal")
    if (is_number and label == label) or is_period:
        return str(label)
    raise InputError(f"label must be a text, a number or a date; got {label!r}")


@dataclass(frozen=True, eq=False, repr=False)
class CheckResult(TestResult):
    """The result of one check: a `TestResult` with its number in the sequence and its alarm.

    `reject` is about this batch alone, at level α. `alarm` is about the whole sequence: what the
    monitor promises of false alarms holds for all its checks together.

    Attributes
    ----------
    number : int
        1 for the first check against the reference.
    alarm_level : float
        The largest p-value that would have raised an alarm at this check: its share of α with a
        plan, else what is needed after the checks before it; 0 if none would have.
    capital, capital_needed : float or None
        Without a planned end: the e-value of the sequence after this check (a test martingale,
        `tellapart.monitor.betting`), and what an alarm needs. None with a plan.
    large_enough : bool
        Whether the interval of a finding excludes effects smaller than `smallest_effect`; True
        without one.
    promise : str
        What is promised of false alarms.
    tripped : tuple of Finding
        The findings that tripped the alarm: those that are large enough, or without a smallest
        effect the most significant one; about the batch.
    scores : tuple of ColumnScore
        How much every column differs, in SDs with a 95 % interval.
    beyond : tuple of str
        Columns whose score reaches its threshold.
    fingerprint : str
        A text that changes with the rows of the batch.
    """

    number: int = 1
    alarm_level: float = 0.0
    capital: float | None = None
    capital_needed: float | None = None
    large_enough: bool = True
    promise: str = ""
    tripped: tuple[Finding, ...] = ()
    scores: tuple[ColumnScore, ...] = ()
    beyond: tuple[str, ...] = ()
    fingerprint: str = ""
    usual: ClassVar[Mapping[str, object]] = USUAL

    @classmethod
    def of(cls, result: TestResult, **check: Any) -> CheckResult:
        """Return a test result as a check, with the values of the fields above."""
        tested = {f.name: getattr(result, f.name) for f in fields(TestResult) if f.init}
        return cls(**tested, **check)

    @property
    def alarm(self) -> bool:
        """Whether an alarm is raised: the evidence suffices and the effect is large enough."""
        return self.is_evident and self.large_enough

    @property
    def is_evident(self) -> bool:
        """Whether the evidence suffices for an alarm, however small the effect."""
        if self.capital is None or self.capital_needed is None:
            return self.pvalue <= self.alarm_level
        return self.capital >= self.capital_needed

    @property
    def record(self) -> CheckRecord:
        """The answer without the data."""
        return CheckRecord(
            number=self.number,
            label=self.labels[1],
            n_rows=self.n_train[1] + self.n_test[1],
            pvalue=self.pvalue,
            alarm_level=self.alarm_level,
            alarm=self.alarm,
            variables=self.variables,
            found=plain_findings(
                map(reversed_finding, self.findings), self.tripped if self.alarm else ()
            ),
            capital=self.capital,
            capital_needed=self.capital_needed,
            large_enough=self.large_enough,
            scores=largest_scores(self.scores),
            beyond=self.beyond,
            fingerprint=self.fingerprint,
        )

    def difference_words(self) -> tuple[str, str]:
        """Return the beginning of the verdict, which speaks of the batch."""
        before, batch = map(safe, self.labels)
        the = f"the {before}"
        return f"{batch} differs from {the}", f"No significant difference of {batch} from {the}"

    def story(
        self, max_findings: int | None = MOST_LINES, *, rest: str = ALL_FINDINGS
    ) -> list[str]:
        """Return lines that say what differs in the batch, compared with the reference."""
        if self.scan is None or not self.reject:
            return []
        scan = replace(self.scan, findings=tuple(map(reversed_finding, self.scan.findings)))
        return describe_findings(scan, self.alpha, max_findings, rest)

    def _summarised_selection(self) -> Selection:
        """Return the selection with what differs in the batch, compared with the reference."""
        changes = {
            name: reversed_finding(change) for name, change in self.selection.changes.items()
        }
        return replace(self.selection, changes=changes)

    def evidence(self) -> list[str]:
        """Return lines that say where the p-value comes from, and what the sequence allows."""
        return [
            *super().evidence(),
            f"Check {self.number} against this reference: {self._alarm_text()} "
            f"({self._evidence_text()}, so that {self.promise}).",
        ]

    def _alarm_text(self) -> str:
        if self.alarm:
            return "alarm"
        if self.large_enough or not self.is_evident:
            return "no alarm"
        return "no alarm: no confidence interval excludes effects below the smallest relevant one"

    def _evidence_text(self) -> str:
        if self.capital is None:
            return f"alarm level {self.alarm_level:.3g}"
        return f"e-value {self.capital:.3g}, an alarm needs {self.capital_needed:.3g}"

    def to_dict(self, *, columns_table: bool = True) -> dict[str, Any]:
        """Return everything but the data as plain Python values, ready for JSON."""
        plain = super().to_dict(columns_table=columns_table)
        return plain | {"check": self.record.to_dict()}

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        reproduce: str | None = None,
        **options: Any,
    ) -> str:
        """Return the report as one HTML page; all options are those of `TestResult.to_html`."""
        code = self._call() if reproduce is None else reproduce
        return super().to_html(path, reproduce=code, **options)

    def _call(self) -> str:
        """Return the code that gives this result."""
        given = write_arguments(self.settings, self.usual)
        return (
            "import tellapart as ta\n\n"
            f"monitor = ta.compare_to_reference(reference{given})\n"
            f"# batch: the rows of {' '.join(self.labels[1].split())}, check {self.number} "
            "against this reference\n"
            "result = monitor.check(batch)\n"
            'result.to_html("report.html")'
        )

    def __repr__(self) -> str:
        verdict = "alarm" if self.alarm else "no alarm"
        return f"<CheckResult {self.number}: p = {self.pvalue:.4g}, {verdict}>"


def reversed_finding(finding: Finding) -> Finding:
    """Return a finding with the second sample first: about the batch, not the reference.

    >>> wider = Finding("spread", ("age",), 0.01, 0.5, (0.4, 0.8), (1.0, 2.0), "SD", ("ref", "May"))
    >>> reversed_finding(wider).summary()
    'age: SD 2 in May, 1 in ref; SD ratio 2.00 (95 % CI 1.25 to 2.50), p = 0.01'
    """
    # A distance has no direction.
    distance = finding.measure == DISTANCE

    def reverse(effect: float) -> float:
        if distance:
            return effect
        if not finding.scale.ratio:
            return -effect
        return 1 / effect if effect else math.inf

    def swap(pair: tuple[float, float]) -> tuple[float, float]:
        return pair[1], pair[0]

    def swap_limits(pair: tuple[float, float]) -> tuple[float, float]:
        low, high = reverse(pair[0]), reverse(pair[1])
        return (low, high) if distance else (high, low)

    values = finding.values if distance else swap(finding.values)
    if finding.measure == "probability of superiority":
        values = 1 - finding.values[0], 1 - finding.values[1]
    return replace(
        finding,
        effect=reverse(finding.effect),
        interval=swap_limits(finding.interval),
        simultaneous=swap_limits(finding.simultaneous),
        values=values,
        labels=(finding.labels[1], finding.labels[0]),
        rows=(finding.rows[1], finding.rows[0]),
        statistics={name: swap(pair) for name, pair in finding.statistics.items()},
    )
