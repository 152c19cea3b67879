"""`tellapart plan`: how many rows a study needs, from the two files of a pilot."""

from __future__ import annotations

from typing import Annotated

import typer

from tellapart.cli.files import STANDARD_INPUT, check_outputs, files_of, read_input
from tellapart.cli.options import Options, Plot, with_options
from tellapart.errors import InputError
from tellapart.report.console import say

EXAMPLES = """\
Examples:

tellapart plan pilot_treated.csv pilot_control.csv --power 0.9

tellapart plan january.parquet february.parquet --ratio 2 --plot power.png --json plan.json
"""


@with_options("seed", "columns", "drop", "keep", "form", "json", "quiet", "jobs")
def plan(
    a: Annotated[
        str, typer.Argument(metavar="A", help="File of the pilot's first sample; - for stdin.")
    ],
    b: Annotated[
        str, typer.Argument(metavar="B", help="File of the pilot's second sample; - for stdin.")
    ],
    power: Annotated[float, typer.Option(help="Power to reach.")] = 0.8,
    alpha: Annotated[float, typer.Option(help="Level α of the planned test.")] = 0.05,
    target: Annotated[
        str,
        typer.Option(
            help="What has that power: test (it rejects) or named (a column is a finding)."
        ),
    ] = "test",
    ratio: Annotated[
        float | None, typer.Option(help="Rows of B for each row of A; by default the pilot's.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.9,
    simulations: Annotated[int, typer.Option(help="Number of simulated tests per curve.")] = 240,
    missing: Annotated[
        str, typer.Option(help="Missing values: error, drop-rows or drop-columns.")
    ] = "error",
    plot: Plot = None,
    *,
    options: Options,
) -> None:
    """Predict from the two files of a pilot how many rows a comparison needs."""
    # Shells ask for completions and people for help: neither waits for Numba to load.
    from tellapart.planning.plan_sample_size import plan_sample_size

    outputs = check_outputs(
        json=options.json, plot=plot, inputs=files_of(a, b), quiet=options.quiet
    )
    if a == b == STANDARD_INPUT:
        raise InputError("plan can read one of A and B from standard input, not both")
    (x, y), _ = options.chosen(*(read_input(path, options.form) for path in (a, b)))
    result = plan_sample_size(
        x,
        y,
        power=power,
        alpha=alpha,
        target=target,
        ratio=ratio,
        confidence=confidence,
        n_simulations=simulations,
        missing=missing,
        keep=options.kept(x, y),
        random_state=options.seed,
        n_jobs=options.jobs,
        progress=outputs.progress,
    )
    if outputs.show:
        say(result.summary())
    outputs.write(result)
