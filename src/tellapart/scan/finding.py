"""One thing that differs: which columns, what kind of difference, how large, and how significant.

`FINDING_KINDS` is the one table of the kinds: summaries, pages, tables and figures read it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import NormalDist
from typing import Any

from tellapart.data.sources.table import make_frame
from tellapart.text import number_pair, safe

LOCATION, SHARE, SPREAD, SHAPE = "location", "share", "spread", "shape"
MISSING, NEW_VALUES, DISTRIBUTION = "missing", "new values", "distribution"
CORRELATION, DEPENDENCE, TRIPLE = "correlation", "dependence", "triple"


FAR_FROM_MEDIAN = 0.25
"""Standard deviations between mean and median from which on medians are given, too."""


@dataclass(frozen=True)
class Scale:
    """What effects that can be drawn on one axis have in common.

    Attributes
    ----------
    title : str
        What the effects are, for headings and axes.
    effect : str
        What one of them is called in a sentence.
    ratio : bool
        Whether it is a ratio, 1 where nothing differs; else a difference, 0 where nothing does.
    factor : float
        100 where differences of proportions are given in percentage points.
    unit : str
        What follows the number.
    """

    title: str
    effect: str
    ratio: bool = False
    factor: float = 1.0
    unit: str = ""

    @property
    def neutral(self) -> float:
        """The effect where nothing differs."""
        return 1.0 if self.ratio else 0.0

    def number(self, effect: float, decimals: int = 2, *, sign: bool = True) -> str:
        """Return an effect as text, without its unit."""
        value = self.factor * effect
        if math.isinf(value):
            return "∞" if value > 0 else "−∞"
        digits = decimals if self.factor == 1 else _points_decimals(value)
        text = f"{value:.{digits}f}"
        if float(text) == 0:
            text = text.removeprefix("-")
        plus = "+" if sign and not self.ratio and float(text) > 0 else ""
        return plus + text.replace("-", "−")


SMD = Scale("Standardised mean differences", "SMD")
SD_RATIO = Scale("Ratios of standard deviations", "SD ratio", ratio=True)
POINTS = Scale("Differences of proportions", "difference", factor=100.0, unit="percentage points")
DIFFERENCE = Scale("Differences", "difference")
CLIFF = Scale("Cliff's delta", "Cliff's delta")
DISTANCE = "total variation distance"
TOTAL_VARIATION = Scale("Total variation distances", "distance")


@dataclass(frozen=True)
class FindingKind:
    """A kind of finding in words.

    `one` and `many` complete a sentence on how many there are; `title` heads a table of them.
    """

    name: str
    title: str
    one: str
    many: str
    scale: Scale


FINDING_KINDS: dict[str, FindingKind] = {
    kind.name: kind
    for kind in (
        FindingKind(LOCATION, "Mean", "one mean differs", "{} means differ", SMD),
        FindingKind(
            SHARE,
            "Proportion",
            "the proportions of one column differ",
            "the proportions of {} columns differ",
            POINTS,
        ),
        FindingKind(
            SPREAD,
            "Standard deviation",
            "one standard deviation differs",
            "{} standard deviations differ",
            SD_RATIO,
        ),
        FindingKind(
            SHAPE,
            "Shape",
            "the shape of one column differs",
            "the shapes of {} columns differ",
            DIFFERENCE,
        ),
        FindingKind(
            NEW_VALUES,
            "New values",
            "one column has values that occur in one sample only",
            "{} columns have values that occur in one sample only",
            POINTS,
        ),
        FindingKind(
            MISSING,
            "Missing values",
            "the proportion of missing values differs in one column",
            "the proportion of missing values differs in {} columns",
            POINTS,
        ),
        FindingKind(
            DISTRIBUTION,
            "Distribution",
            "the distribution of one column differs",
            "the distributions of {} columns differ",
            DIFFERENCE,
        ),
        FindingKind(
            CORRELATION, "Correlation", "one correlation differs", "{} correlations differ",
            Scale("Differences of correlations", "difference"),
        ),
        FindingKind(
            DEPENDENCE,
            "Non-linear dependence",
            "the non-linear dependence of one pair differs",
            "the non-linear dependence of {} pairs differs",
            Scale("Differences of dependence", "difference"),
        ),
        FindingKind(
            TRIPLE,
            "Three-way interaction",
            "one three-way interaction differs",
            "{} three-way interactions differ",
            Scale("Differences of three-way interactions", "difference"),
        ),
    )
}  # fmt: skip
KINDS = tuple(FINDING_KINDS)


@dataclass(frozen=True)
class Finding:
    """A difference that the scan names, or what a selected variable differs in.

    Attributes
    ----------
    kind : str
        "location", "share" (of a value or category), "spread", "shape", "missing" (the proportion
        of missing values), "new values", "distribution" (of a column, where no simpler kind is
        significant), "correlation", "dependence" (of two columns, beyond their correlation) or
        "triple" (of three).
    variables : tuple of str
        The columns it is about: one, two or three.
    pvalue : float
        Adjusted: the probability of any false finding is at most α where those with p ≤ α are
        believed. NaN for a selected variable without a p-value.
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

    @property
    def scale(self) -> Scale:
        """The scale of the effect."""
        if self.measure.startswith(("proportion", "prevalence")):
            return POINTS
        if self.measure == "probability of superiority":
            return CLIFF
        if self.measure == DISTANCE:
            return TOTAL_VARIATION
        if self.kind in (SHAPE, DISTRIBUTION):
            return Scale(f"Differences of {self.measure}", "difference")
        return FINDING_KINDS[self.kind].scale

    def summary(self) -> str:
        """Return the finding as one sentence.

        >>> Finding("spread", ("age",), 0.01, 1.5, (1.2, 1.9), (1.2, 0.8), "SD").summary()
        'age: SD 1.2 in X, 0.8 in Y; SD ratio 1.50 (95 % CI 1.20 to 1.90), p = 0.01'
        """
        p = "" if math.isnan(self.pvalue) else f", {self.pvalue_text()}"
        return f"{_joined(self.variables)}: {self.description()}{p}"

    def pvalue_text(self) -> str:
        """Return "p = 0.012", or "p ≤ 0.001" where permutations give no smaller one."""
        if math.isnan(self.pvalue):
            return ""
        return p_text(self.pvalue, self.floor)

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
        text = f"with {_joined(others)}: " if others else ""
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
        if any(map(math.isnan, self.interval)):
            return ""
        low, high = (self.scale.number(value, self.decimals) for value in self.interval)
        return f"95 % CI {low} to {high}"

    def change(self) -> str:
        """Return what is compared in both samples: "mean 61.2 in A, 58.0 in B"."""
        x, y = map(safe, self.labels)
        first, second = self.values
        measure = safe(self.measure)
        if self.measure == DISTANCE:
            return f"{measure} {first:.2f}"
        if self.measure == "probability of superiority":
            return f"values of {x} exceed those of {y} with probability {first:.2f}"
        if self.scale is POINTS:
            texts = tuple(percent_text(value) for value in self.values)
            if self.kind == NEW_VALUES:
                occurs = [
                    (f"in {text} of {label}", value) if value > 0 else (f"never in {label}", value)
                    for text, value, label in zip(texts, self.values, (x, y), strict=True)
                ]
                (more, _), (less, _) = sorted(occurs, key=lambda one: -one[1])
                return f"{measure} {more}, {less}"
            if self.kind == MISSING:
                return f"missing in {texts[0]} of {x}, {texts[1]} of {y}"
            value = measure.removeprefix("proportion of ")
            if value != measure and "'" not in value and self.kind in (SHAPE, SHARE):
                return f"{texts[0]} of values equal {value} in {x}, {texts[1]} in {y}"
        elif self.kind in (LOCATION, SPREAD):
            texts = number_pair(first, second)
        else:
            texts = tuple(self.scale.number(v, self.decimals, sign=False) for v in self.values)
        if self.kind in (SPREAD, LOCATION) and not all(map(math.isfinite, self.values)):
            return f"{measure} not defined"
        if self.kind == SPREAD:
            texts = tuple(
                "constant" if value == 0 else text
                for value, text in zip(self.values, texts, strict=True)
            )
        return f"{measure} {texts[0]} in {x}, {texts[1]} in {y}{self._medians()}"

    def _medians(self) -> str:
        """Return the medians where outliers or skewness take a mean far away from one."""
        if self.kind != LOCATION or "median" not in self.statistics:
            return ""
        means, deviations, medians = (self.statistics[key] for key in ("mean", "SD", "median"))
        far = (
            abs(mean - median) > FAR_FROM_MEDIAN * deviation
            for mean, deviation, median in zip(means, deviations, medians, strict=True)
        )
        if not any(far):
            return ""
        first, second = number_pair(*medians)
        return f" (medians {first} and {second})"

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
    return {
        "kind": [finding.kind for finding in findings],
        "variables": [", ".join(finding.variables) for finding in findings],
        "measure": [finding.measure for finding in findings],
        "effect": [finding.effect for finding in findings],
        "low": [finding.interval[0] for finding in findings],
        "high": [finding.interval[1] for finding in findings],
        "first": [finding.values[0] for finding in findings],
        "second": [finding.values[1] for finding in findings],
        "pvalue": [finding.pvalue for finding in findings],
        "simultaneous_low": [finding.simultaneous[0] for finding in findings],
        "simultaneous_high": [finding.simultaneous[1] for finding in findings],
        "detail": [finding.detail for finding in findings],
    }


def p_text(pvalue: float, floor: float = 0.0) -> str:
    """Return a p-value as text; "p ≤ …" where no smaller one can occur.

    >>> p_text(0.0123), p_text(0.001, 0.001)
    ('p = 0.0123', 'p ≤ 0.001')
    """
    relation = "≤" if pvalue <= floor * (1 + 1e-9) else "="
    return f"p {relation} {pvalue:.3g}"


def percent_text(share: float) -> str:
    """Return a proportion in per cent, with as many digits as it needs.

    >>> percent_text(0.5), percent_text(0.0398), percent_text(0.00052), percent_text(0.0)
    ('50 %', '4.0 %', '0.052 %', '0 %')
    """
    value = 100 * share
    if value in (0.0, 100.0):
        return f"{value:.0f} %"
    near = min(value, 100 - value)
    digits = 0 if near >= 10 else 1 if near >= 0.1 else 3
    return f"{value:.{digits}f} %"


def _points_decimals(value: float) -> int:
    return 0 if abs(value) >= 10 else 1 if abs(value) >= 0.1 or value == 0 else 3


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _joined(names: Sequence[str]) -> str:
    """Return names with commas between them, and "and" before the last."""
    *first, last = map(safe, names)
    return f"{', '.join(first)} and {last}" if first else last


def sort_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings with the most significant first, and the larger effect among equal ones.

    Permutations give many findings the same smallest p-value; see `magnitude` for how effects of
    different kinds are compared.

    >>> weak, strong = ((0.995, 0.998), (0.82, 0.41))
    >>> given = {"pvalue": 0.001, "interval": (0.0, 1.0), "measure": "correlation"}
    >>> found = [
    ...     Finding("correlation", names, effect=first - second, values=(first, second), **given)
    ...     for names, (first, second) in ((("a", "b"), weak), (("c", "d"), strong))
    ... ]
    >>> [finding.variables for finding in sort_findings(found)]
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
