"""`tellapart compare`: two files, or two groups of one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tellapart.cli import options
from tellapart.cli.inputs import STANDARD_INPUT, read_input, title_of
from tellapart.cli.outputs import check_outputs
from tellapart.errors import InputError
from tellapart.report.console import show_result

if TYPE_CHECKING:
    from tellapart.data.samples import Samples

EXAMPLES = """\
Examples:

tellapart compare before.csv after.csv --variables 5 --report report.html

tellapart compare patients.parquet --by sepsis --seed 1

tellapart compare treated.csv control.csv --no-split

zcat today.csv.gz | tellapart compare reference.csv - --quiet --json -
"""


def compare(
    context: typer.Context,
    a: Annotated[
        str, typer.Argument(metavar="A", help="File of the first sample, or of both; - for stdin.")
    ],
    b: Annotated[
        str | None, typer.Argument(metavar="B", help="File of the second sample; - for stdin.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Column of A that says which sample a row belongs to.")
    ] = None,
    variables: options.Variables = None,
    kernel: options.Kernel = "linear",
    regularization: options.Regularization = "cv",
    solver: options.Solver = "auto",
    alpha: options.Alpha = 0.05,
    permutations: Annotated[int, typer.Option(help="Number of permutations.")] = 999,
    test_size: options.TestSize = 0.5,
    split: options.Split = True,
    seed: options.Seed = None,
    missing: options.Missing = "error",
    form: options.Format = None,
    json: options.Json = None,
    plot: options.Plot = None,
    report: options.HtmlReport = None,
    quiet: options.Quiet = False,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
) -> None:
    """Compare two files, or two groups of one file (CSV, TSV, Parquet, Feather, AnnData)."""
    # Shells ask for completions and people for help: neither waits for Numba to load.
    from tellapart.testing.settings import TestSettings
    from tellapart.testing.two_sample import run_test

    outputs = check_outputs(json, plot, report, quiet=quiet)
    settings = TestSettings(
        n_variables=variables,
        kernel=kernel,
        regularization=options.price(regularization),
        solver=solver,
        test_size=test_size,
        n_permutations=permutations,
        alpha=alpha,
        random_state=seed,
        n_jobs=jobs,
        time_limit=time_limit,
        split=split,
        progress=outputs.progress,
    )
    samples, labels = _read(a, b, by, missing, form)
    result = run_test(samples, settings, labels)
    if outputs.show:
        show_result(result)
    outputs.draw(result)
    outputs.write(result, options.with_seed(context.obj, seed, result.settings["random_state"]))


def _read(
    a: str, b: str | None, by: str | None, missing: str, form: str | None
) -> tuple[Samples, tuple[str, str]]:
    """Return both samples, and what to call them: the file names, or the two values of `by`."""
    if (b is None) == (by is None):
        raise InputError("compare takes two files A B, or one file A and --by COLUMN")
    from tellapart.data.grouping import group_name, read_groups
    from tellapart.data.tables import read_samples

    if by is not None:
        samples, (first, second) = read_groups(read_input(a, form), by, missing=missing)
        return samples, (group_name(by, first), group_name(by, second))
    assert b is not None
    if a == b == STANDARD_INPUT:
        raise InputError("compare can read one of A and B from standard input, not both")
    samples = read_samples(read_input(a, form), read_input(b, form), missing=missing)
    titles = (title_of(a), title_of(b))
    return samples, titles if titles[0] != titles[1] else (a, b)
