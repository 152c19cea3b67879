"""The page of a monitor: its verdict, evidence over the checks, and a table of them."""

from __future__ import annotations

from markupsafe import Markup

from tellapart.monitor.reference_monitor import ReferenceMonitor
from tellapart.monitor.settings import USUAL
from tellapart.report.figures import draw_history
from tellapart.report.svg import inline_svg
from tellapart.report.templates import render
from tellapart.results.result import write_arguments

MOST_CHECKS = 500
"""Checks in the table: the latest."""
MOST_FINDINGS = 6


def render_monitor(monitor: ReferenceMonitor, reproduce: str | None = None) -> str:
    """Return the page of a monitor, which needs nothing else; every text is escaped."""
    return render(
        "monitor.html.j2",
        style="groups.css",
        monitor=monitor,
        figure=_figure(monitor),
        checks=monitor.history[: -MOST_CHECKS - 1 : -1],
        most_findings=MOST_FINDINGS,
        facts=_facts(monitor),
        reproduce=_calls(monitor) if reproduce is None else reproduce,
    )


def _figure(monitor: ReferenceMonitor) -> Markup | None:
    if not monitor.history:
        return None
    title = "Evidence over the checks"
    return inline_svg(draw_history(monitor), "history", title, monitor.verdict)


def _facts(monitor: ReferenceMonitor) -> list[tuple[str, str]]:
    settings = monitor.settings
    compared_with = "the reference alone"
    if settings.n_checks is None:
        compared_with = "the reference and the batches since it, or since the last alarm"
    facts = [
        ("Reference", f"{monitor.n_rows:,} rows, {len(monitor.names):,} columns"),
        ("False alarms", monitor.promise),
        ("Compared with", compared_with),
        ("Level α", f"{settings.test.alpha:g}"),
        ("Permutations", f"{settings.test.n_permutations:,}, more where needed"),
        ("Seed", str(settings.seed)),
    ]
    if settings.smallest_effect is not None:
        facts.insert(4, ("Smallest effect of interest", str(settings.smallest_effect)))
    return facts


def _calls(monitor: ReferenceMonitor) -> str:
    given = write_arguments(monitor.settings.to_dict(), USUAL)
    return (
        "import tellapart as ta\n\n"
        f"monitor = ta.compare_to_reference(reference{given})\n"
        "for label, batch in batches:\n"
        "    monitor.check(batch, label=label)\n"
        'monitor.to_html("monitor.html")'
    )
