"""The page of a test result: what was computed put into words, laid out by `page.html.j2`."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from markupsafe import Markup

from tellapart import __version__
from tellapart.data.column_notes import UNNAMED, ColumnNotes
from tellapart.report.figures import effects_svg, embedding_svg, marginal_svg, null_svg, scatter_svg
from tellapart.report.templates import get_template
from tellapart.report.words import (
    ColumnGroup,
    Family,
    Row,
    describe_bandwidth,
    describe_choices,
    describe_columns,
    describe_difference,
    describe_families,
    describe_finding,
    describe_marginal,
    describe_null,
    describe_proof,
    describe_validity,
    describe_variables,
    group_findings,
    listed,
    number,
    percent,
    rows_used,
)
from tellapart.results.columns import Crosstab, PairView
from tellapart.results.embedding import Embedding
from tellapart.results.figure_data import Exhibit, described_columns
from tellapart.results.result import TestResult, design_arguments, write_arguments
from tellapart.results.story import NOT_EQUIVALENT, SELECTION_BIAS, describe_selection
from tellapart.scan.finding import Finding
from tellapart.scan.finding_kinds import FINDING_KINDS, Scale
from tellapart.selection.stability import Stability
from tellapart.two_sample.settings import TestSettings

# What the page shows of a scan: findings in words and figures, pairs, families, columns.


FIRST_ROWS = 25
"""Findings of the table that is not folded."""
MOST_ROWS = 10_000
"""Findings of all folded tables together."""
MOST_EFFECTS = 25
"""Findings that the figures show."""


@dataclass(frozen=True)
class Pair:
    """Two columns together: a figure, or the shares of pairs of categories in words."""

    name: str
    change: str
    figure: Markup | None
    names: tuple[str, str]
    cells: tuple[tuple[str, str, str, str], ...]
    left_out: int


@dataclass(frozen=True)
class ScanView:
    """All that the page shows of a scan, ready to lay out."""

    difference: str
    rows: list[Row]
    by_kind: list[tuple[str, list[Row]]]
    n_findings: int
    n_listed: int
    effects: list[tuple[str, Markup]]
    n_drawn: int
    pairs: list[Pair]
    n_pairs: int
    families: list[Family]
    columns: list[ColumnGroup]
    rows_per_bin: int


def describe_scan(result: TestResult, exhibit: Exhibit) -> ScanView | None:
    """Put a scan into words and figures; None for other tests."""
    scan = result.scan
    if scan is None:
        return None
    findings = result.findings if result.reject else ()
    listed = [describe_finding(finding) for finding in findings[:MOST_ROWS]]
    drawn = group_findings(findings, MOST_EFFECTS)
    return ScanView(
        difference=describe_difference(result),
        rows=listed[:FIRST_ROWS],
        by_kind=_by_kind(listed) if len(listed) > FIRST_ROWS else [],
        n_findings=len(findings),
        n_listed=len(listed),
        effects=[
            (_titled(scale, own, findings), _effects(place, scale, own))
            for place, (scale, own) in enumerate(drawn.items())
        ],
        n_drawn=sum(map(len, drawn.values())),
        pairs=[_pair(place, view, result) for place, view in enumerate(exhibit.pairs)],
        n_pairs=sum(len(finding.variables) > 1 for finding in findings),
        families=describe_families(result),
        columns=describe_columns(result),
        rows_per_bin=scan.rows_per_bin,
    )


def _by_kind(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Return the rows of each kind, in the order of the table of kinds."""
    titles = [kind.words.title for kind in FINDING_KINDS.values()]
    groups = {title: [row for row in rows if row.kind == title] for title in titles}
    return [(title, members) for title, members in groups.items() if members]


def _effects(place: int, scale: Scale, findings: Sequence[Finding]) -> Markup:
    said = "; ".join(finding.summary() for finding in findings)
    return effects_svg(scale, findings, f"effects{place}", scale.title, f"{said}.")


def _titled(scale: Scale, shown: Sequence[Finding], findings: Sequence[Finding]) -> str:
    every = len(group_findings(findings, len(findings)).get(scale, ()))
    more = f" ({len(shown)} of {every} are shown)" if every > len(shown) else ""
    return f"{scale.title}{more}"


def _pair(place: int, view: PairView, result: TestResult) -> Pair:
    name = " and ".join(view.names)
    if view.where:
        name = f"{name}, {view.where}"
    # A triple is shown as two pairs: what changed is said of the three, in the table.
    change = next((f.change() for f in result.findings if f.variables == view.names), "")
    if view.where:
        change = ""
    if isinstance(view, Crosstab):
        cells = tuple((a, b, percent(x), percent(y)) for a, b, x, y in view.cells)
        return Pair(name, change, None, view.names, cells, view.n_cells - len(cells))
    x, y = result.labels
    shown = (
        f"{len(view.x):,} of {view.n_rows[0]:,} rows of {x} on the left, "
        f"{len(view.y):,} of {view.n_rows[1]:,} rows of {y} on the right."
    )
    said = f"{change}. {shown}" if change else shown
    figure = scatter_svg(view, f"pair{place}", f"{name} in {x} and {y}", said)
    return Pair(name, change, figure, view.names, (), 0)


# Selection frequencies in words: of the selected variables and of those selected instead.


MOST_OTHERS = 8


@dataclass(frozen=True)
class Count:
    """One variable, how often it was selected in words, and as a proportion."""

    name: str
    text: str
    share: float


@dataclass(frozen=True)
class Resamples:
    """The counts of the selected variables and of others, and how they were made."""

    method: str
    found: str
    chosen: dict[str, Count]
    others: list[Count]
    left_out: int


def describe_stability(stability: Stability, rows: str = "the training rows") -> Resamples:
    """Put counts into words; `rows` are those the choice was made on."""
    made = stability.n_resamples
    counts = {
        name: Count(name, f"{count} of {made}", count / made)
        for name, count in (stability.chosen | stability.others).items()
    }
    others = [counts[name] for name in stability.others]
    return Resamples(
        method=_method(stability, rows),
        found=_found(stability),
        chosen={name: counts[name] for name in stability.chosen},
        others=others[:MOST_OTHERS],
        left_out=max(len(others) - MOST_OTHERS, 0),
    )


def _method(stability: Stability, rows: str) -> str:
    x, y = stability.n_rows
    of = f"halves of {rows}" if stability.halves else f"draws from {rows}"
    return (
        f"The selection was repeated on {stability.n_resamples} random {of} ({x:,} and {y:,} rows "
        "each), with all settings and the number of variables unchanged."
    )


def _found(stability: Stability) -> str:
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


# The report's view of both samples in two dimensions: the figure and what it says.


@dataclass(frozen=True)
class View:
    """The figure, what its two dimensions are, and on which side of the witness the rows lie."""

    figure: Markup
    dimensions: str
    sides: str


def draw_view(embedding: Embedding, result: TestResult) -> View:
    """Return the view of an embedding, drawn and in words."""
    dimensions, sides = describe_dimensions(embedding, result), describe_sides(embedding, result)
    title = f"{result.labels[0]} and {result.labels[1]} in two dimensions"
    figure = embedding_svg(embedding, result.labels, title, f"{dimensions} {sides}")
    return View(figure, dimensions, sides)


def describe_dimensions(embedding: Embedding, result: TestResult) -> str:
    """Say what the two dimensions are, and how many rows are shown."""
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
        return f"{rows[0].upper()}{rows[1:]}, by {axes}.{more}{far}"
    share = percent(embedding.explained or 0.0)
    apart = " Points at the same place are jittered." if embedding.jittered else ""
    return (
        f"{rows[0].upper()}{rows[1:]}, in the plane that explains {share} of the variance of the "
        f"{size} selected variables (principal components; each variable is divided by its robust "
        f"SD and multiplied by its weight).{apart}{far}"
    )


def describe_sides(embedding: Embedding, result: TestResult) -> str:
    """Say how many rows of each sample lie where their own sample prevails."""
    x, y = result.labels
    own_x, own_y = embedding.own_side
    return (
        f"Of {len(embedding.x):,} rows of {x}, {own_x:,} lie where {x} is denser; "
        f"of {len(embedding.y):,} rows of {y}, {own_y:,} where {y} is."
    )


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
