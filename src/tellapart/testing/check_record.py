"""One line of a monitor's history, and the history as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from tellapart.data.frames import make_frame


@dataclass(frozen=True)
class CheckRecord:
    """One line of a monitor's history: the answer without the data.

    Attributes
    ----------
    number : int
        1 for the first check against the reference.
    label : str
        What the batch was called; dates in ISO's form.
    n_rows : int
        Rows of the batch.
    pvalue : float
        The check's own p-value.
    alarm_level : float
        The largest p-value that would have raised an alarm; see `CheckResult`.
    alarm : bool
        Whether an alarm was raised.
    variables : tuple of str
        The selected variables.
    findings : tuple of str
        What differs, one line each; none with a split.
    capital, capital_needed : float or None
        The e-value of the sequence, and what an alarm needs; None with a planned end.
    large_enough : bool
        Whether the interval of a finding excludes effects below the smallest of interest.
    fingerprint : str
        A text that changes with the rows of the batch: the same rows twice are no news.
    """

    number: int
    label: str
    n_rows: int
    pvalue: float
    alarm_level: float
    alarm: bool
    variables: tuple[str, ...]
    findings: tuple[str, ...] = ()
    capital: float | None = None
    capital_needed: float | None = None
    large_enough: bool = True
    fingerprint: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        lists = {"variables": list(self.variables), "findings": list(self.findings)}
        return asdict(self) | lists

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> CheckRecord:
        """Return the record that `to_dict` was made of."""
        given = {field.name: plain[field.name] for field in fields(cls)}
        tuples = {name: tuple(given[name]) for name in ("variables", "findings")}
        return cls(**(given | tuples))


def history_frame(history: Sequence[CheckRecord]) -> Any:
    """Return a table with one row per check, the oldest first."""
    columns = {
        field.name: [getattr(record, field.name) for record in history]
        for field in fields(CheckRecord)
    }
    texts = {
        "variables": [", ".join(record.variables) for record in history],
        "findings": ["; ".join(record.findings) for record in history],
    }
    return make_frame(columns | texts)
