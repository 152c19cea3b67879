"""The page of a monitor: the answer so far, its figure, and every check in a table."""

from __future__ import annotations

from markupsafe import Markup

from tellapart import __version__
from tellapart.report.figures import inline_svg
from tellapart.report.monitor_plots import draw_history
from tellapart.report.templates import get_template
from tellapart.testing.call import write_arguments
from tellapart.testing.monitor_history import MonitorHistory
from tellapart.testing.monitor_settings import USUAL

MOST_CHECKS = 500
"""Checks in the table: the latest."""
MOST_FINDINGS = 6


def render_monitor(monitor: MonitorHistory, reproduce: str | None = None) -> str:
    """Return the page of a monitor, which needs nothing else; every text is escaped."""
    return get_template("monitor.html.j2").render(
        monitor=monitor,
        figure=_figure(monitor),
        checks=monitor.history[: -MOST_CHECKS - 1 : -1],
        most_findings=MOST_FINDINGS,
        facts=_facts(monitor),
        version=__version__,
        reproduce=_calls(monitor) if reproduce is None else reproduce,
    )


def _figure(monitor: MonitorHistory) -> Markup | None:
    if not monitor.history:
        return None
    title = "Evidence over the checks"
    return inline_svg(draw_history(monitor), "history", title, monitor.verdict)


def _facts(monitor: MonitorHistory) -> list[tuple[str, str]]:
    settings = monitor.settings
    facts = [
        ("Reference", f"{monitor.n_rows:,} rows, {len(monitor.names):,} columns"),
        ("False alarms", monitor.promise),
        ("Compared with", _compared(monitor)),
        ("Level α", f"{settings.test.alpha:g}"),
        ("Permutations", f"{settings.test.n_permutations:,}, more where needed"),
        ("Seed", str(settings.seed)),
    ]
    if settings.smallest_effect is not None:
        facts.insert(4, ("Smallest effect of interest", str(settings.smallest_effect)))
    return facts


def _compared(monitor: MonitorHistory) -> str:
    if monitor.settings.n_checks is not None:
        return "the reference alone"
    return "the reference and the batches since it, or since the last alarm"


def _calls(monitor: MonitorHistory) -> str:
    given = write_arguments(monitor.settings.to_dict(), USUAL)
    return (
        "import tellapart as ta\n\n"
        f"monitor = ta.compare_to_reference(reference{given})\n"
        "for label, batch in batches:\n"
        "    monitor.check(batch, label=label)\n"
        'monitor.to_html("monitor.html")'
    )
