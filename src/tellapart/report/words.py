"""Words and numbers of the report: selected variables, settings, the certificate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tellapart.selection.selection import EVIDENCE, ROUNDING, Selection
from tellapart.testing.marginals import ColumnSummary, Marginal, Moments, Shares
from tellapart.testing.result import TestResult

MOST_NAMES = 20

Lines = tuple[str, ...]


@dataclass(frozen=True)
class Variable:
    """One selected variable: its weight, and both samples in short.

    `description` is how it differs and by how much, where that is known; `x` and `y` are lines of
    text about the held-out rows of each sample.
    """

    name: str
    weight: str
    share: float
    description: str
    x: Lines
    y: Lines


def describe_variables(selection: Selection, summaries: Sequence[ColumnSummary]) -> list[Variable]:
    """Return the summarised variables, in their order, with their weights."""
    weights = selection.weights
    heaviest = max(map(abs, weights.values()), default=1.0)
    description = selection.description
    return [
        Variable(
            name=summary.name,
            weight=number(weights[summary.name], ".3f"),
            share=abs(weights[summary.name]) / heaviest,
            description=description[summary.name],
            x=describe_side(summary.x),
            y=describe_side(summary.y),
        )
        for summary in summaries
    ]


def describe_side(side: Moments | Shares) -> Lines:
    """Put the numbers of one column of one sample into words.

    Examples
    --------
    >>> describe_side(Moments(3.0, 2.0, 2.6457513))
    ('mean 3', 'median 2', 'SD 2.646')
    >>> describe_side(Shares((("drug", 0.25),), n_others=3, others=0.75))[1].startswith("3 other")
    True
    """
    if isinstance(side, Moments):
        mean, median, deviation = map(number, (side.mean, side.median, side.deviation))
        return f"mean {mean}", f"median {median}", f"SD {deviation}"
    lines = [f"{name} {percent(share)}" for name, share in side.named]
    if side.n_others:
        lines.append(f"{side.n_others} other categories {percent(side.others)}")
    return tuple(lines)


def rows_used(result: TestResult) -> str:
    """Return what to call the rows of the p-value: all of them, where none were held out."""
    return "held-out rows" if any(result.n_train) else "rows"


def describe_marginal(
    summary: ColumnSummary, marginal: Marginal, labels: tuple[str, str], rows: str
) -> str:
    """Return what the figure of one variable shows, for those who do not see it."""
    what = "Proportions" if marginal.bars else "Distributions"
    sides = [
        f"{label}: {', '.join(describe_side(side))}"
        for label, side in zip(labels, (summary.x, summary.y), strict=True)
    ]
    return f"{what} in the {rows}. {'; '.join(sides)}."


def describe_null(result: TestResult) -> str:
    """Return what the figure of the null distribution shows; there must be one."""
    null = result.null_distribution
    text = (
        f"Histogram of the statistic under {null.size:,} permutations, from "
        f"{number(float(null.min()))} to {number(float(null.max()))}. "
        f"The observed statistic is {number(result.statistic)}"
    )
    if not math.isfinite(result.threshold):
        return f"{text}; there is no critical value."
    side = "above" if result.statistic > result.threshold else "not above"
    return f"{text}, {side} the critical value {number(result.threshold)}."


def describe_choices(result: TestResult) -> tuple[str, str]:
    """Return how the number of variables and λ were chosen."""
    asked, tuning = result.settings, result.tuning
    if tuning is None:
        return f"{result.selection.support.size}", "not used"
    if result.scan is not None:
        return _choices_after_scan(result, tuning.n_variables)
    few = "the default: too few rows for tuning"
    if tuning.stopped:
        few = "the default: the time limit ended tuning"
    rows = "the training rows"
    if tuning.drawn_rows is not None:
        rows = f"{sum(tuning.drawn_rows):,} training rows, drawn at random"
    number_why, regularization_why = "set by the user", "set by the user"
    if tuning.numbers:
        number_why = f"selected on {rows}: the smallest number as good as the best"
    elif asked.get("n_variables", 0) is None:
        number_why = few
    if tuning.regularizations:
        tried = _tried(score.regularization for score in tuning.regularizations)
        regularization_why = f"cross-validated on {rows}, from {tried}"
        if asked.get("regularization") != "cv":
            regularization_why = "set by the user"
    elif asked.get("regularization") == "cv":
        regularization_why = few
    return (
        f"at most {tuning.n_variables}, {number_why}",
        f"{result.regularization:g}, {regularization_why}",
    )


def _choices_after_scan(result: TestResult, n_variables: int) -> tuple[str, str]:
    number_why = regularization_why = "set by the user"
    weighed = result.selection.objective == EVIDENCE
    if result.settings.get("n_variables", 0) is None:
        number_why = "suggested by the findings of the scan"
        if weighed:
            number_why = "nearly all of the criterion that ten variables reach"
    if weighed:
        return f"at most {n_variables}, {number_why}", "none: joint criterion"
    if result.settings.get("regularization") == "cv":
        regularization_why = "the default of a scan"
        if result.regularization == 0:
            regularization_why = "since the optimum can then be proved"
    return (
        f"at most {n_variables}, {number_why}",
        f"{result.regularization:g}, {regularization_why}",
    )


def describe_validity(result: TestResult) -> str:
    """Return why the p-value holds, as the end of a sentence."""
    if result.method is not None:
        return result.method.validity
    if result.scan is not None:
        return (
            "the observed labelling is part of the reference set: all families are computed for "
            "it and for every permutation in the same way"
        )
    return "the variables were selected on other rows"


def describe_bandwidth(result: TestResult) -> str:
    """Return how the bandwidth was chosen; empty where there was nothing to choose."""
    tuning = result.tuning
    tried = {score.multiplier for score in tuning.regularizations} if tuning is not None else set()
    if tuning is None or (len(tried) < 2 and tuning.multiplier == 1):
        return ""
    how = "set by the user"
    if len(tried) > 1:
        how = f"cross-validated on the training rows, from {_tried(tried)}"
    return f"the median rule times {tuning.multiplier:g}, {how}"


def _tried(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in sorted(set(values)))


def describe_proof(selection: Selection) -> list[tuple[str, str]]:
    """Return the numbers of the certificate with their names."""
    bound = "none" if selection.upper_bound is None else number(selection.upper_bound)
    gap = "none" if selection.gap is None else number(selection.gap)
    if selection.gap is not None and selection.gap <= ROUNDING:
        gap = "0"
    return [
        ("Status", selection.status.replace("_", " ")),
        ("Objective", number(selection.value)),
        ("Upper bound", bound),
        ("Relative gap", gap),
        ("Solver", f"{selection.solver}, {selection.seconds:.2f} s"),
    ]


def number(value: float, form: str = "") -> str:
    """Write a number with four digits, or as `form` says, and a true minus sign.

    Examples
    --------
    >>> number(0.123456), number(-1234567.8), number(2.5e-7), number(-0.5, ".3f")
    ('0.1235', '−1,234,568', '2.5 × 10⁻⁷', '−0.500')
    """
    if math.isinf(value):
        return "unbounded"
    if not form:
        form = ",.0f" if 1e4 <= abs(value) < 1e9 else ".4g"
    mantissa, exponent, power = format(value, form).replace("-", "−").partition("e")
    if not exponent:
        return mantissa
    raised = str(int(power.replace("−", "-"))).translate(
        str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    )
    return f"{mantissa} × 10{raised}"


def percent(share: float) -> str:
    r"""Write a share in per cent, with a space that never breaks.

    Examples
    --------
    >>> percent(0.5), percent(0.0012), percent(0.0)
    ('50\xa0%', '0.12\xa0%', '0\xa0%')
    """
    digits = ".0f" if share >= 0.1 else ".2g"
    return f"{100 * share:{digits}}\N{NO-BREAK SPACE}%"


def listed(names: Sequence[str]) -> str:
    """Return names with commas between them, only the first few of many.

    Examples
    --------
    >>> listed([]), listed(["a", "b"])
    ('none', 'a, b')
    """
    if not names:
        return "none"
    rest = len(names) - MOST_NAMES
    more = f" and {rest:,} more" if rest > 0 else ""
    return ", ".join(names[:MOST_NAMES]) + more
