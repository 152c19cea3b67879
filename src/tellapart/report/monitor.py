"""The page of a monitor: its verdict, evidence over the checks, and a table of them."""

from __future__ import annotations

from markupsafe import Markup

from tellapart.data.design_labels import GIVEN
from tellapart.monitor.sequence import MonitoredSequence
from tellapart.monitor.settings import USUAL
from tellapart.report.svg import draws, figures, inline_svg
from tellapart.report.templates import render
from tellapart.results.result import write_arguments

MOST_CHECKS = 500
"""Checks in the table: the latest."""
MOST_FINDINGS = 6


def render_monitor(monitor: MonitoredSequence, reproduce: str | None = None) -> str:
    """Return the page of a monitor, which needs nothing else; every text is escaped."""
    return render(
        "monitor.html.j2",
        style="groups.css",
        monitor=monitor,
        figure=_figure(monitor),
        chart=_chart(monitor),
        failures=monitor.failures[: -MOST_CHECKS - 1 : -1],
        checks=monitor.history[: -MOST_CHECKS - 1 : -1],
        most_findings=MOST_FINDINGS,
        facts=_facts(monitor),
        reproduce=_calls(monitor) if reproduce is None else reproduce,
    )


def _figure(monitor: MonitoredSequence) -> Markup | None:
    if not (monitor.history and draws()):
        return None
    title = "Evidence over the checks"
    return inline_svg(figures.draw_history(monitor), "history", title, monitor.verdict)


def _chart(monitor: MonitoredSequence) -> Markup | None:
    if not (any(record.scores for record in monitor.history) and draws()):
        return None
    title = "Columns and batches"
    return inline_svg(figures.draw_scores(monitor.history), "scores", title, "Differences in SD")


def _facts(monitor: MonitoredSequence) -> list[tuple[str, str]]:
    settings = monitor.settings
    compared_with = "the reference alone"
    if settings.batches is not None:
        compared_with = "the batches of the reference"
        if settings.n_checks is None:
            compared_with += " and those since it, or since the last alarm"
    elif settings.n_checks is None:
        compared_with = "the reference and the batches since it, or since the last alarm"
    facts = [
        ("Reference", f"{monitor.n_rows:,} rows, {len(monitor.names):,} columns"),
        ("False alarms", monitor.promise),
        ("Compared with", compared_with),
        ("Level α", f"{settings.test.alpha:g}"),
    ]
    if settings.sizes is not None:
        facts.append(("Smallest effect of interest", settings.sizes.describe()))
    if settings.thresholds is not None:
        facts.append(("Thresholds of scores, in SD", str(settings.thresholds)))
    if settings.batches is None:
        permutations = f"{settings.test.n_permutations:,}, more where needed"
        facts.append(("Permutations", permutations))
    return [*facts, ("Seed", str(settings.seed))]


def _calls(monitor: MonitoredSequence) -> str:
    settings = monitor.settings.to_dict()
    labels = "" if settings["batches"] != GIVEN else ", batches=batch_of_each_row"
    settings["batches"] = None if labels else settings["batches"]
    given = write_arguments(settings, USUAL) + labels
    return (
        "import tellapart as ta\n\n"
        f"monitor = ta.compare_to_reference(reference{given})\n"
        "for label, batch in batches:\n"
        "    monitor.check(batch, label=label)\n"
        'monitor.to_html("monitor.html")'
    )
