"""What the report says: numbers as people write them, and variables in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.report.plots import Marginal, compute_marginal
from tellapart.selection.selection import ROUNDING, Selection
from tellapart.selection.tuning import Tuning
from tellapart.testing.result import TestResult

MOST_CATEGORIES = 6
MOST_NAMES = 20

Lines = tuple[str, ...]


@dataclass(frozen=True)
class Variable:
    """One chosen variable: its weight, what the weight means, and both samples in short.

    `x` and `y` are lines of text about the held-out rows of each sample.
    """

    name: str
    weight: str
    share: float
    role: str
    x: Lines
    y: Lines
    marginal: Marginal


def describe_variables(result: TestResult, most: int) -> list[Variable]:
    """Return the chosen variables, the heaviest first; of more than `most`, only so many."""
    selection, held_out = result.selection, result.held_out
    place = {name: s for s, name in enumerate(selection.names)}
    heaviest = max(map(abs, selection.weights.values()), default=1.0)
    variables = []
    for name, weight in islice(selection.weights.items(), most):
        x, y = describe_column(held_out, place[name])
        variables.append(
            Variable(
                name=name,
                weight=number(weight, ".3f"),
                share=abs(weight) / heaviest,
                role=role_of(weight, heaviest, priced=selection.regularization > 0),
                x=x,
                y=y,
                marginal=compute_marginal(held_out, place[name]),
            )
        )
    return variables


def role_of(weight: float, heaviest: float, *, priced: bool = True) -> str:
    """Say how much a weight counts; weights have no direction, so neither do the words.

    `priced` says whether variance has a price, λ > 0: else a negative weight is chance.

    Examples
    --------
    >>> role_of(0.8, 0.8), role_of(0.1, 0.8), role_of(-0.2, 0.8)
    ('counts most', 'counts little', 'steadies the others')
    """
    if weight < 0:
        return "steadies the others" if priced else "chance"
    if weight >= heaviest:
        return "counts most"
    if weight >= 0.5 * heaviest:
        return "counts much"
    return "counts some" if weight >= 0.2 * heaviest else "counts little"


def describe_column(samples: Samples, column: int) -> tuple[Lines, Lines]:
    """Return, per sample, mean, median and standard deviation, or the share of each category.

    Categories come in the same order for both samples: the commonest of all rows first.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([[1.0, 0], [2.0, 1], [6.0, 1]]), np.array([[3.0, 1], [5.0, 1]])
    >>> kinds, labels = ("numeric", "categorical"), {"arm": ("drug", "placebo")}
    >>> samples = Samples(x, y, ("age", "arm"), kinds, labels)
    >>> describe_column(samples, 0)
    (('mean 3', 'median 2', 'SD 2.646'), ('mean 4', 'median 4', 'SD 1.414'))
    """
    x, y = samples.x[:, column], samples.y[:, column]
    if samples.kinds[column] == "numeric":
        return _moments(x), _moments(y)
    codes, counts = np.unique(np.concatenate([x, y]), return_counts=True)
    codes = codes[np.argsort(-counts, kind="stable")]
    names = [samples.categories[samples.names[column]][int(code)] for code in codes]
    return _shares(x, codes, names), _shares(y, codes, names)


def _moments(values: FloatArray) -> Lines:
    return (
        f"mean {number(float(values.mean()))}",
        f"median {number(float(np.median(values)))}",
        f"SD {number(float(values.std(ddof=1)))}",
    )


def _shares(values: FloatArray, codes: FloatArray, names: Sequence[str]) -> Lines:
    shares = [float(np.mean(values == code)) for code in codes]
    lines = [f"{name} {percent(share)}" for name, share in zip(names, shares, strict=True)]
    if len(lines) > MOST_CATEGORIES:
        rest = slice(MOST_CATEGORIES - 1, None)
        lines[rest] = [f"{len(lines[rest])} other categories {percent(sum(shares[rest]))}"]
    return tuple(lines)


def rows_used(result: TestResult) -> str:
    """Return what to call the rows of the p-value: all of them, where none were held out."""
    return "held-out rows" if any(result.n_train) else "rows"


def describe_marginal(variable: Variable, labels: tuple[str, str], rows: str) -> str:
    """Return what the figure of one variable shows, for those who do not see it."""
    what = "Shares" if variable.marginal.bars else "Distributions"
    sides = [
        f"{label}: {', '.join(lines)}"
        for label, lines in zip(labels, (variable.x, variable.y), strict=True)
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
    if result.reselected:
        return _describe_reselection(tuning)
    few = "the default, as there were too few rows to tune on"
    size, price = "as asked for", "as asked for"
    if tuning.numbers:
        size = "chosen on the training rows: the smallest number as good as the best"
    elif asked.get("n_variables", 0) is None:
        size = few
    if tuning.regularizations:
        tried = _tried(score.regularization for score in tuning.regularizations)
        price = f"chosen by cross-validation on the training rows, from {tried}"
        if asked.get("regularization") != "cv":
            price = "as asked for"
    elif asked.get("regularization") == "cv":
        price = few
    return f"at most {tuning.n_variables}, {size}", f"{result.regularization:g}, {price}"


def _describe_reselection(tuning: Tuning) -> tuple[str, str]:
    size = "as asked for"
    if tuning.numbers:
        tried = _tried(score.n_variables for score in tuning.numbers)
        size = f"the smallest nearly as good as the best of {tried}, which the p-value allows for"
    return f"at most {tuning.n_variables}, {size}", "0, as always without a split"


def describe_validity(result: TestResult) -> str:
    """Return why the p-value holds, as the end of a sentence."""
    if result.method is not None:
        return result.method.validity
    if result.reselected:
        return "the variables were chosen anew under every permutation"
    return "the variables were chosen on other rows"


def describe_bandwidth(result: TestResult) -> str:
    """Return how the bandwidth was chosen; empty where there was nothing to choose."""
    tuning = result.tuning
    tried = {score.multiplier for score in tuning.regularizations} if tuning is not None else set()
    if tuning is None or (len(tried) < 2 and tuning.multiplier == 1):
        return ""
    how = "as asked for"
    if len(tried) > 1:
        how = f"chosen by cross-validation on the training rows, from {_tried(tried)}"
    return f"the median rule times {tuning.multiplier:g}, {how}"


def _tried(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in sorted(set(values)))


def describe_proof(selection: Selection) -> list[tuple[str, str]]:
    """Return the numbers of the certificate with their names."""
    bound = "none proved" if selection.upper_bound is None else number(selection.upper_bound)
    gap = "none" if selection.gap is None else number(selection.gap)
    if selection.gap is not None and selection.gap <= ROUNDING:
        gap = "0, up to rounding"
    return [
        ("Status", selection.status.replace("_", " ")),
        ("Objective", number(selection.value)),
        ("Proved upper bound", bound),
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
