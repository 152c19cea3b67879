"""The sentences of the paper's sections 6 and 7 that rows can judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from reproduction import claims, healthcare
from reproduction import paper as summaries
from reproduction.claims import (
    ALL_ROWS,
    NUMERALS,
    OURS,
    OURS_ALL_ROWS,
    OURS_SPLIT,
    RETIRED,
    SAME_SPLIT,
    Best,
    Claim,
    Results,
    behind,
    best_of,
    places_of,
    standing,
)
from reproduction.curves import TITLES, Powers
from reproduction.methods import METHODS
from reproduction.power import USUAL_COLUMNS
from reproduction.runner import write_text
from reproduction.store import markdown_table
from tellapart.datasets import CASES
from tellapart.errors import InputError

CLAIMS = (
    Claim(
        "SDP relaxation and convex integer programming are near-optimal, truncation slightly "
        "worse (box plots)",
        claims.approximations_near_optimal,
        "with the printed sign [E3] truncation comes closer",
    ),
    Claim(
        "truncation is the fastest, the SDP relaxation the slowest (Table 1)",
        claims.truncation_fastest,
        "all three are implemented differently here; which difference matters was not measured",
    ),
    Claim("power increases with n", claims.power_grows, ""),
    Claim(
        "variable selection improves the standard MMD test",
        claims.selection_improves,
        "on the same n test rows. Clear where a few columns carry most of the difference (I, IV), "
        "not for the linear kernel where all 20 differ alike (II, III)",
    ),
    Claim(
        "linear or quadratic MMD with selection is best in cases I–III",
        claims.linear_or_quadratic_best,
        "of methods on the same split, our Gaussian kernel among the others; tests of all 2n rows "
        "are shown above",
    ),
    Claim(
        "projected Wasserstein is best in case IV",
        claims.wasserstein_best_in_mixture,
        "on columns as they are its power is that of ours; on columns divided by their spread, "
        "as users would have them, it is lower at n = 50. With the paper's bandwidth [E2] our "
        "Gaussian kernel has little power in case IV (table below), in line with the paper's "
        "finding; the printed linear kernel has much",
    ),
    Claim(
        "sparse logistic regression has nearly zero power in cases II–IV",
        claims.logistic_at_the_level,
        "its statistic sees a difference of means only, and there is none",
    ),
    Claim(
        "power decays more slowly in D with selection",
        claims.slower_decay,
        "judged by two standard errors of the difference of the losses",
    ),
    Claim(
        "against D, the Gaussian kernel is best in case I, linear or quadratic in II and III",
        claims.best_in_dimension,
        "judged by whether another method on the same split is ahead at the largest D",
    ),
    Claim(
        "linear or quadratic selection has the lowest FDP and NDP in all cases",
        claims.recovery_lowest,
        "within error bars of the best in I–III; in case IV one coin per row shifts all 20 columns "
        "together, which a projection can use. Our Gaussian kernel takes few of the variables it "
        "may take at λ = 0.1: hardly a wrong one, most of them missed",
    ),
    Claim(
        "near-optimal FDP and NDP in cases II and III",
        claims.recovery_near_optimal,
        "judged by FDP ≤ 0.1 at every d; nearly so up to half of the true variables, and no method "
        "here finds the last ones at n = 150",
    ),
    Claim(
        "satisfactory power on MNIST with 20 images a side to train and 5 to test",
        claims.digits_power,
        "judged by a power of at least 0.8; all 252 permutations are enumerated",
    ),
    Claim(
        "quadratic and linear MMD are best on healthcare data (0.915 and 0.835 against 0.771 and "
        "0.749)",
        claims.healthcare_best,
        "other data (the paper's are private). With 100 patients a group every method ties near 1. "
        "With 20 sparse logistic regression is ahead; it chose diagnosis flags, of which many "
        "patients with sepsis have none and few others do: their sum shows it, single flags less",
    ),
)


def claims_text(folder: Path) -> str:
    """Return what all rows in a folder say, as Markdown."""
    results = Results(folder)
    return (
        "### Our best and the best competitor, case by case\n\n"
        f"{summaries.headline(results)}\n\n"
        f"{summaries.headline_table(results)}\n\n"
        "### The scan beside the others\n\n"
        f"{summaries.scan_sentence(results)}\n\n"
        f"{summaries.scan_table(results)}\n\n"
        "### Claim by claim\n\n"
        f"{claims.claims_table(results, CLAIMS)}\n\n"
        "### The paper's literal formulas: rejections of trials\n\n"
        f"{summaries.literal_table(results)}\n\n"
        "### Trials of each method\n\n"
        f"{summaries.trials_table(results)}"
    )


def verdicts_text(folder: Path) -> str:
    """Return the verdict on every claim, for a page that links to claims.md for the numbers."""
    results = Results(folder)
    lines = [{"the paper says": c.says, "holds?": c.judge(results).holds} for c in CLAIMS]
    return f"{headline(results)}\n\n{scan_sentence(results)}\n\n{markdown_table(lines)}"


def write_claims(folder: Path, document: Path | None) -> list[Path]:
    """Write claims.md beside the rows and, if requested, verdicts between the marks of a page."""
    text = claims_text(folder)
    paths = [write_text(folder / "claims.md", f"# The paper's claims, judged by rows\n\n{text}")]
    return paths if document is None else [*paths, fill(document, verdicts_text(folder))]


# Tables and sentences about all methods at once, made from rows for the documentation.


BEGIN, END = "<!-- rows:begin -->", "<!-- rows:end -->"
LITERAL = {
    "linear": ("linear-paper", "linear-printed"),
    "quadratic": ("quadratic-paper",),
    "gaussian": ("gaussian-paper",),
    "standard-gaussian": ("standard-gaussian-paper",),
}
"""The paper's literal variants of a method."""
SCAN, PATIENTS, REAL_PATIENTS = "scan", "patients", "critical-care"
BESIDE_SCAN = {
    "our best on a split": OURS_SPLIT,
    "the test by reselection": RETIRED,
    "the best competitor on a split": SAME_SPLIT,
    "the best competitor on all rows": ALL_ROWS,
}
"""Methods that the scan is compared with, by their names."""


def headline_table(results: Results) -> str:
    """Return our best beside the best competitor in every case, at every n."""
    found = results.by_n()
    lines = []
    for case in CASES:
        for n in places_of(found):
            line: dict[str, str] = {"case": TITLES[case], "n": f"{n:g}"}
            for where, mine, theirs in (
                ("split in halves", OURS_SPLIT, SAME_SPLIT),
                ("all 2n rows", OURS_ALL_ROWS, ALL_ROWS),
            ):
                ours, best = (best_of(found, case, n, names) for names in (mine, theirs))
                line[f"{where}: tellapart"] = "" if ours is None else ours.text
                line[f"{where}: competitor"] = "" if best is None else best.text
                line[f"{where}: tellapart is"] = standing(ours, best)
            lines.append(line)
    return markdown_table(lines)


def headline(results: Results) -> str:
    """Return in which cases a competitor is ahead of our best at some n, in words."""
    found = results.by_n()
    parts = []
    for mine, names, who in (
        (OURS_SPLIT, SAME_SPLIT, "tests on a split"),
        (OURS_ALL_ROWS, ALL_ROWS, "tests of all 2n rows"),
        (OURS, SAME_SPLIT + ALL_ROWS, "all tests"),
    ):
        ahead = [NUMERALS[case] for case in CASES if behind(found, case, names, mine)]
        lower = [
            f"{NUMERALS[case]} at n = {n:g}"
            for case in CASES
            for n in places_of(found)
            if standing(best_of(found, case, n, mine), best_of(found, case, n, names))
            == "lower, within error bars"
        ]
        where = f" (within error bars {', '.join(lower)})" if lower else ""
        parts.append(f"{who}, {', '.join(ahead) or 'none'}{where}")
    start = "Cases in which a competitor is ahead of our best at some n, beyond error bars"
    return f"{start}: {'; '.join(parts)}."


def scan_table(results: Results) -> str:
    """Return the scan beside the best of each other kind, wherever it was measured."""
    lines = []
    for where, scan, others in _beside_scan(results):
        line = {"where": where, "scan": scan.share.text}
        for kind, best in others.items():
            line[kind] = "" if best is None else best.text
            line[f"{kind}: the scan is"] = standing(scan, best)
        lines.append(line)
    return markdown_table(lines)


def scan_sentence(results: Results) -> str:
    """Return how often the scan is ahead or behind each kind of methods, in words."""
    counts = {kind: Counter[str]() for kind in BESIDE_SCAN}
    for _, scan, others in _beside_scan(results):
        for kind, best in others.items():
            counts[kind][standing(scan, best)] += 1
    parts = [
        f"{kind} in {count['ahead']} and {count['behind']} of "
        f"{count.total() - count['not measured']}"
        for kind, count in counts.items()
    ]
    start = "Settings in which the scan is ahead of others and behind them, beyond error bars"
    return f"{start}: {'; '.join(parts)}."


def _beside_scan(results: Results) -> Iterator[tuple[str, Best, dict[str, Best | None]]]:
    """Yield each setting of the scan, its power, and the best of each other kind."""
    by_n, by_dimension = results.by_n(), results.by_dimension()
    places = [(by_n, "n", n) for n in places_of(by_n)]
    places += [(by_dimension, "D", D) for D in places_of(by_dimension) if D != USUAL_COLUMNS]
    tables = [
        (found, case, place, f"{TITLES[case]}, {axis} = {place:g}")
        for case in CASES
        for found, axis, place in places
    ]
    patients = _powers_of_patients(results)
    tables += [
        (patients, PATIENTS, place, f"{PATIENTS}, {place:g} per group")
        for place in reversed(places_of(patients))
    ]
    for found, case, place, where in tables:
        scan = best_of(found, case, place, [SCAN])
        if scan is not None:
            yield (
                where,
                scan,
                {kind: best_of(found, case, place, names) for kind, names in BESIDE_SCAN.items()},
            )


def _powers_of_patients(results: Results) -> Powers:
    """Return power on the patients by the number drawn and method."""
    rows = [row for row in results.rows(healthcare.HEALTHCARE) if row["data"] == REAL_PATIENTS]
    return {
        (PATIENTS, float(drawn), name): share
        for drawn in {row["drawn"] for row in rows}
        for name in METHODS
        if (share := healthcare.power(rows, name, drawn)) is not None
    }


def literal_table(results: Results) -> str:
    """Return the power of each corrected method beside the paper's literal variants of it."""
    found = results.by_n()
    lines = []
    for corrected, variants in LITERAL.items():
        shown = [name for name in variants if any(method == name for _, _, method in found)]
        for name in (corrected, *shown) if shown else ():
            line = {"method": METHODS[name].label}
            for case in CASES:
                for n in (places_of(found)[0], places_of(found)[-1]):
                    share = found.get((case, n, name))
                    text = "" if share is None else f"{share.hits}/{share.trials}"
                    line[f"{NUMERALS[case]}, n = {n:g}"] = text
            lines.append(line)
    return markdown_table(lines)


def trials_table(results: Results) -> str:
    """Return how many trials of each method are on file, at each n, in the case with fewest."""
    found = results.by_n()
    lines = []
    for name, method in METHODS.items():
        line = {"method": method.label}
        for n in places_of(found):
            counts = [found[case, n, name].trials for case in CASES if (case, n, name) in found]
            line[f"n = {n:g}"] = str(min(counts)) if len(counts) == len(CASES) else "–"
        if set(line.values()) != {method.label, "–"}:
            lines.append(line)
    return markdown_table(lines)


def fill(document: Path, text: str) -> Path:
    """Put a text between the marks of a document, replacing what was there."""
    whole = document.read_text(encoding="utf-8")
    before, begin, rest = whole.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InputError(f"{document} must have the lines {BEGIN} and {END}")
    return write_text(document, f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
