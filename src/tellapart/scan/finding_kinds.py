"""The kinds of finding: how the effect of each is computed, drawn, printed and put into words.

`FINDING_KINDS` is the one table of them: the scan, summaries, tables, pages, figures, the methods
paragraph and the limits of a monitor read it. A kind of your own is one more entry:

    def difference_of_medians(column: Column) -> Estimate | None: ...

    register_finding_kind(
        FindingKind(
            "median",
            Words("Median", "one median differs", "{} medians differ"),
            Scale("Differences of medians", "difference", in_units=True),
            difference_of_medians,
        )
    )
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tellapart.effects.columns import LEVELS, NUMERIC, Column, location, proportions, shape, spread
from tellapart.effects.estimate import Estimate
from tellapart.effects.groups import correlation, dependence, three_way_interaction
from tellapart.effects.regions import joint_regions
from tellapart.effects.values import DISTANCE, any_difference, level_share, new_levels
from tellapart.errors import InputError
from tellapart.text import number_pair, number_word, safe

if TYPE_CHECKING:
    from tellapart.scan.finding import Finding

LOCATION, SHARE, SPREAD, SHAPE = "location", "share", "spread", "shape"
MISSING, NEW_VALUES, DISTRIBUTION = "missing", "new values", "distribution"
CORRELATION, DEPENDENCE, TRIPLE, JOINT = "correlation", "dependence", "triple", "joint"

ANY_COLUMN, MISSINGNESS, PAIRS, TRIPLES = "any column", "missingness", "pairs", "triples"
SETS = "sets"
"""What a kind is about, beside columns of numbers (`NUMERIC`) and of levels (`LEVELS`)."""
ALONE, OTHERWISE, LAST = 0, 1, 2
"""When a kind is reported: on its own; where none such is significant; where no other is."""
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
    in_units : bool
        Whether the values compared are in the units of the data, as means are: they are printed
        with as many digits as show the difference.
    """

    title: str
    effect: str
    ratio: bool = False
    factor: float = 1.0
    unit: str = ""
    in_units: bool = False

    @property
    def neutral(self) -> float:
        """The effect where nothing differs."""
        return 1.0 if self.ratio else 0.0

    def number(self, effect: float, decimals: int = 2, *, sign: bool = True) -> str:
        """Return an effect as text, without its unit."""
        value = self.factor * effect
        if math.isinf(value):
            return "∞" if value > 0 else "−∞"
        digits = decimals
        if self.factor != 1:
            digits = 0 if abs(value) >= 10 else 1 if abs(value) >= 0.1 or value == 0 else 3
        text = f"{value:.{digits}f}"
        if float(text) == 0:
            text = text.removeprefix("-")
        plus = "+" if sign and not self.ratio and float(text) > 0 else ""
        return plus + text.replace("-", "−")

    def value_texts(self, values: tuple[float, float], decimals: int) -> tuple[str, str]:
        """Return the values that an effect compares as text."""
        if self.in_units:
            return number_pair(*values)
        if self.factor != 1:
            return percent_text(values[0]), percent_text(values[1])
        first, second = (self.number(value, decimals, sign=False) for value in values)
        return first, second


SMD = Scale("Standardised mean differences", "SMD", in_units=True)
SD_RATIO = Scale("Ratios of standard deviations", "SD ratio", ratio=True, in_units=True)
POINTS = Scale("Differences of proportions", "difference", factor=100.0, unit="percentage points")
CLIFF = Scale("Cliff's delta", "Cliff's delta")
TOTAL_VARIATION = Scale("Total variation distances", "distance")


def scale_of_measure(measure: str) -> Scale:
    """Return the scale of differences of a measure."""
    if measure.startswith(("proportion", "prevalence")):
        return POINTS
    if measure == "probability of superiority":
        return CLIFF
    return (
        TOTAL_VARIATION if measure == DISTANCE else Scale(f"Differences of {measure}", "difference")
    )


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


# What a finding compares, in words: "mean 61.2 in A, 58.0 in B".


def compare_values(finding: Finding) -> str:
    """Return the measure with its values in both samples."""
    first, second = finding.scale.value_texts(finding.values, finding.decimals)
    x, y = map(safe, finding.labels)
    return f"{safe(finding.measure)} {first} in {x}, {second} in {y}"


def _compare_means(finding: Finding) -> str:
    """Return the means; the medians, too, where outliers or skewness take a mean far from one."""
    if not all(map(math.isfinite, finding.values)):
        return f"{safe(finding.measure)} not defined"
    text = compare_values(finding)
    if "median" not in finding.statistics:
        return text
    means, deviations, medians = (finding.statistics[key] for key in ("mean", "SD", "median"))
    far = (
        abs(mean - median) > FAR_FROM_MEDIAN * deviation
        for mean, deviation, median in zip(means, deviations, medians, strict=True)
    )
    first, second = number_pair(*medians)
    return f"{text} (medians {first} and {second})" if any(far) else text


def _compare_deviations(finding: Finding) -> str:
    if not all(map(math.isfinite, finding.values)):
        return f"{safe(finding.measure)} not defined"
    texts = finding.scale.value_texts(finding.values, finding.decimals)
    first, second = (
        "constant" if value == 0 else text
        for value, text in zip(finding.values, texts, strict=True)
    )
    x, y = map(safe, finding.labels)
    return f"{safe(finding.measure)} {first} in {x}, {second} in {y}"


def _compare_shares(finding: Finding) -> str:
    """Return the proportions of a number as "6.0 % of values equal 333.3"."""
    measure = safe(finding.measure)
    value = measure.removeprefix("proportion of ")
    if finding.scale is not POINTS or value == measure or "'" in value:
        return compare_values(finding)
    first, second = map(percent_text, finding.values)
    x, y = map(safe, finding.labels)
    return f"{first} of values equal {value} in {x}, {second} in {y}"


def _compare_occurrence(finding: Finding) -> str:
    """Return the sample in which values occur more often first."""
    sides = sorted(zip(finding.values, finding.labels, strict=True), key=lambda side: -side[0])
    more, less = (
        f"in {percent_text(value)} of {safe(label)}" if value > 0 else f"never in {safe(label)}"
        for value, label in sides
    )
    return f"{safe(finding.measure)} {more}, {less}"


def _compare_missing(finding: Finding) -> str:
    (first, second), (x, y) = map(percent_text, finding.values), map(safe, finding.labels)
    return f"missing in {first} of {x}, {second} of {y}"


def _compare_distributions(finding: Finding) -> str:
    if finding.scale is TOTAL_VARIATION:
        return f"{safe(finding.measure)} {finding.values[0]:.2f}"
    if finding.scale is CLIFF:
        x, y = map(safe, finding.labels)
        return f"values of {x} exceed those of {y} with probability {finding.values[0]:.2f}"
    return compare_values(finding)


def _compare_regions(finding: Finding) -> str:
    """Return the proportions of rows in a region: "12 % of A and 5.0 % of B have a from 2 to 3"."""
    (first, second), (x, y) = map(percent_text, finding.values), map(safe, finding.labels)
    return f"{first} of {x}, {second} of {y} have {safe(finding.measure)}"


@dataclass(frozen=True)
class Words:
    """What a kind of finding is called.

    Attributes
    ----------
    title : str
        Heads a table of them.
    one, many : str
        How many there are as a sentence, {} standing for the number.
    change : callable
        From a finding to what is compared in both samples.
    """

    title: str
    one: str
    many: str
    change: Callable[[Finding], str] = compare_values

    def count(self, number: int) -> str:
        """Return the sentence on so many findings: "three means differ"."""
        return self.one if number == 1 else self.many.format(number_word(number))


@dataclass(frozen=True)
class FindingKind:
    """A kind of finding.

    Attributes
    ----------
    name : str
        As in `Finding.kind`.
    words : Words
        What it is called in sentences and headings.
    scale : Scale or None
        On which its effects are drawn and printed; None for that of the measure.
    effect : callable
        From a `tellapart.effects.columns.Column` of raw values, or a `Group` of two or three, to an
        `Estimate`; None where the kind makes no sense.
    of : str
        What it is about: "numeric" columns, those of "levels" (categories, or two values), "any
        column", the "missingness" of one, "pairs" or "triples" of numeric columns, "sets" of any.
    order : int
        When it is reported of a column: 0 on its own, 1 where no such kind is significant, 2 where
        no other is.
    adjusted : bool
        Whether its p-values are adjusted by Holm's method over all columns.
    """

    name: str
    words: Words
    scale: Scale | None
    effect: Callable[[Any], Estimate | None]
    of: str = NUMERIC
    order: int = ALONE
    adjusted: bool = True


def _missing_share(column: Column) -> Estimate:
    """Return the difference of the proportions of missing values, 1 in the column."""
    return proportions(column.x.values, column.y.values, column.sampling, "missing")


# fmt: off
_MEAN = Words("Mean", "one mean differs", "{} means differ", _compare_means)
_SHARE = Words("Proportion", "the proportions of one column differ",
               "the proportions of {} columns differ", _compare_shares)
_SPREAD = Words("Standard deviation", "one standard deviation differs",
                "{} standard deviations differ", _compare_deviations)
_SHAPE = Words("Shape", "the shape of one column differs",
               "the shapes of {} columns differ", _compare_shares)
_NEW_VALUES = Words("New values", "one column has values that occur in one sample only",
                    "{} columns have values that occur in one sample only", _compare_occurrence)
_MISSING = Words("Missing values", "the proportion of missing values differs in one column",
                 "the proportion of missing values differs in {} columns", _compare_missing)
_DISTRIBUTION = Words("Distribution", "the distribution of one column differs",
                      "the distributions of {} columns differ", _compare_distributions)
_CORRELATION = Words("Correlation", "one correlation differs", "{} correlations differ")
_DEPENDENCE = Words("Non-linear dependence", "the non-linear dependence of one pair differs",
                    "the non-linear dependence of {} pairs differs")
_TRIPLE = Words("Three-way interaction", "one three-way interaction differs",
                "{} three-way interactions differ")
_JOINT = Words("Joint distribution", "one joint distribution differs locally",
               "{} joint distributions differ locally", _compare_regions)
_CORRELATIONS = Scale("Differences of correlations", "difference")
_DEPENDENCES = Scale("Differences of dependence", "difference")
_INTERACTIONS = Scale("Differences of three-way interactions", "difference")

FINDING_KINDS: dict[str, FindingKind] = {
    kind.name: kind
    for kind in (
        FindingKind(LOCATION, _MEAN, SMD, location),
        FindingKind(SHARE, _SHARE, POINTS, level_share, LEVELS, adjusted=False),
        FindingKind(SPREAD, _SPREAD, SD_RATIO, spread),
        FindingKind(SHAPE, _SHAPE, None, shape, order=OTHERWISE),
        FindingKind(NEW_VALUES, _NEW_VALUES, POINTS, new_levels, LEVELS),
        FindingKind(MISSING, _MISSING, POINTS, _missing_share, MISSINGNESS),
        FindingKind(DISTRIBUTION, _DISTRIBUTION, None, any_difference, ANY_COLUMN, order=LAST),
        FindingKind(CORRELATION, _CORRELATION, _CORRELATIONS, correlation, PAIRS),
        FindingKind(DEPENDENCE, _DEPENDENCE, _DEPENDENCES, dependence, PAIRS),
        FindingKind(TRIPLE, _TRIPLE, _INTERACTIONS, three_way_interaction, TRIPLES),
        FindingKind(JOINT, _JOINT, POINTS, joint_regions, SETS),
    )
}
# fmt: on


def register_finding_kind(kind: FindingKind) -> FindingKind:
    """Add a kind of finding to the table, and return it; its name must be new."""
    if kind.name in FINDING_KINDS:
        raise InputError(f"name must be that of a new kind of finding; got {kind.name!r}")
    FINDING_KINDS[kind.name] = kind
    return kind


def kinds_of(*subjects: str) -> list[FindingKind]:
    """Return the kinds that are about these, in the order of the table."""
    return [kind for kind in FINDING_KINDS.values() if kind.of in subjects]
