"""The methods paragraph of a paper, with the numbers of a result filled in."""

from __future__ import annotations

from collections.abc import Iterator

from tellapart import __version__
from tellapart.selection.selection import EVIDENCE
from tellapart.testing.result import TestResult
from tellapart.text import safe

PAPER = "Wang, Dey and Xie, “Variable Selection for Kernel Two-Sample Tests”"
SIZES = (
    "standardised mean differences (Hedges' g), ratios of standard deviations, and differences of "
    "proportions, correlations and other measures of the values as they are, with 95 % confidence "
    "intervals."
)
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def write_methods(result: TestResult) -> str:
    """Return what was done, in the past tense, as one paragraph of plain text."""
    if result.method is not None:
        parts = [*_samples(result), *_baseline(result)]
    elif result.scan is not None:
        parts = [*_samples(result), *_scan(result), *_choice_after_scan(result)]
    else:
        parts = [*_samples(result), *_split(result)]
    return " ".join([*parts, *_data(result), _software(result)])


def _samples(result: TestResult) -> Iterator[str]:
    (x, y), total = map(safe, result.labels), [0, 0]
    for place in (0, 1):
        total[place] = result.n_test[place] + result.n_train[place]
    n_columns = len(result.selection.names)
    yield (
        f"We compared {x} (n = {total[0]:,}) and {y} (n = {total[1]:,}) in "
        f"{_counted(n_columns, 'variable')}."
    )
    if result.drawn_from is not None:
        of_x, of_y = result.drawn_from
        yield f"These rows were drawn at random from {of_x:,} and {of_y:,}."
    design = result.held_out.design
    if design is not None:
        yield f"Labels were permuted as the design of the study allows: {safe(design.describe())}."


def _scan(result: TestResult) -> Iterator[str]:
    scan = result.scan
    assert scan is not None
    families = list(scan.families)
    yield (
        "Whether both samples come from one distribution was tested by a permutation scan of all "
        f"rows: {_word(len(families))} families of statistics ({_listed(families)}) were computed "
        f"for the true labels and for {_permutations(result)} of them, and their p-values combined "
        "by the weighted sum of their reciprocals. As the true labels are treated like every "
        f"permutation, the combined p-value is valid in finite samples (p = "
        f"{result.pvalue:.3g}; level {result.alpha:g})."
    )
    yield from (f"The family {name} could not run ({why})." for name, why in scan.skipped.items())
    yield (
        "Columns, pairs and triples of columns that differ were named with p-values adjusted for "
        "all that was looked at, by step-down maxima over the same permutations (Westfall and "
        f"Young), at a familywise level of {result.alpha:g}; "
        f"{_counted(len(result.findings), 'difference')} "
        f"{'was' if len(result.findings) == 1 else 'were'} named. Sizes are {SIZES}"
    )


def _choice_after_scan(result: TestResult) -> Iterator[str]:
    selection = result.selection
    how = "by their joint evidence"
    if selection.objective != EVIDENCE:
        how = (
            f"by the {selection.kernel} kernel, maximising MMD² − λσ² with λ = "
            f"{selection.regularization:g}"
        )
    yield (
        f"Of {_counted(len(selection.names), 'variable')}, {selection.support.size} "
        f"{'was' if selection.support.size == 1 else 'were'} chosen on all rows {how} "
        f"({_listed(list(selection.weights))}); the p-value does not depend on this choice. "
        f"{_certificate(result)}"
    )


def _split(result: TestResult) -> Iterator[str]:
    selection, tuning = result.selection, result.tuning
    (train_x, train_y), (test_x, test_y) = result.n_train, result.n_test
    yield (
        f"Each sample was split at random: {train_x:,} and {train_y:,} rows chose variables, the "
        f"other {test_x:,} and {test_y:,} tested. On the training rows, weights z "
        f"{'≥ 0 ' if selection.nonnegative else ''}maximised MMD²(z) − λσ²(z) of the "
        f"{selection.kernel} kernel over at most "
        f"{_counted(selection.n_variables or selection.support.size, 'variable')}, with λ = "
        f"{selection.regularization:g}"
        f"{_tuned(tuning is not None and bool(tuning.regularizations))}."
    )
    if tuning is not None and tuning.numbers:
        yield "The number of variables was chosen on the training rows as well."
    yield (
        f"{selection.support.size} of {len(selection.names)} variables "
        f"{'was' if selection.support.size == 1 else 'were'} chosen "
        f"({_listed(list(selection.weights))}). {_certificate(result)}"
    )
    yield (
        "With kernel, bandwidths and weights frozen, MMD² of the held-out rows was compared with "
        f"its values under {_permutations(result)} of the labels, which is valid in finite samples "
        f"(p = {result.pvalue:.3g}; level {result.alpha:g}). Sizes, of the held-out rows, are "
        f"{SIZES}"
    )


def _baseline(result: TestResult) -> Iterator[str]:
    method = result.method
    assert method is not None
    yield (
        f"Whether both samples come from one distribution was tested with {method.name} "
        f"(statistic: {method.statistic}; p = {result.pvalue:.3g}; level {result.alpha:g}). The "
        f"p-value holds because {method.validity}."
    )


def _permutations(result: TestResult) -> str:
    count = result.null_distribution.size
    how = f"all {count:,} permutations" if result.exact else f"{count:,} random permutations"
    bins = f" (in random bins of {result.rows_per_bin} rows)" if result.rows_per_bin > 1 else ""
    return f"{how}{bins}"


def _certificate(result: TestResult) -> str:
    # The time a solver took is no part of a method.
    certificate = result.selection.certificate.rpartition(" (")[0] or result.selection.certificate
    if certificate.startswith("proved"):
        return f"The solver ({result.selection.solver}) {certificate.replace(':', ' that', 1)}."
    return f"It is {certificate} ({result.selection.solver})."


def _data(result: TestResult) -> Iterator[str]:
    held, (x, y) = result.held_out, map(safe, result.labels)
    of_x, of_y = held.dropped_rows
    if of_x or of_y:
        compared = "; what they miss was compared" if result.scan is not None else ""
        yield (
            f"Rows with missing values were left out: {of_x:,} of {x} and {of_y:,} of {y}"
            f"{compared}."
        )
    if held.dropped_columns:
        yield f"Columns left out for missing values: {_listed(list(held.dropped_columns))}."
    if held.filled_columns:
        how = "the pooled median, or the commonest category, took their place"
        if result.scan is not None:
            how = (
                "each statistic used the rows that have what it compares, and where whole rows "
                f"were needed {how}"
            )
        yield f"Values are missing in {_listed(list(held.filled_columns))}: {how}."


def _software(result: TestResult) -> str:
    seed = result.settings.get("random_state")
    told = "" if seed is None else f" with random seed {seed}"
    return f"All of this was done with tellapart {__version__}{told}, which builds on {PAPER}."


def _tuned(tuned: bool) -> str:
    return ", chosen by cross-validation" if tuned else ""


def _word(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def _listed(names: list[str], most: int = 20) -> str:
    shown = [safe(name) for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most:,} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
