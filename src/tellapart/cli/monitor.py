"""`tellapart monitor`: batches against a reference, from night to night."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tellapart.cli.files import STANDARD_INPUT, check_outputs, files_of, read_input, title_of
from tellapart.cli.options import Options, with_options
from tellapart.errors import InputError
from tellapart.report.console import complain, say
from tellapart.text import safe
from tellapart.writing import check_targets, check_writable, locked

if TYPE_CHECKING:
    from tellapart.monitor.reference_monitor import ReferenceMonitor
    from tellapart.monitor.settings import MonitorSettings

ALARM = 1
"""Exit status where an alarm was raised and --fail-on-alarm asks for it."""

EXAMPLES = """\
Examples:

tellapart monitor reference.csv today.csv --state monitor.json --fail-on-alarm

tellapart monitor reference.parquet batches/*.parquet --state monitor.json --report monitor.html

tellapart monitor reference.csv mon.csv tue.csv --checks 30 --smallest-effect 0.1
"""

# The setting behind each option that decides answers.
SETTING_OF = {
    "alpha": "alpha",
    "permutations": "n_permutations",
    "checks": "n_checks",
    "run_length": "run_length",
    "smallest_effect": "smallest_effect",
    "method": "method",
    "variables": "n_variables",
    "kernel": "kernel",
    "regularization": "regularization",
    "solver": "solver",
    "test_size": "test_size",
    "seed": "random_state",
    "missing": "missing",
    "keep": "keep",
    "time_limit": "time_limit",
    "memory_budget": "memory_budget",
}


@with_options
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
        typer.Option(help="Instead of alpha: the least mean number of checks to a false alarm."),
    ] = None,
    checks: Annotated[
        int | None, typer.Option(help="Plan this many checks, against the reference alone.")
    ] = None,
    smallest_effect: Annotated[
        float | None,
        typer.Option(help="Smallest effect of interest: SD, proportions, correlations."),
    ] = None,
    permutations: Annotated[int, typer.Option(help="Number of permutations.")] = 999,
    plot: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write a figure (.png, .pdf or .svg).")
    ] = None,
    *,
    options: Options,
) -> None:
    """Check batches against a reference, with false alarms controlled over all checks."""
    # Shells ask for completions and people for help: neither waits for Numba to load.
    from tellapart.monitor.settings import MonitorSettings
    from tellapart.two_sample.settings import TestSettings

    inputs = files_of(reference, *batches)
    outputs = check_outputs(options.json, plot, options.report, inputs=inputs, quiet=options.quiet)
    _check_state(
        state, {"--json": options.json, "--plot": plot, "--report": options.report}, inputs
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
        setting
        for option, setting in SETTING_OF.items()
        if getattr(context.get_parameter_source(option), "name", "") == "COMMANDLINE"
    }
    (table,), _ = options.chosen(read_input(reference, options.form))
    settings = replace(settings, keep=options.kept(table))
    with _alone_with(state, options.quiet):
        watching = _begin(table, state, settings, given)
        before = len(watching.history)
        for path, name in zip(batches, labels, strict=True):
            (batch,), _ = options.chosen(read_input(path, options.form))
            known = watching.seen_before(batch)
            if known is not None:
                checked = f"checked before, as check {known.number} ({known.label})"
                _tell(outputs.show, f"{name}: {checked}")
                continue
            watching.check(batch, label=name, progress=outputs.progress)
            _tell(outputs.show, watching.summary_of(watching.history[-1]))
            if state is not None:
                watching.save(state)
    _tell(outputs.show, f"{watching.verdict} {watching.promise}")
    outputs.draw(watching)
    outputs.write(watching, options.repeated(context.obj, watching.settings.seed))
    if fail_on_alarm and any(record.alarm for record in watching.history[before:]):
        raise typer.Exit(ALARM)


def _alone_with(state: str | None, quiet: bool) -> AbstractContextManager[None]:
    """Wait for other runs on a state: each goes on from the checks of the one before."""
    if state is None:
        return nullcontext()
    message = f"waiting for another run that uses {safe(state)}"
    return locked("--state", state, None if quiet else partial(complain, message))


def _begin(
    table: Any, state: str | None, settings: MonitorSettings, given: set[str]
) -> ReferenceMonitor:
    """Return a new monitor, or the one that is stored, if options agree with how it was made."""
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
                f"{now[name]!r}: leave it out, or begin another state"
            )
    return stored


def _check_state(
    state: str | None, targets: dict[str, str | None], inputs: list[str | int]
) -> None:
    """Refuse, before any work is done, a state that cannot be written or is another file."""
    if state is None:
        return
    if state == STANDARD_INPUT:
        raise InputError("--state must be the path of a file; only --json takes '-'")
    check_writable("--state", state)
    files = {name: None if path == "-" else path for name, path in targets.items()}
    check_targets({"--state": state, **files}, inputs)


def _labels(batches: list[str], given: list[str] | None) -> list[str]:
    if not given:
        return [title_of(path) for path in batches]
    if len(given) != len(batches):
        raise InputError(
            f"--label must be given once for each batch, {len(batches)} in all; got {len(given)}"
        )
    return given


def _tell(show: bool, text: str) -> None:
    if show:
        say(text)
