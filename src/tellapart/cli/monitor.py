"""`tellapart monitor`: batches against a reference, one run after another."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tellapart.arguments import with_checked
from tellapart.cli.files import STANDARD_INPUT, check_outputs, files_of, read_input, title_of
from tellapart.cli.options import ARGUMENT_OF, Options, Permutations, Plot, with_options
from tellapart.errors import InputError
from tellapart.report.console import complain, say
from tellapart.text import safe
from tellapart.writing import locked

if TYPE_CHECKING:
    from tellapart.monitor.reference_monitor import ReferenceMonitor
    from tellapart.monitor.settings import MonitorSettings

ALARM = 1
"""Exit status of an alarm with --fail-on-alarm."""

EXAMPLES = """\
Examples:

tellapart monitor reference.csv today.csv --state monitor.json --fail-on-alarm

tellapart monitor reference.parquet batches/*.parquet --state monitor.json --report monitor.html

tellapart monitor reference.csv mon.csv tue.csv --checks 30 --smallest-effect 0.1
"""


@with_options()
def monitor(
    context: typer.Context,
    reference: Annotated[
        str, typer.Argument(metavar="REFERENCE", help="File that batches are compared with.")
    ],
    batches: Annotated[
        list[str],
        typer.Argument(metavar="BATCH…", help="Files to check, in this order; - for stdin."),
    ],
    state: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="JSON file with the state, rewritten after every check; created if absent. "
            "Batches that are in it already are skipped.",
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="Label of a batch, one for each; by default the file's name."),
    ] = None,
    fail_on_alarm: Annotated[
        bool, typer.Option("--fail-on-alarm", help="Exit with status 1 if there was an alarm.")
    ] = False,
    alpha: Annotated[float, typer.Option(help="Probability of any false alarm, ever.")] = 0.05,
    run_length: Annotated[
        float | None,
        typer.Option(help="Instead of alpha: the smallest mean number of checks to a false alarm."),
    ] = None,
    checks: Annotated[
        int | None, typer.Option(help="Plan this many checks, against the reference alone.")
    ] = None,
    smallest_effect: Annotated[
        float | None,
        typer.Option(help="Smallest effect of interest: SD, proportions, correlations."),
    ] = None,
    permutations: Permutations = 999,
    plot: Plot = None,
    *,
    options: Options,
) -> None:
    """Check batches against a reference, with false alarms controlled over all checks."""
    # Shells ask for completions and people for help: neither waits for Numba to load.
    from tellapart.monitor.settings import MonitorSettings
    from tellapart.two_sample.settings import TestSettings

    outputs = check_outputs(
        state=state,
        json=options.json,
        plot=plot,
        report=options.report,
        inputs=files_of(reference, *batches),
        quiet=options.quiet,
    )
    labels = _labels(batches, label)
    if [reference, *batches].count(STANDARD_INPUT) > 1:
        raise InputError("monitor can read one file from standard input, not more")
    settings = MonitorSettings(
        test=TestSettings(**options.settings, alpha=alpha, n_permutations=permutations),
        n_checks=checks,
        run_length=run_length,
        smallest_effect=smallest_effect,
        missing=options.missing,
    )
    given = {
        ARGUMENT_OF.get(option, option)
        for option in context.params
        if getattr(context.get_parameter_source(option), "name", "") == "COMMANDLINE"
    }
    (table,), _ = options.chosen(read_input(reference, options.form))
    settings = with_checked(settings, keep=options.kept(table))
    with _lock(state, options.quiet):
        monitor = _begin(table, state, settings, given & settings.to_dict().keys())
        checked_before = len(monitor.history)
        for path, name in zip(batches, labels, strict=True):
            (batch,), _ = options.chosen(read_input(path, options.form))
            earlier = monitor.seen_before(batch)
            if earlier is None:
                monitor.check(batch, label=name, progress=outputs.progress)
                line = monitor.summary_of(monitor.history[-1])
            else:
                line = f"{name}: checked before, as check {earlier.number} ({earlier.label})"
            # Shown first: a state that cannot be written must not hide the answer.
            if outputs.show:
                say(line)
            if earlier is None and state is not None:
                monitor.save(state)
    if outputs.show:
        say(f"{monitor.verdict} {monitor.promise}")
    outputs.write(monitor, options.repeated(context.obj, monitor.settings.seed))
    if fail_on_alarm and any(record.alarm for record in monitor.history[checked_before:]):
        raise typer.Exit(ALARM)


def _lock(state: str | None, quiet: bool) -> AbstractContextManager[None]:
    """Wait for other runs with the same state: each continues after the checks of the others."""
    if state is None:
        return nullcontext()
    message = f"waiting for another run that uses {safe(state)}"
    return locked("--state", state, None if quiet else partial(complain, message))


def _begin(
    table: Any, state: str | None, settings: MonitorSettings, given: set[str]
) -> ReferenceMonitor:
    """Return a new monitor, or the stored one if the given options agree with its settings."""
    from tellapart.monitor.compare_to_reference import load_monitor
    from tellapart.monitor.reference_monitor import ReferenceMonitor

    if state is None or not os.path.exists(state):
        return ReferenceMonitor(table, settings)
    try:
        stored = load_monitor(state, table, n_jobs=settings.test.n_jobs)
    except InputError as error:
        raise InputError(str(error).replace("path must be", "--state must be", 1)) from None
    now, then = settings.to_dict(), stored.settings.to_dict()
    for name in sorted(given):
        if now[name] != then[name]:
            raise InputError(
                f"{name} must be what {safe(state)} was made with, {then[name]!r}; got "
                f"{now[name]!r}: leave it out, or start a new state"
            )
    return stored


def _labels(batches: list[str], given: list[str] | None) -> list[str]:
    if not given:
        return [title_of(path) for path in batches]
    if len(given) != len(batches):
        raise InputError(
            f"--label must be given once for each batch, {len(batches)} in all; got {len(given)}"
        )
    return given
