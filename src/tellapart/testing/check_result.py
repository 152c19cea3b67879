"""What a check answers: a test result, its place in the sequence, and whether to raise an alarm."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from tellapart.testing.call import write_arguments
from tellapart.testing.result import TestResult
from tellapart.testing.settings import TestSettings

USUAL_RATIO = 10.0


@dataclass(frozen=True)
class CheckRecord:
    """One line of a monitor's history: the answer without the data.

    Attributes
    ----------
    number : int
        1 for the first check against the reference.
    label : str
        What the batch was called.
    n_rows : int
        Rows of the batch.
    pvalue : float
        The check's own p-value.
    alarm_level : float
        The share of α that this check may use.
    alarm : bool
        Whether pvalue ≤ alarm_level.
    variables : tuple of str
        The chosen variables.
    findings : tuple of str
        What differs, one line each; none with a split.
    """

    number: int
    label: str
    n_rows: int
    pvalue: float
    alarm_level: float
    alarm: bool
    variables: tuple[str, ...]
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class CheckResult(TestResult):
    """The answer of one check: a `TestResult` that knows its place in the sequence.

    `reject` is about this batch alone, at level α. `alarm` is about the whole sequence: the
    chance of any false alarm in all checks against the reference is at most α.

    Attributes
    ----------
    number : int
        1 for the first check against the reference.
    alarm_level : float
        The share of α that this check may use.
    """

    number: int = 1
    alarm_level: float = 0.0
    usual: ClassVar[Mapping[str, object]] = TestSettings().to_dict() | {
        "reference_ratio": USUAL_RATIO,
        "missing": "error",
    }

    @classmethod
    def of(cls, result: TestResult, number: int, alarm_level: float) -> CheckResult:
        """Give a test result its place in the sequence."""
        given = {f.name: getattr(result, f.name) for f in fields(TestResult) if f.init}
        return cls(**given, number=number, alarm_level=alarm_level)

    @property
    def alarm(self) -> bool:
        """Whether this batch differs even for one of many: pvalue ≤ alarm_level."""
        return self.pvalue <= self.alarm_level

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
            findings=tuple(finding.summary() for finding in self.findings),
        )

    def evidence(self) -> list[str]:
        """Return lines that say where the p-value comes from, and what the sequence allows."""
        verdict = "alarm" if self.alarm else "no alarm"
        return [
            *super().evidence(),
            f"Check {self.number} against this reference: {verdict} (alarm level "
            f"{self.alarm_level:.3g}, so that any false alarm in the sequence has a chance of at "
            f"most {self.alpha:g}).",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the data as plain Python values, ready for JSON."""
        record = self.record
        lists = {"variables": list(record.variables), "findings": list(record.findings)}
        check = asdict(record) | lists
        return super().to_dict() | {"check": check}

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
