"""The methods paragraph of a paper, with the numbers of a result filled in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tellapart import __version__
from tellapart.results.result import TestResult
from tellapart.results.story import (
    NOT_EQUIVALENT,
    describe_requested,
    describe_selection,
    smallest_effect_of,
)
from tellapart.scan.error_rates import FDX, FWER
from tellapart.scan.finding_kinds import FINDING_KINDS
from tellapart.selection.selection import EVIDENCE
from tellapart.text import counted, joined, listed, number_word, safe

PAPER = "Wang, Dey and Xie, “Variable Selection for Kernel Two-Sample Tests”"
EFFECTS = (
    "standardised mean differences (Hedges’ g), ratios of standard deviations, and differences of "
    "proportions, correlations and other measures, computed from the values as they are, with "
    "95 % confidence intervals"
)
MOST_NAMES = 20

LIMITS = (
    "These limits hold for all effects together: each effect's own interval, at the level that "
    "corresponds to the maximum of studentised deviations under a multiplier bootstrap."
)
"""How the limits of all effects were computed."""


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
    samples = [
        f"{safe(label)} (n = {n_test + n_train:,})"
        for label, n_test, n_train in zip(result.labels, result.n_test, result.n_train, strict=True)
    ]
    n_columns = len(result.selection.names)
    yield f"We compared {' and '.join(samples)} in {counted(n_columns, 'variable')}."
    if not result.reject:
        yield _outcome(result)
    if result.drawn_from is not None:
        of_x, of_y = result.drawn_from
        yield f"These rows were drawn at random from {of_x:,} and {of_y:,}."
    design = result.held_out.design
    if design is not None:
        yield f"Permutations respected the design of the study: {safe(design.describe())}."
        if design.effective_sizes is not None:
            n_x, n_y = design.effective_sizes
            yield (
                "All statistics and effects are weighted, with linearised (HC2) standard errors; "
                "every row was permuted together with its weight, which assumes that rows were "
                "drawn and weighted by one mechanism in both samples (effective sample sizes "
                f"{n_x:,.1f} and {n_y:,.1f})."
            )
        if design.adjustment is not None:
            yield safe(design.adjustment.methods())


def _scan(result: TestResult) -> Iterator[str]:
    scan = result.scan
    assert scan is not None
    families, n_findings = list(scan.families), len(result.findings)
    one = len(families) == 1
    yield (
        "Equality of the two distributions was tested by a permutation scan of all observations: "
        f"{number_word(len(families))} {'family' if one else 'families'} of statistics "
        f"({_listed(families)}) {_was(len(families))} computed for the observed labelling and for "
        f"{_permutations(result)}"
        f"{'' if one else ', and their p-values combined by the weighted sum of their reciprocals'}"
        f"{_validity(result, '' if one else 'combined ')}{_significant(result)}."
    )
    requested = describe_requested(result)
    if requested:
        yield f"{requested}."
    yield from (f"The family {name} could not run ({why})." for name, why in scan.skipped.items())
    yield (
        f"P-values of {_units(families)} were adjusted by step-down maxima over "
        f"{_named_by(result)} permutations (Westfall and Young), which controls the familywise "
        f"error rate at {result.alpha:g}{_other_rate(result)}; "
        f"{counted(n_findings, 'difference') if n_findings else 'no differences'}"
        f" {_was(n_findings)} significant{_kinds(result)}. Effect "
        f"sizes are {EFFECTS}; effects of findings are inflated by selection, for which the "
        "simultaneous intervals allow."
    )
    smallest = smallest_effect_of(result)
    if smallest is not None:
        yield (
            "Only differences that exceed a smallest effect of interest beyond error were reported "
            f"({safe(smallest.describe())}): their p-values are of effects of at most this size, "
            "by studentised tests adjusted by Holm's method."
        )
    if result.reject and result.excluded:
        yield f"{result.excluded} {LIMITS}"


def _validity(result: TestResult, combined: str) -> str:
    """Return in which sense the p-value is valid, as the end of a sentence and one more."""
    design = result.held_out.design
    if design is not None and design.adjustment is not None:
        return f". The {combined}p-value is asymptotic"
    return (
        f". As the observed labelling is part of the reference set, the {combined}p-value is valid "
        "in finite samples"
    )


def _other_rate(result: TestResult) -> str:
    """Return how columns are reported, where it is not by the familywise error rate."""
    scan = result.scan
    if scan is None or scan.rate.name == FWER:
        return ""
    how = "by Benjamini and Hochberg's procedure over their permutation p-values"
    if scan.rate.name == FDX:
        how = "by augmentation (van der Laan, Dudoit and Pollard)"
    return f". Findings of single columns were selected {how}, so that " + scan.rate.promise(
        result.alpha
    )


def _choice_after_scan(result: TestResult) -> Iterator[str]:
    selection = result.selection
    how = "a joint criterion of columns, pairs and triples"
    if selection.objective != EVIDENCE:
        how = f"MMD² − λσ² of the {selection.kernel} kernel with λ = {selection.regularization:g}"
    yield (
        f"{_caveat(result)}Of {counted(len(selection.names), 'variable')}, "
        f"{selection.support.size} {_was(selection.support.size)} selected on "
        f"all observations by maximising {how} ({_listed([*selection.weights])}); the p-value "
        f"does not depend on this selection. {_certificate(result)}"
    )


def _split(result: TestResult) -> Iterator[str]:
    selection, tuning = result.selection, result.tuning
    (train_x, train_y), (test_x, test_y) = result.n_train, result.n_test
    yield (
        f"Each sample was split at random: {train_x:,} and {train_y:,} observations for the "
        f"selection of variables, {test_x:,} and {test_y:,} for the test. On the former, weights z "
        f"{'≥ 0 ' if selection.nonnegative else ''}maximised MMD²(z) − λσ²(z) of the "
        f"{selection.kernel} kernel over at most "
        f"{counted(selection.n_variables or selection.support.size, 'variable')}, with λ = "
        f"{selection.regularization:g}"
        f"{', selected by cross-validation' if tuning and tuning.regularizations else ''}."
    )
    if tuning is not None and tuning.numbers:
        yield "The number of variables was selected on the training rows as well."
    yield (
        f"{_caveat(result)}{selection.support.size} of {len(selection.names)} variables "
        f"{_was(selection.support.size)} selected "
        f"({_listed([*selection.weights])}). {_certificate(result)}"
    )
    yield (
        "With kernel, bandwidths and weights fixed, MMD² of the held-out rows was compared with "
        f"its values under {_permutations(result)} of the labels, which is valid in finite "
        f"samples{_significant(result)}. Effect sizes, of the held-out rows, are {EFFECTS}."
    )


def _baseline(result: TestResult) -> Iterator[str]:
    method = result.method
    assert method is not None
    yield (
        f"Equality of the two distributions was tested with {method.name} (statistic: "
        f"{method.statistic}){_significant(result)}. The p-value is valid because "
        f"{method.validity}."
    )


def _permutations(result: TestResult) -> str:
    count = result.null_distribution.size
    how = f"all {count:,} permutations" if result.exact else f"{count:,} random permutations"
    blocks = f" in blocks of {result.rows_per_bin} rows" if result.rows_per_bin > 1 else ""
    more = ", drawn in up to three looks while p was close to α" if _went_on(result) else ""
    return f"{how}{blocks}{more}"


def _went_on(result: TestResult) -> bool:
    """Say whether further permutations were drawn while the verdict was open."""
    asked = int(result.settings.get("n_permutations", 0))
    return result.scan is not None and result.null_distribution.size > asked > 0


def _named_by(result: TestResult) -> str:
    """Return which permutations adjust the p-values of findings."""
    return f"the first {result.settings['n_permutations']:,}" if _went_on(result) else "the same"


def _outcome(result: TestResult) -> str:
    """Return the outcome of a test that does not reject: it comes first."""
    outcome = f"The difference was not significant ({result.pvalue_text}, α = {result.alpha:g})"
    if not result.excluded:
        return f"{outcome}; {NOT_EQUIVALENT}."
    return f"{outcome}. {result.excluded} {LIMITS}"


def _significant(result: TestResult) -> str:
    """Return the outcome of a test that rejects, as the end of a sentence."""
    if not result.reject:
        return ""
    return f"; the difference was significant ({result.pvalue_text}, α = {result.alpha:g})"


def _kinds(result: TestResult) -> str:
    """Return how many findings of each kind there are, in brackets."""
    kinds = [finding.kind for finding in result.findings]
    counts = [
        f"{kind.words.title[0].lower()}{kind.words.title[1:]}: {kinds.count(name):,}"
        for name, kind in FINDING_KINDS.items()
        if name in kinds
    ]
    return f" ({', '.join(counts)})" if len(counts) > 1 else ""


def _certificate(result: TestResult) -> str:
    # The time that a solver took is no part of a method.
    selection = result.selection
    text = selection.certificate.replace(f", {selection.seconds:.2f} s", "")
    if result.reject or not text.startswith("optimal"):
        return f"Certificate of the search: {text}."
    return f"The search, though not the difference, is certified: {text}."


def _data(result: TestResult) -> Iterator[str]:
    held, (x, y) = result.held_out, map(safe, result.labels)
    of_x, of_y = held.dropped_rows
    if of_x or of_y:
        compared = ""
        if result.scan is not None:
            compared = "; their patterns of missing values were compared"
        yield (
            f"Rows with missing values were excluded: {of_x:,} of {x} and {of_y:,} of {y}"
            f"{compared}."
        )
    if held.dropped_columns:
        yield f"Columns excluded for missing values: {_listed(list(held.dropped_columns))}."
    if held.filled_columns:
        how = "they were replaced by the pooled median or the most frequent category"
        if result.scan is not None:
            how = (
                "each statistic used the rows that have what it compares, and where complete rows "
                f"were needed {how}"
            )
        yield f"Values are missing in {_listed(list(held.filled_columns))}: {how}."


def _software(result: TestResult) -> str:
    seed = result.settings.get("random_state")
    seeded = "" if seed is None else f" (random seed {seed})"
    return f"Analyses were done with tellapart {__version__}{seeded}, which builds on {PAPER}."


def _listed(names: Sequence[str]) -> str:
    return joined(names) if len(names) <= MOST_NAMES else listed(names, MOST_NAMES)


def _units(families: Sequence[str]) -> str:
    """Return what is named: pairs, triples and sets only where their families ran."""
    pairs = bool({"correlation", "pair"} & set(families))
    triples = ["triples of columns"] * ("triple" in families)
    return joined(["columns", *["pairs"] * pairs, *triples, *["sets"] * ("joint" in families)])


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _caveat(result: TestResult) -> str:
    """Return what a reader must know of the selected variables first."""
    caveat = describe_selection(result).replace("below ", "")
    return f"{caveat}. " if caveat else ""
