"""The page of a test result: what was computed put into words, laid out by `page.html.j2`."""

from __future__ import annotations

import math
import platform
import re
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from markupsafe import Markup, escape

from tellapart import __version__
from tellapart.data.column_notes import UNNAMED, ColumnNotes
from tellapart.report.svg import draws, figures, inline_svg
from tellapart.report.templates import breakable, render, script
from tellapart.report.words import (
    ColumnRow,
    Row,
    columns_text,
    describe_all_columns,
    describe_bandwidth,
    describe_choices,
    describe_difference,
    describe_families,
    describe_finding,
    describe_marginal,
    describe_null,
    describe_proof,
    describe_validity,
    describe_variables,
    group_findings,
    number,
    percent,
    rows_used,
)
from tellapart.results.columns import ColumnSummary, Crosstab, DensityMap, Marginal, PairView
from tellapart.results.embedding import Embedding
from tellapart.results.figure_data import PageData, described_columns
from tellapart.results.gathered import describe_gathered
from tellapart.results.result import TestResult, design_arguments, write_arguments
from tellapart.results.story import (
    NOT_EQUIVALENT,
    SELECTION_BIAS,
    describe_negligible,
    describe_requested,
    describe_selection,
)
from tellapart.scan.finding import Finding, without_p
from tellapart.scan.finding_kinds import FINDING_KINDS, Scale
from tellapart.selection.stability import Stability
from tellapart.text import capitalised, safe_lines
from tellapart.two_sample.settings import TestSettings

FIRST_ROWS = 25
"""Findings that the script shows at first; without it, and in print, all are."""
MOST_ROWS = 10_000
"""Findings of that table."""
MOST_SHOWN = 1_000
"""Columns that the table of all columns shows at a time; a search finds the others."""
MOST_COLUMNS = 50_000
"""Columns of that table."""
MOST_EFFECTS = 25
"""Findings that the figures show."""
_NUMBERS = re.compile(r"[-\d\s.,()\[\]−–×⁻⁰¹²³⁴⁵⁶⁷⁸⁹≤%∞eto]*")
MOST_OTHERS = 8
"""Variables selected instead of those selected, in the table of selection frequencies."""


def render_page(result: TestResult, data: PageData, reproduce: str | None = None) -> str:
    """Return the report of a result as one HTML page that needs nothing else.

    Parameters
    ----------
    result : TestResult
        The result to show.
    data : PageData
        What was computed to be shown.
    reproduce : str or None
        The command or code that gives the same answer; the Python call if None.
    """
    selection = result.selection
    code, policy = script("tables.js")
    columns = describe_all_columns(result, data.table)
    selected_on = "all rows" if result.scan is not None else "the training rows"
    return render(
        "page.html.j2",
        style="page.css",
        script=code,
        security_policy=policy,
        result=result,
        columns_shown=_column_rows(columns[:MOST_SHOWN]),
        columns_held=_column_rows(columns[MOST_SHOWN:MOST_COLUMNS]),
        most_shown=MOST_SHOWN,
        first_rows=FIRST_ROWS,
        quartiles_from=data.table.quartiles_from,
        selection=selection,
        labels=result.labels,
        n_columns=len(selection.names),
        n_selected=selection.support.size,
        rows_used=rows_used(result),
        facts=_facts(result),
        figure=_null(result),
        validity=describe_validity(result),
        adjusted=_is_adjusted(result),
        overlap=_draw_overlap(result),
        probability=f"{100 * result.pvalue:.4g}\N{NO-BREAK SPACE}%",
        caveat=describe_selection(result),
        not_equivalent=NOT_EQUIVALENT,
        limits=data.limits,
        negligible=describe_negligible(result),
        selection_bias=SELECTION_BIAS,
        pvalue=result.pvalue_text,
        variables=describe_variables(selection, data.summaries),
        proof=describe_proof(selection),
        resamples=None
        if data.stability is None
        else describe_stability(data.stability, selected_on),
        scan=None if result.scan is None else _describe_scan(result, data),
        marginals=_marginals(data, result),
        n_described=len(described_columns(result)),
        view=None if data.embedding is None or not draws() else _draw_view(data.embedding, result),
        rows=_rows(result),
        columns=_columns(result),
        settings=_settings(result),
        versions=_versions(),
        reproduce=python_call(result) if reproduce is None else reproduce,
        repeatable=result.settings.get("random_state") is not None,
    )


def _column_rows(rows: Sequence[ColumnRow]) -> Markup:
    """Return rows of the table of all columns; a template takes seconds for ten thousands."""
    written = []
    for row in rows:
        cells = [row.first, row.second, row.difference, row.ratio, *((t,) for t in row.tests)]
        box = f' data-quartiles="{row.quartiles}"' if row.quartiles else ""
        written.append(f'<tr{box}><th scope="row"><bdi>{breakable(row.name)}</bdi></th>')
        for lines in (*cells, (row.findings,)):
            # Texts of the data are set apart from numbers, whichever way they are written.
            texts = (
                line if _NUMBERS.fullmatch(line) else f"<bdi>{escape(safe_lines(line))}</bdi>"
                for line in lines
            )
            written.append(f"<td>{'<br> '.join(texts)}</td>")
        written.append("</tr>\n")
    return Markup("".join(written))


def python_call(result: TestResult) -> str:
    """Return the call that gives this result: only what is not the default."""
    x, y = (" ".join(label.split()) for label in result.labels)
    named = f"import tellapart as ta\n\n# X: the rows of {x}; Y: the rows of {y}\n"
    design = design_arguments(result.settings, "({0}_of_x, {0}_of_y)")
    if result.method is not None:
        call = f"ta.baselines.{result.method.call}.test(X, Y{write_arguments(design, {})})"
        return f'{named}result = {call}\nresult.to_html("report.html")'
    usual = {**TestSettings().to_dict(), "smallest_effect": None}
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
        (capitalised(result.statistic_name), number(result.statistic)),
        ("Critical value", critical),
        ("Permutations", how),
    ]
    if result.held_out.design is not None:
        facts.append(("Design", result.held_out.design.describe()))
        if any(result.held_out.design.left_out):
            facts.append(("Not used", result.held_out.design.describe_left_out()))
        if result.held_out.design.weights is not None:
            sizes = result.held_out.design.describe_weights()
            facts.append(("Effective sample sizes", sizes))
            facts.append(("Weights", "all numbers are weighted; figures show rows as they are"))
        if result.held_out.design.adjustment is not None:
            facts.append(("Assumes", result.held_out.design.adjustment.assumptions()))
    return facts


def _pvalue(result: TestResult) -> str:
    text = without_p(result.pvalue_text)
    value, comma, error = text.partition(", ")
    if text.startswith("≤"):
        return f"{value} (the smallest that {result.null_distribution.size:,} permutations give)"
    return f"{value} ({error})" if comma else value


def _null(result: TestResult) -> Markup | None:
    """Return the figure of the null distribution, where there is one."""
    if result.null_distribution.size == 0 or not draws():
        return None
    title, text = "Null distribution of the statistic", describe_null(result)
    return inline_svg(figures.page_null(result), "null", title, text)


def _marginals(data: PageData, result: TestResult) -> list[tuple[str, Markup]]:
    """Return name and figure of each column whose distribution is shown."""
    if not draws():
        return []
    columns = enumerate(zip(data.described, data.marginals, strict=True))
    return [(summary.name, _marginal(k, summary, m, result)) for k, (summary, m) in columns]


def _marginal(k: int, summary: ColumnSummary, marginal: Marginal, result: TestResult) -> Markup:
    title = f"{summary.name} in {result.labels[0]} and {result.labels[1]}"
    text = describe_marginal(summary, marginal, result.labels, rows_used(result))
    return inline_svg(figures.page_marginal(marginal), f"variable{k}", title, text)


# What the page shows of a scan: findings in words and figures, pairs, families, columns.


def _describe_scan(result: TestResult, data: PageData) -> dict[str, Any]:
    """Return all that the page shows of a scan, by the names of the template."""
    assert result.scan is not None
    findings = result.findings if result.reject else ()
    rows = [describe_finding(finding) for finding in findings[:MOST_ROWS]]
    drawn = group_findings(findings, MOST_EFFECTS)
    return {
        "difference": describe_difference(result),
        "gathered": describe_gathered(data.gathered),
        "rows": rows,
        "kinds": _count_kinds(rows),
        "n_findings": len(findings),
        "n_listed": len(rows),
        "effects": [
            (_titled(scale, shown, findings), _effects(k, scale, shown))
            for k, (scale, shown) in enumerate(drawn.items())
            if draws()
        ],
        "n_drawn": sum(map(len, drawn.values())),
        "pairs": [
            _pair(k, view, result)
            for k, view in enumerate(data.pairs)
            if draws() or isinstance(view, Crosstab)
        ],
        "maps": [_map(k, view, result) for k, view in enumerate(data.maps) if draws()],
        "n_pairs": sum(len(finding.variables) > 1 for finding in findings),
        "families": describe_families(result),
        "requested": describe_requested(result),
        "rows_per_bin": result.scan.rows_per_bin,
    }


def _count_kinds(rows: Sequence[Row]) -> list[tuple[str, int]]:
    """Return how many rows there are of each kind, in the order of the table of kinds."""
    counts = Counter(row.kind for row in rows)
    titles = dict.fromkeys(kind.words.title for kind in FINDING_KINDS.values())
    return [(title, counts[title]) for title in titles if counts[title]]


def _effects(k: int, scale: Scale, findings: Sequence[Finding]) -> Markup:
    """Return effects with their intervals; the page gives the scale and the colours."""
    text = "; ".join(finding.summary() for finding in findings)
    return inline_svg(figures.page_effects(scale, findings), f"effects{k}", scale.title, f"{text}.")


def _titled(scale: Scale, shown: Sequence[Finding], findings: Sequence[Finding]) -> str:
    every = len(group_findings(findings, len(findings)).get(scale, ()))
    more = f" ({len(shown)} of {every} are shown)" if every > len(shown) else ""
    return f"{scale.title}{more}"


def _pair(k: int, view: PairView, result: TestResult) -> dict[str, Any]:
    """Return two columns together: a figure, or the proportions of pairs of categories."""
    name = " and ".join(view.names) + (f", {view.where}" if view.where else "")
    # A triple is shown as two pairs: its change is described in the table, of all three.
    changes = [] if view.where else [f.change() for f in result.findings]
    change = next(
        (c for c, f in zip(changes, result.findings, strict=False) if f.variables == view.names), ""
    )
    pair = {"name": name, "change": change, "figure": None, "names": view.names}
    if isinstance(view, Crosstab):
        cells = [(a, b, percent(x), percent(y)) for a, b, x, y in view.cells]
        return pair | {"cells": cells, "left_out": view.n_cells - len(cells)}
    x, y = result.labels
    rows = (
        f"{len(view.x):,} of {view.n_rows[0]:,} rows of {x} on the left, "
        f"{len(view.y):,} of {view.n_rows[1]:,} rows of {y} on the right."
    )
    text = f"{change}. {rows}" if change else rows
    figure = inline_svg(figures.page_pair(view), f"pair{k}", f"{name} in {x} and {y}", text)
    return pair | {"figure": figure}


def _map(k: int, view: DensityMap, result: TestResult) -> tuple[str, Markup]:
    """Return the name of a map, and where each sample is denser."""
    name, (x, y) = " and ".join(view.names), result.labels
    text = "; ".join(
        f"{region.text}: {percent(region.values[0])} of {x}, {percent(region.values[1])} of {y}"
        for region in view.regions
    )
    title = f"Where {x} or {y} is denser"
    return name, inline_svg(figures.page_map(view), f"map{k}", title, f"{text}.")


# Selection frequencies in words: of the selected variables and of those selected instead.


def describe_stability(stability: Stability, rows: str = "the training rows") -> dict[str, Any]:
    """Put counts into words; `rows` are those the choice was made on."""
    made = stability.n_resamples
    counts = {
        name: {"name": name, "text": f"{count} of {made}", "share": count / made}
        for name, count in (stability.chosen | stability.others).items()
    }
    others = [counts[name] for name in stability.others]
    return {
        "method": _method(stability, rows),
        "outcome": _outcome(stability),
        "chosen": {name: counts[name] for name in stability.chosen},
        "others": others[:MOST_OTHERS],
        "left_out": max(len(others) - MOST_OTHERS, 0),
    }


def _method(stability: Stability, rows: str) -> str:
    x, y = stability.n_rows
    of = f"halves of {rows}" if stability.halves else f"draws from {rows}"
    return (
        f"The selection was repeated on {stability.n_resamples} random {of} ({x:,} and {y:,} rows "
        "each), with all settings and the number of variables unchanged."
    )


def _outcome(stability: Stability) -> str:
    made = stability.n_resamples
    (first, most), *rest = stability.chosen.items()
    if not rest:
        return f"{first} was selected in {_times(most, made)}."
    last, least = rest[-1]
    if least == most:
        return (
            f"Each of the {len(stability.chosen)} variables was selected in {_times(most, made)}."
        )
    return (
        f"Most often selected was {first}, in {_times(most, made)}; least often {last}, "
        f"in {_times(least, made)}."
    )


def _times(count: int, made: int) -> str:
    if count == made:
        return f"all {made} resamples" if made > 1 else "the one resample"
    return f"{count or 'none'} of {made} resamples"


def _is_adjusted(result: TestResult) -> bool:
    design = result.held_out.design
    return design is not None and design.adjustment is not None


def _draw_overlap(result: TestResult) -> Markup | None:
    """Return the figure of the propensities; None without covariates."""
    if not (_is_adjusted(result) and draws()):
        return None
    title = "Overlap of the covariates"
    about = "Histogram of the propensities of the rows of both samples."
    return inline_svg(figures.page_overlap(result), "overlap", title, about)


# Both samples in two dimensions: the figure and what it shows.


def _draw_view(embedding: Embedding, result: TestResult) -> dict[str, Any]:
    """Return the figure of an embedding, what its dimensions are, and where the rows lie."""
    dimensions, sides = describe_dimensions(embedding, result), describe_sides(embedding, result)
    title = f"{result.labels[0]} and {result.labels[1]} in two dimensions"
    figure = inline_svg(
        figures.page_embedding(embedding, result.labels),
        "plane",
        title,
        f"{dimensions} {sides}",
    )
    return {"figure": figure, "dimensions": dimensions, "sides": sides}


def describe_dimensions(embedding: Embedding, result: TestResult) -> str:
    """Return what the two dimensions are, and how many rows are shown."""
    size = result.selection.support.size
    far = f" Rows outside the frame: {embedding.outside}." if embedding.outside else ""
    rows = " and ".join(
        f"{len(places):,} of {n:,} rows of {label}"
        for places, n, label in zip(
            (embedding.x, embedding.y), result.n_test, result.labels, strict=True
        )
    )
    if embedding.method == "variables":
        axes = "the selected variable" if size == 1 else "the two selected variables"
        more = " The vertical position of a point has no meaning." if size == 1 else ""
        return f"{capitalised(rows)}, by {axes}.{more}{far}"
    share = percent(embedding.explained or 0.0)
    apart = " Points at the same place are jittered." if embedding.jittered else ""
    return (
        f"{capitalised(rows)}, in the plane that explains {share} of the variance of the "
        f"{size} selected variables (principal components; each variable is divided by its robust "
        f"SD and multiplied by its weight).{apart}{far}"
    )


def describe_sides(embedding: Embedding, result: TestResult) -> str:
    """Return how many rows of each sample lie where their own sample prevails."""
    x, y = result.labels
    at_home = embedding.own_side
    return (
        f"Of {len(embedding.x):,} rows of {x}, {at_home[0]:,} lie where {x} is denser; "
        f"of {len(embedding.y):,} rows of {y}, {at_home[1]:,} where {y} is."
    )


# Data, settings and versions, as pairs of a name and a text.


def _rows(result: TestResult) -> list[tuple[str, int, int, int]]:
    """Return per sample the rows of the selection, of the test, and those excluded."""
    selected_on = result.n_train
    if result.method is None and not any(selected_on):  # all rows select, and all rows test
        selected_on = result.n_test
    dropped = result.held_out.dropped_rows
    return list(zip(result.labels, selected_on, result.n_test, dropped, strict=True))


def _columns(result: TestResult) -> list[tuple[str, str]]:
    held_out = result.held_out
    categorical = held_out.kinds.count("categorical")
    kinds = f"{held_out.n_columns - categorical:,} numeric, {categorical:,} categorical"
    return [
        ("Columns compared", f"{held_out.n_columns:,} ({kinds})"),
        *_noted(held_out.notes),
        ("Constant (weight 0)", columns_text(result.selection.constant)),
        ("Excluded for missing values", columns_text(held_out.dropped_columns)),
        *_filled(held_out.filled_columns),
    ]


def _noted(notes: ColumnNotes) -> list[tuple[str, str]]:
    """Return which columns were excluded or split into parts."""
    rows = []
    if notes.naming_rows:
        naming = [f"{name} ({reason})" for name, reason in notes.naming_rows.items()]
        rows.append(("Excluded: appear to be identifiers", columns_text(naming)))
        rows.append(("To include them", notes.way_back))
    if notes.row_labels:
        labels = [name if name.strip() else UNNAMED for name in notes.row_labels]
        rows.append(("Excluded as row labels", columns_text(labels)))
    for where, names in notes.fixed.items():
        rows.append((f"Excluded: constant within {where}", columns_text(names)))
    if notes.unchosen:
        rows.append(("Excluded by the user", columns_text(notes.unchosen)))
    if notes.parts:
        parts = [f"{name} into {', '.join(some)}" for name, some in notes.parts.items()]
        rows.append(("Split into parts", columns_text(parts)))
    return rows


def _filled(columns: tuple[str, ...]) -> list[tuple[str, str]]:
    if not columns:
        return []
    how = "figures and kernels use the pooled median or the most frequent category instead"
    return [("With missing values", f"{columns_text(columns)}; {how}")]


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
