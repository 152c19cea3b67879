"""The page of a test result: what was computed put into words, laid out by `page.html.j2`."""

from __future__ import annotations

import math
import platform
from importlib.metadata import version

from markupsafe import Markup

from tellapart import __version__
from tellapart.data.column_notes import UNNAMED, ColumnNotes
from tellapart.report.figures import marginal_svg, null_svg
from tellapart.report.plane import draw_view
from tellapart.report.resamples import describe_stability
from tellapart.report.scan_page import describe_scan
from tellapart.report.templates import get_template
from tellapart.report.words import (
    describe_bandwidth,
    describe_choices,
    describe_marginal,
    describe_null,
    describe_proof,
    describe_validity,
    describe_variables,
    listed,
    number,
    rows_used,
)
from tellapart.testing.call import design_arguments, write_arguments
from tellapart.testing.evidence import NOT_EQUIVALENT, describe_selection
from tellapart.testing.exhibit import Exhibit, described_columns
from tellapart.testing.result import TestResult
from tellapart.testing.settings import TestSettings
from tellapart.testing.story import SELECTION_BIAS


def render_page(result: TestResult, exhibit: Exhibit, reproduce: str | None = None) -> str:
    """Return the report of a result as one HTML page that needs nothing else.

    No script, no font, style or picture from elsewhere; every text from the data is escaped.

    Parameters
    ----------
    result : TestResult
        The result to show.
    exhibit : Exhibit
        What was computed to be shown.
    reproduce : str or None
        The command or code that gives the same answer; the Python call if None.
    """
    variables = describe_variables(result.selection, exhibit.summaries)
    stability, embedding = exhibit.stability, exhibit.embedding
    selected_on = "all rows" if result.scan is not None else "the training rows"
    return get_template("page.html.j2").render(
        result=result,
        selection=result.selection,
        labels=result.labels,
        n_columns=len(result.selection.names),
        n_selected=result.selection.support.size,
        rows_used=rows_used(result),
        facts=_facts(result),
        figure=_null(result),
        validity=describe_validity(result),
        probability=f"{100 * result.pvalue:.4g}\N{NO-BREAK SPACE}%",
        caveat=describe_selection(result),
        not_equivalent=NOT_EQUIVALENT,
        selection_bias=SELECTION_BIAS,
        pvalue=result.pvalue_text,
        variables=variables,
        proof=describe_proof(result.selection),
        resamples=None if stability is None else describe_stability(stability, selected_on),
        scan=describe_scan(result, exhibit),
        marginals=_marginals(exhibit, result),
        n_described=len(described_columns(result)),
        view=None if embedding is None else draw_view(embedding, result),
        rows=_rows(result),
        columns=_columns(result),
        settings=_settings(result),
        versions=_versions(),
        reproduce=python_call(result) if reproduce is None else reproduce,
        repeatable=result.settings.get("random_state") is not None,
    )


def python_call(result: TestResult) -> str:
    """Return the call that gives this result: only what is not the default."""
    x, y = (" ".join(label.split()) for label in result.labels)
    named = f"import tellapart as ta\n\n# X: the rows of {x}; Y: the rows of {y}\n"
    design = design_arguments(result.settings, "({0}_of_x, {0}_of_y)")
    if result.method is not None:
        call = f"ta.baselines.{result.method.call}.test(X, Y{write_arguments(design, {})})"
        return f'{named}result = {call}\nresult.to_html("report.html")'
    usual = TestSettings().to_dict()
    given = {key: value for key, value in result.settings.items() if key in usual} | design
    if result.labels != ("X", "Y"):
        given["labels"] = result.labels
    if result.held_out.filled_columns:
        given["missing"] = "pairwise"
    elif any(result.held_out.dropped_rows):
        given["missing"] = "drop-rows"
    elif result.held_out.dropped_columns:
        given["missing"] = "drop-columns"
    if result.held_out.notes.kept:
        given["keep"] = list(result.held_out.notes.kept)
    call = f"ta.two_sample_test(X, Y{write_arguments(given, usual)})"
    return f'{named}result = {call}\nresult.to_html("report.html")'


def _facts(result: TestResult) -> list[tuple[str, str]]:
    count = result.null_distribution.size
    how = f"{count:,}, at random"
    if result.rows_per_bin > 1:
        units = "rows" if result.held_out.design is None else result.held_out.design.units_name
        how = f"{count:,}, at random, in blocks of {result.rows_per_bin} {units}"
    if result.note:
        how += f", {result.note}"
    if result.exact:
        how = f"all {count:,}: the p-value is exact"
    if count == 0:
        how = "none: the null distribution is known"
    critical = (
        number(result.threshold)
        if math.isfinite(result.threshold)
        else "none: with so few rows no p-value can reach α"
    )
    facts = [
        ("p-value", _pvalue(result)),
        ("Level α", f"{result.alpha:g}"),
        (_capitalised(result.statistic_name), number(result.statistic)),
        ("Critical value", critical),
        ("Permutations", how),
    ]
    if result.held_out.design is not None:
        facts.append(("Design", result.held_out.design.describe()))
        if any(result.held_out.design.left_out):
            facts.append(("Not used", result.held_out.design.describe_left_out()))
    return facts


def _pvalue(result: TestResult) -> str:
    text = result.pvalue_text.removeprefix("p ").removeprefix("= ")
    value, comma, error = text.partition(", ")
    if text.startswith("≤"):
        return f"{value} (the smallest that {result.null_distribution.size:,} permutations give)"
    return f"{value} ({error})" if comma else value


def _capitalised(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _null(result: TestResult) -> Markup | None:
    """Return the figure of the null distribution, where there is one."""
    if result.null_distribution.size == 0:
        return None
    return null_svg(result, "Null distribution of the statistic", describe_null(result))


def _marginals(exhibit: Exhibit, result: TestResult) -> list[tuple[str, Markup]]:
    """Return name and figure of each column whose distribution is shown."""
    labels, rows = result.labels, rows_used(result)
    return [
        (
            summary.name,
            marginal_svg(
                marginal,
                f"variable{place}",
                f"{summary.name} in {labels[0]} and {labels[1]}",
                describe_marginal(summary, marginal, labels, rows),
            ),
        )
        for place, (summary, marginal) in enumerate(
            zip(exhibit.described, exhibit.marginals, strict=True)
        )
    ]


def _rows(result: TestResult) -> list[tuple[str, int, int, int]]:
    """Return per sample the rows of the selection, of the test, and those excluded."""
    chosen_by = result.n_train
    if result.method is None and not any(chosen_by):  # all rows choose, and all rows test
        chosen_by = result.n_test
    parts = zip(result.labels, chosen_by, result.n_test, result.held_out.dropped_rows, strict=True)
    return list(parts)


def _columns(result: TestResult) -> list[tuple[str, str]]:
    held_out = result.held_out
    categorical = held_out.kinds.count("categorical")
    kinds = f"{held_out.n_columns - categorical:,} numeric, {categorical:,} categorical"
    return [
        ("Columns compared", f"{held_out.n_columns:,} ({kinds})"),
        *_noted(held_out.notes),
        ("Constant (weight 0)", listed(result.selection.constant)),
        ("Excluded for missing values", listed(held_out.dropped_columns)),
        *_filled(held_out.filled_columns),
    ]


def _noted(notes: ColumnNotes) -> list[tuple[str, str]]:
    """Return which columns were excluded or split into parts."""
    rows = []
    if notes.naming_rows:
        naming = [f"{name} ({reason})" for name, reason in notes.naming_rows.items()]
        rows.append(("Excluded: appear to be identifiers", listed(naming)))
        rows.append(("To include them", notes.way_back))
    if notes.row_labels:
        labels = [name if name.strip() else UNNAMED for name in notes.row_labels]
        rows.append(("Excluded as row labels", listed(labels)))
    for where, names in notes.fixed.items():
        rows.append((f"Excluded: constant within {where}", listed(names)))
    if notes.unchosen:
        rows.append(("Excluded by the user", listed(notes.unchosen)))
    if notes.parts:
        parts = [f"{name} into {', '.join(some)}" for name, some in notes.parts.items()]
        rows.append(("Split into parts", listed(parts)))
    return rows


def _filled(columns: tuple[str, ...]) -> list[tuple[str, str]]:
    if not columns:
        return []
    how = "figures and kernels use the pooled median or the most frequent category instead"
    return [("With missing values", f"{listed(columns)}; {how}")]


def _settings(result: TestResult) -> list[tuple[str, str]]:
    n_variables, regularization = describe_choices(result)
    seed = result.settings.get("random_state")
    what = ("Kernel", result.selection.kernel)
    if result.method is not None:
        what = ("Method", result.method.name)
    bandwidth = describe_bandwidth(result)
    return [
        what,
        ("Number of variables", n_variables),
        ("Regularization, λ", regularization),
        *([("Bandwidth", bandwidth)] if bandwidth else []),
        ("Level α", f"{result.alpha:g}"),
        ("Seed", "not known" if seed is None else str(seed)),
        ("Time taken", f"{result.seconds:.1f} s"),
    ]


def _versions() -> list[tuple[str, str]]:
    return [
        ("tellapart", __version__),
        ("Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}"),
        *((name, version(name.lower())) for name in ("NumPy", "SciPy", "Numba", "scikit-learn")),
    ]
