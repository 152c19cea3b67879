"""One thing that differs: which columns, the kind of difference, how large, how significant."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import NormalDist
from typing import Any

from tellapart.data.sources.table import make_frame
from tellapart.effects.regions import Region
from tellapart.scan.finding_kinds import CLIFF, FINDING_KINDS, POINTS, Scale, scale_of_measure
from tellapart.text import joined, safe


@dataclass(frozen=True)
class Finding:
    """A difference that the scan names, or what a selected variable differs in.

    Attributes
    ----------
    kind : str
        "location", "share" (of a value or category), "spread", "shape", "missing" (the proportion
        of missing values), "new values", "distribution" (of a column, where no simpler kind is
        significant), "correlation", "dependence" (of two columns, beyond their correlation),
        "triple" (of three) or "joint" (the distribution of one column, or of several together,
        differs locally).
    variables : tuple of str
        The columns it is about.
    pvalue : float
        Adjusted for the error rate: with "fwer" the probability of any false finding is at most α
        where those with p ≤ α are believed; with "fdr" the q-value. NaN for a selected variable
        without a p-value.
    effect : float
        Its size and direction, first sample against second: the standardised mean difference
        (Hedges' g), the ratio of the standard deviations, Cliff's delta, or the difference of
        `values`.
    interval : pair of float
        The 95 % confidence interval of the effect, of this finding alone.
    values : pair of float
        What the effect compares, in the first sample and in the second: means, standard
        deviations, proportions, correlations of the values as they are.
    measure : str
        What is compared: "mean", "SD", "L-skewness", "prevalence", "proportion of 'a'", …
    labels : pair of str
        What the samples are called.
    named : bool or None
        Whether the scan names it at its level. False for what a selected variable differs in that
        is not individually significant, None where no scan was made.
    simultaneous : pair of float
        An interval that holds for all effects of its class (of columns, pairs or triples) at once,
        and so after any selection among them (Bonferroni); NaN where it is not known.
    rows : pair of int
        How many values of each sample it was computed from.
    statistics : mapping from str to pair of float
        Further numbers of a numeric column in both samples: "mean", "SD", "median".
    detail : str
        What else there is to know, such as the values that occur in one sample only.
    floor : float
        The smallest p-value that the permutations can give.
    rate : {"fwer", "fdr", "fdx"}
        The error rate that `pvalue` is adjusted for; pairs and triples always have "fwer".
    regions : tuple of Region
        Of a joint distribution, the boxes in which one sample has more rows than the other, most
        significant first: `ranges` of the columns, `values` and `interval`.
    smallest_effect : float
        The size that the effect exceeds beyond error, where the test was asked for it: `pvalue` is
        then that of an effect of at most this size. NaN otherwise.
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
    simultaneous: tuple[float, float] = (math.nan, math.nan)
    rows: tuple[int, int] = (0, 0)
    statistics: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    detail: str = ""
    floor: float = 0.0
    rate: str = "fwer"
    regions: tuple[Region, ...] = ()
    smallest_effect: float = math.nan

    @property
    def scale(self) -> Scale:
        """The scale of the effect."""
        return FINDING_KINDS[self.kind].scale or scale_of_measure(self.measure)

    def summary(self) -> str:
        """Return the finding as one sentence.

        >>> Finding("spread", ("age",), 0.01, 1.5, (1.2, 1.9), (1.2, 0.8), "SD").summary()
        'age: SD 1.2 in X, 0.8 in Y; SD ratio 1.50 (95 % CI 1.20 to 1.90), p = 0.01'
        """
        p = "" if math.isnan(self.pvalue) else f", {self.pvalue_text()}"
        return f"{joined(self.variables)}: {self.description()}{p}{self._hypothesis()}"

    def _hypothesis(self) -> str:
        """Return what the p-value is of, where that is not the absence of any difference."""
        size, scale = self.smallest_effect, self.scale
        if math.isnan(size):
            return ""
        most = scale.number(size, sign=False)
        if scale.ratio:
            return f" (H₀: {scale.effect} within {scale.number(1 / size)} to {most})"
        unit = f" {scale.unit}" if scale.unit else ""
        return f" (H₀: |{scale.effect}| ≤ {most}{unit})"

    def pvalue_text(self) -> str:
        """Return "p = 0.012", "p ≤ 0.001" where permutations give no smaller one, or "q = 0.012".

        >>> values = {"effect": 0.5, "interval": (0.4, 0.6), "values": (1, 0), "measure": "mean"}
        >>> Finding("location", ("a",), 0.012, **values, rate="fdr").pvalue_text()
        'q = 0.012'
        """
        if math.isnan(self.pvalue):
            return ""
        text = p_text(self.pvalue, self.floor)
        return f"q{text[1:]}" if self.rate == "fdr" else text

    def pvalue_cell(self) -> str:
        """Return the p-value for a table: "0.012", "≤ 0.001", "q = 0.012" or "–"."""
        text = pvalue_cell(self.pvalue, self.floor)
        return self.pvalue_text() if self.rate == "fdr" and text != "–" else text

    def description(self) -> str:
        """Return what differs, by how much and with its interval; no column and no p-value."""
        detail = f" ({safe(self.detail)})" if self.detail else ""
        size = self.size()
        return self.change() + detail + (f"; {size}" if size else "")

    def description_for(self, name: str) -> str:
        """Return the same for one of its columns, and whether it is individually significant.

        >>> values = {"effect": 0.63, "interval": (0.5, 0.7), "values": (0.61, -0.02)}
        >>> finding = Finding("correlation", ("a", "b"), 0.3, **values, measure="correlation")
        >>> finding.description_for("a")
        'with b: correlation 0.61 in X, −0.02 in Y; difference +0.63 (95 % CI +0.50 to +0.70)'
        """
        others = tuple(other for other in self.variables if other != name)
        text = f"with {joined(others)}: " if others else ""
        text += self.description()
        if self.named is not False:
            return text
        p = "" if math.isnan(self.pvalue) else f" ({self.pvalue_text()})"
        return f"{text}; not individually significant{p}"

    def size(self) -> str:
        """Return the effect with its interval: "SMD 0.21 (95 % CI 0.15 to 0.27)"."""
        scale = self.scale
        if not math.isfinite(self.effect) or (scale.ratio and self.effect == 0):
            return ""
        unit = f" {scale.unit}" if scale.unit else ""
        effect = scale.number(self.effect, self.decimals)
        interval = self.interval_text()
        return f"{scale.effect} {effect}{unit}" + (f" ({interval})" if interval else "")

    def interval_text(self) -> str:
        """Return the interval: "95 % CI 0.15 to 0.27"; empty where there is none."""
        return self._limits_text("95 % CI", self.interval)

    def simultaneous_text(self) -> str:
        """Return the interval that holds for all effects at once; empty where there is none."""
        return self._limits_text("simultaneous", self.simultaneous)

    def _limits_text(self, name: str, limits: tuple[float, float]) -> str:
        if any(map(math.isnan, limits)):
            return ""
        low, high = (self.scale.number(value, self.decimals) for value in limits)
        return f"{name} {low} to {high}"

    def change(self) -> str:
        """Return what is compared in both samples: "mean 61.2 in A, 58.0 in B"."""
        return FINDING_KINDS[self.kind].words.change(self)

    @property
    def decimals(self) -> int:
        """Digits behind the point that show a difference: two, and up to four for small ones."""
        size = abs(self.effect)
        if not math.isfinite(size):
            return 2
        if self.scale.ratio:
            return 2 if size >= 0.1 else 3
        return 2 if size >= 0.02 else 3 if size >= 0.002 else 4

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        plain = asdict(self)
        del plain["floor"]
        plain["regions"] = [region.to_dict() for region in self.regions]
        if math.isnan(self.smallest_effect):
            del plain["smallest_effect"]
        for name in ("variables", "labels", "rows"):
            plain[name] = list(plain[name])
        for name in ("interval", "values", "simultaneous"):
            plain[name] = list(map(_finite, plain[name]))
        plain["statistics"] = {
            name: list(map(_finite, pair)) for name, pair in self.statistics.items()
        }
        for name in ("pvalue", "effect"):
            plain[name] = _finite(plain[name])
        return plain


def findings_frame(findings: Sequence[Finding]) -> Any:
    """Return a table with one row per finding."""
    return make_frame(finding_rows(findings))


def finding_rows(findings: Sequence[Finding]) -> dict[str, list[Any]]:
    """Return the columns of that table."""
    cells: dict[str, Callable[[Finding], Any]] = {
        "kind": lambda finding: finding.kind,
        "variables": lambda finding: ", ".join(finding.variables),
        "measure": lambda finding: finding.measure,
        "effect": lambda finding: finding.effect,
        "low": lambda finding: finding.interval[0],
        "high": lambda finding: finding.interval[1],
        "first": lambda finding: finding.values[0],
        "second": lambda finding: finding.values[1],
        "pvalue": lambda finding: finding.pvalue,
        "rate": lambda finding: finding.rate,
        "simultaneous_low": lambda finding: finding.simultaneous[0],
        "simultaneous_high": lambda finding: finding.simultaneous[1],
        "detail": lambda finding: finding.detail,
    }
    return {name: [cell(finding) for finding in findings] for name, cell in cells.items()}


def p_text(pvalue: float, floor: float = 0.0) -> str:
    """Return a p-value as text; "p ≤ …" where no smaller one can occur.

    >>> p_text(0.0123), p_text(0.001, 0.001)
    ('p = 0.0123', 'p ≤ 0.001')
    """
    relation = "≤" if pvalue <= floor * (1 + 1e-9) else "="
    return f"p {relation} {pvalue:.3g}"


def pvalue_cell(pvalue: float, floor: float = 0.0) -> str:
    """Return a p-value for a column that is headed so: "0.012", "≤ 0.001" at the floor.

    >>> pvalue_cell(0.0123), pvalue_cell(0.001, 0.001), pvalue_cell(math.nan)
    ('0.0123', '≤ 0.001', '–')
    """
    return "–" if math.isnan(pvalue) else without_p(p_text(pvalue, floor))


def without_p(text: str) -> str:
    """Return "p = 0.012" as "0.012" and "p ≤ 0.001" as "≤ 0.001"."""
    return text.removeprefix("p ").removeprefix("= ")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def sort_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings with the most significant first, and the larger effect among equal ones.

    Permutations give many findings the same smallest p-value; see `magnitude` for how effects of
    different kinds are compared.

    >>> weak, strong = ((0.995, 0.998), (0.82, 0.41))
    >>> given = {"pvalue": 0.001, "interval": (0.0, 1.0), "measure": "correlation"}
    >>> findings = [
    ...     Finding("correlation", names, effect=first - second, values=(first, second), **given)
    ...     for names, (first, second) in ((("a", "b"), weak), (("c", "d"), strong))
    ... ]
    >>> [finding.variables for finding in sort_findings(findings)]
    [('c', 'd'), ('a', 'b')]
    """

    def order(finding: Finding) -> tuple[bool, float, float]:
        p = finding.pvalue
        unknown = math.isnan(p)
        return unknown, 0.0 if unknown else float(f"{p:.9g}"), -magnitude(finding)

    return tuple(sorted(findings, key=order))


def magnitude(finding: Finding) -> float:
    """Return the size of an effect, without its sign, on a scale common to all kinds.

    The scale is that of the standardised mean difference: for a ratio its logarithm, for
    proportions Cohen's h, 2·|arcsin √p₁ − arcsin √p₂|, which is near the difference in standard
    deviations of a 0/1 variable; for Cliff's delta the standardised mean difference of normal
    samples with the same delta. Other differences, as of correlations, are taken as they are. −1
    where the effect is not known.
    """
    effect, scale = finding.effect, finding.scale
    if math.isnan(effect):
        return -1.0
    if scale.ratio:
        return abs(math.log(effect)) if effect > 0 else math.inf
    if scale is POINTS and all(0 <= value <= 1 for value in finding.values):
        first, second = (math.asin(math.sqrt(value)) for value in finding.values)
        return 2 * abs(first - second)
    if scale is CLIFF:
        half = min(abs(effect), 1 - 1e-12) / 2
        return math.sqrt(2) * NormalDist().inv_cdf(0.5 + half)
    return abs(effect)
