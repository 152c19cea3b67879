"""One thing that differs: which columns, what kind of change, how large, and how sure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tellapart.data.frames import make_frame
from tellapart.text import safe

LOCATION, SHARE, SPREAD, SHAPE = "location", "share", "spread", "shape"
CORRELATION, DEPENDENCE, TRIPLE = "correlation", "dependence", "triple"
MISSING = "missing"
KINDS = (LOCATION, SHARE, SPREAD, SHAPE, MISSING, CORRELATION, DEPENDENCE, TRIPLE)


@dataclass(frozen=True)
class Finding:
    """A difference that the scan names, or what a chosen variable differs in.

    Attributes
    ----------
    kind : str
        "location", "share" (of a category), "spread", "shape", "missing" (the share of missing
        values), "correlation", "dependence" (of two columns, beyond their correlation) or
        "triple" (of three).
    variables : tuple of str
        The columns it is about: one, two or three.
    pvalue : float
        Adjusted: the chance of any false finding is at most α where those with p ≤ α are believed.
        NaN for the size of a chosen variable that no such p-value is known of.
    effect : float
        Its size and direction, first sample against second: the difference of the means in
        spreads, of the shares, of the measures of shape, of the correlations or mean products;
        the ratio of the spreads.
    interval : pair of float
        A 95 % bootstrap interval of the effect, of this finding alone.
    values : pair of float
        What `effect` compares, in the first sample and in the second.
    measure : str
        What is compared: "mean", "spread", "skewness", "kurtosis", "share of 'a'", …
    labels : pair of str
        What the samples are called.
    named : bool or None
        Whether the scan names it at its level. False for what a chosen variable differs in that is
        not sure by itself, None where no scan was made.
    """

    kind: str
    variables: tuple[str, ...]
    pvalue: float
    effect: float
    interval: tuple[float, float]
    values: tuple[float, float]
    measure: str
    labels: tuple[str, str] = ("X", "Y")
    named: bool | None = True

    def summary(self) -> str:
        """Say it in one sentence.

        >>> Finding("spread", ("age",), 0.01, 1.5, (1.2, 1.9), (1.2, 0.8), "spread").summary()
        'age: spread 1.50 times as large in X as in Y (1.20 to 1.90), p = 0.01'
        """
        p = "" if math.isnan(self.pvalue) else f", p = {self.pvalue:.3g}"
        return f"{_joined(self.variables)}: {self.change()} ({self.range()}){p}"

    def told_of(self, name: str) -> str:
        """Say what one of its columns differs in, with the interval, and whether that is sure.

        >>> values = {"effect": 0.63, "interval": (0.5, 0.7), "values": (0.61, -0.02)}
        >>> found = Finding("correlation", ("a", "b"), 0.3, **values, measure="correlation")
        >>> found.told_of("a")
        'correlated with b: 0.61 in X, -0.02 in Y (difference 0.50 to 0.70)'
        >>> unsure = Finding("spread", ("a",), 0.3, 1.5, (0.9, 1.9), (1.2, 0.8), "", named=False)
        >>> unsure.told_of("a")
        'spread 1.50 times as large in X as in Y (0.90 to 1.90), not sure by itself (p = 0.3)'
        """
        others = tuple(other for other in self.variables if other != name)
        told = f"{self._change_with(others)} ({self.range()})"
        if self.named is not False:
            return told
        p = "" if math.isnan(self.pvalue) else f" (p = {self.pvalue:.3g})"
        return f"{told}, not sure by itself{p}"

    def _change_with(self, others: tuple[str, ...]) -> str:
        """Say the change of one column that depends on others, if on any."""
        if not others:
            return self.change()
        change = self.change()
        if self.measure == CORRELATION:
            return f"correlated with {_joined(others)}: {change.removeprefix(CORRELATION).lstrip()}"
        return f"with {_joined(others)}: {change}"

    def range(self) -> str:
        """Say the interval in the words of `change`: how much lower, how many times as large."""
        low, high = self.interval
        if self.kind == LOCATION and self.effect < 0:
            low, high = -high, -low
        if self.kind in (LOCATION, SPREAD):
            return f"{low:.2f} to {high:.2f}"
        if self.kind in (SHARE, MISSING):
            return f"difference {_percent(low, sign=True)} to {_percent(high, sign=True)}"
        return f"difference {low:.{self.decimals}f} to {high:.{self.decimals}f}"

    def change(self) -> str:
        """Say what changed and how much, without names of columns and p-value."""
        x, y = map(safe, self.labels)
        if self.kind == LOCATION:
            way = "higher" if self.effect > 0 else "lower"
            return f"{way} in {x} by {abs(self.effect):.2f} spreads"
        if self.kind == SPREAD:
            return f"spread {self.effect:.2f} times as large in {x} as in {y}"
        first, second = self.values
        # Names of columns and categories are part of it.
        measure = safe(self.measure)
        if self.kind in (SHARE, MISSING) or self.measure.startswith("share"):
            return f"{measure} {_percent(first)} in {x}, {_percent(second)} in {y}"
        digits = self.decimals
        return f"{measure} {first:.{digits}f} in {x}, {second:.{digits}f} in {y}"

    @property
    def decimals(self) -> int:
        """Digits behind the point that show a difference: two, and up to four for small ones."""
        size = abs(self.effect)
        return 2 if size >= 0.02 else 3 if size >= 0.002 else 4

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        plain = asdict(self)
        for name in ("variables", "interval", "values", "labels"):
            plain[name] = list(plain[name])
        plain["pvalue"] = None if math.isnan(self.pvalue) else self.pvalue
        return plain


def findings_frame(findings: Sequence[Finding]) -> Any:
    """Return a table with one row per finding."""
    return make_frame(finding_rows(findings))


def finding_rows(findings: Sequence[Finding]) -> dict[str, list[Any]]:
    """Return the columns of that table."""
    low_high = [finding.interval for finding in findings]
    return {
        "kind": [finding.kind for finding in findings],
        "variables": [", ".join(finding.variables) for finding in findings],
        "measure": [finding.measure for finding in findings],
        "effect": [finding.effect for finding in findings],
        "low": [low for low, _ in low_high],
        "high": [high for _, high in low_high],
        "first": [finding.values[0] for finding in findings],
        "second": [finding.values[1] for finding in findings],
        "pvalue": [finding.pvalue for finding in findings],
    }


def _joined(names: Sequence[str]) -> str:
    """Return names with commas between them, and "and" before the last."""
    *first, last = map(safe, names)
    return f"{', '.join(first)} and {last}" if first else last


def _percent(share: float, *, sign: bool = False) -> str:
    return f"{100 * share:{'+' if sign else ''}.0f} %"
