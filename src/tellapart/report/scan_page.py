"""What the page shows of a scan: findings in words and figures, pairs, families, columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tellapart.report.figures import columns_svg, effects_svg, scatter_svg
from tellapart.report.findings import (
    Family,
    Row,
    Scale,
    describe_families,
    describe_finding,
    group_findings,
    pick_findings,
    tell_story,
)
from tellapart.report.words import percent
from tellapart.scan.finding import Finding
from tellapart.testing.exhibit import Exhibit
from tellapart.testing.pairs import Crosstab, PairView
from tellapart.testing.result import TestResult

MOST_ROWS = 25
MOST_EFFECTS = 24


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
    """All that the page tells of a scan, ready to lay out."""

    story: str
    rows: list[Row]
    n_findings: int
    effects: list[tuple[str, Markup]]
    pairs: list[Pair]
    n_pairs: int
    families: list[Family]
    columns: Markup | None
    rows_per_bin: int


def describe_scan(result: TestResult, exhibit: Exhibit) -> ScanView | None:
    """Put a scan into words and figures; None for other tests."""
    scan = result.scan
    if scan is None:
        return None
    findings = result.findings if result.reject else ()
    columns = None
    if findings:
        columns = columns_svg(result, "Adjusted p-values of columns", _describe_columns(result))
    return ScanView(
        story=tell_story(result),
        rows=[describe_finding(finding) for finding in pick_findings(findings, MOST_ROWS)],
        n_findings=len(findings),
        effects=[
            (_titled(scale, own, findings), _effects(place, scale, own))
            for place, (scale, own) in enumerate(group_findings(findings, MOST_EFFECTS).items())
        ],
        pairs=[_pair(place, view, result) for place, view in enumerate(exhibit.pairs)],
        n_pairs=sum(len(finding.variables) > 1 for finding in findings),
        families=describe_families(result),
        columns=columns,
        rows_per_bin=scan.rows_per_bin,
    )


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


def _describe_columns(result: TestResult) -> str:
    pvalues = result.variable_pvalues
    below = [name for name, p in pvalues.items() if p <= result.alpha]
    return (
        f"Bars of the adjusted p-values, the surest columns first. Of {len(pvalues):,} columns, "
        f"{len(below):,} {'reaches' if len(below) == 1 else 'reach'} the level {result.alpha:g}."
    )
