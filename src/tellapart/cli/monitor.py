"""`tellapart monitor`: batches against a reference, one run after another."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tellapart.arguments import with_checked
from tellapart.cli.files import (
    STANDARD_INPUT,
    check_outputs,
    files_of,
    is_several,
    read_input,
    title_of,
)
from tellapart.cli.options import (
    ARGUMENT_OF,
    Options,
    Permutations,
    Plot,
    SmallestEffects,
    effect_sizes,
    in_options,
    with_options,
)
from tellapart.errors import InputError, SchemaError
from tellapart.report.console import complain, say
from tellapart.text import safe
from tellapart.writing import locked

if TYPE_CHECKING:
    from tellapart.monitor.batch_monitor import BatchMonitor
    from tellapart.monitor.records import FailedBatch
    from tellapart.monitor.reference_monitor import ReferenceMonitor
    from tellapart.monitor.settings import MonitorSettings

    AnyMonitor = ReferenceMonitor | BatchMonitor

ALARM, BAD_INPUT, SCHEMA_CHANGE = 1, 2, 5
"""Exit statuses: an alarm with --fail-on-alarm, bad input, a batch with other columns."""

EXAMPLES = """\
Examples:

tellapart monitor reference.csv today.csv --state monitor.json --fail-on-alarm

tellapart monitor "days/2026-0[1-3]-*.parquet" days/2026-04-01.parquet --batches-by-file

tellapart monitor reference.parquet batches/*.parquet --state monitor.json --report monitor.html

tellapart monitor reference.csv mon.csv tue.csv --batches day --smallest-effect location=0.2

Exit status: 0 no alarm; 1 an alarm, with --fail-on-alarm; 2 bad input (a batch that cannot be
read is named, recorded, and the others are checked); 5 the columns of a batch are not those of the
reference. Of several, the first of 1, 5, 2.
"""


@with_options()
def monitor(
    context: typer.Context,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="REFERENCE", help="File, folder or pattern that batches are compared with."
        ),
    ],
    batch_files: Annotated[
        list[str],
        typer.Argument(
            metavar="BATCH…",
            help="Files, folders or patterns to check, in this order; - for stdin.",
        ),
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
    batches: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The reference consists of batches, named by this column, and batches, not rows, "
            "are the units: for batches that vary by themselves.",
        ),
    ] = None,
    batches_by_file: Annotated[
        bool,
        typer.Option(
            "--batches-by-file", help="The same, each file of the reference being a batch."
        ),
    ] = False,
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
    smallest_effect: SmallestEffects = None,
    thresholds: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE|COLUMN=SIZE,…",
            help="Mark scores of columns from this size on, in SD; they raise no alarm.",
        ),
    ] = None,
    permutations: Permutations = 999,
    plot: Plot = None,
    prometheus: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Write the last check as metrics for Prometheus (.prom)."
        ),
    ] = None,
    *,
    options: Options,
) -> None:
    """Check batches against a reference, with false alarms controlled over all checks."""
    # Shells ask for completions and people for help: neither waits for Numba to load.
    from tellapart.data.design_labels import GIVEN
    from tellapart.monitor.settings import MonitorSettings
    from tellapart.two_sample.settings import TestSettings

    outputs = check_outputs(
        state=state,
        json=options.json,
        plot=plot,
        report=options.report,
        prometheus=prometheus,
        inputs=files_of(reference, *batch_files),
        quiet=options.quiet,
    )
    paths = _expanded(batch_files)
    labels = _labels(paths, label)
    if [reference, *paths].count(STANDARD_INPUT) > 1:
        raise InputError("monitor can read one file from standard input, not more")
    if batches is not None and batches_by_file:
        raise InputError("--batches and --batches-by-file must not be given together")
    settings = MonitorSettings(
        test=TestSettings(**options.settings, alpha=alpha, n_permutations=permutations),
        n_checks=checks,
        run_length=run_length,
        smallest_effect=(
            None if smallest_effect is None else effect_sizes("smallest_effect", smallest_effect)
        ),
        thresholds=None if thresholds is None else effect_sizes("thresholds", thresholds),
        batches=GIVEN if batches_by_file else batches,
        missing=options.missing,
    )
    given = {
        ARGUMENT_OF.get(option, option)
        for option in context.params
        if getattr(context.get_parameter_source(option), "name", "") == "COMMANDLINE"
    }
    if batches_by_file:
        given.add("batches")
    table, files = _read_reference(reference, options, needed=(batches,) if batches else ())
    settings = with_checked(settings, keep=options.kept(table))
    with _lock(state, options.quiet):
        monitor = _begin(table, state, settings, given & settings.to_dict().keys(), files)
        checked_before = len(monitor.history)
        failed: list[FailedBatch] = []
        for path, name in zip(paths, labels, strict=True):
            try:
                batch = _read_batch(path, options)
                earlier = monitor.seen_before(batch)
                if earlier is None:
                    monitor.check(batch, label=name, progress=outputs.progress)
                    line = monitor.summary_of(monitor.history[-1])
                else:
                    line = f"{name}: checked before, as check {earlier.number} ({earlier.label})"
            except InputError as error:
                if len(monitor.history) == monitor.settings.n_checks:
                    raise  # the plan has ended, whatever the batch
                earlier, line = None, ""
                failed.append(monitor.record_failure(name, error))
                complain(f"error: {name}: not checked: {in_options(str(error))}")
            # Shown first: a state that cannot be written must not hide the answer.
            if outputs.show and line:
                say(line)
            if earlier is None and state is not None:
                monitor.save(state)
    if outputs.show:
        say(f"{monitor.verdict} {monitor.promise}")
    outputs.write(monitor, options.repeated(context.obj, monitor.settings.seed))
    if fail_on_alarm and any(record.alarm for record in monitor.history[checked_before:]):
        raise typer.Exit(ALARM)
    if failed:
        raise typer.Exit(SCHEMA_CHANGE if "schema" in {f.reason for f in failed} else BAD_INPUT)


def _read_batch(path: str, options: Options) -> Any:
    """Return the chosen columns of a batch; columns that it lacks are a change of the schema."""
    table = read_input(path, options.form)
    try:
        return options.chosen(table)[0][0]
    except InputError as error:
        raise SchemaError(error) from None


def _expanded(paths: Sequence[str]) -> list[str]:
    """Return the files to check: those of folders and patterns in the order of their names."""
    return [
        str(file) for path in paths for file in (files_of(path) if is_several(path) else [path])
    ]


def _read_reference(path: str, options: Options, needed: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the reference, the files of a folder or pattern stacked, and the file of each row."""
    if not is_several(path):
        (table,), _ = options.chosen(read_input(path, options.form), needed=needed)
        return table, [title_of(path)] * _count_rows(table)
    import pyarrow as pa

    paths = [str(file) for file in files_of(path)]
    tables = options.chosen(*(read_input(one, options.form) for one in paths), needed=needed)[0]
    try:
        joined = pa.concat_tables(tables, promote_options="permissive")
    except (TypeError, AttributeError, pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"REFERENCE must be files with the same columns; got {error}") from None
    names = set(tables[0].column_names)
    for one, file in zip(tables, paths, strict=True):
        if set(one.column_names) != names:
            raise InputError(
                f"REFERENCE must be files with the same columns; got others in {file!r} than in "
                f"{paths[0]!r}"
            )
    rows = zip(tables, paths, strict=True)
    return joined, [file for one, file in rows for _ in range(one.num_rows)]


def _count_rows(table: Any) -> int:
    return int(getattr(table, "num_rows", 0) or getattr(table, "n_obs", 0))


def _lock(state: str | None, quiet: bool) -> AbstractContextManager[None]:
    """Wait for other runs with the same state: each continues after the checks of the others."""
    if state is None:
        return nullcontext()
    message = f"waiting for another run that uses {safe(state)}"
    return locked("--state", state, None if quiet else partial(complain, message))


def _begin(
    table: Any,
    state: str | None,
    settings: MonitorSettings,
    given: set[str],
    files: Sequence[str],
) -> AnyMonitor:
    """Return a new monitor, or the stored one if the given options agree with its settings."""
    from tellapart.monitor.compare_to_reference import load_monitor, make_monitor

    if state is None or not os.path.exists(state):
        return make_monitor(table, settings, files)
    try:
        stored = load_monitor(state, table, batches=files, n_jobs=settings.test.n_jobs)
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
