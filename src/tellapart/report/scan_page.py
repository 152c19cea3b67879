"""What the page shows of a scan: findings in words and figures, pairs, families, columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tellapart.report.figures import effects_svg, scatter_svg
from tellapart.report.findings import (
    ColumnGroup,
    Family,
    Row,
    describe_columns,
    describe_difference,
    describe_families,
    describe_finding,
    group_findings,
)
from tellapart.report.words import percent
from tellapart.scan.finding import FINDING_KINDS, Finding, Scale
from tellapart.testing.exhibit import Exhibit
from tellapart.testing.pairs import Crosstab, PairView
from tellapart.testing.result import TestResult

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
    titles = [kind.title for kind in FINDING_KINDS.values()]
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
