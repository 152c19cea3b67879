"""`tellapart compare`: two files, or two groups of one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tellapart.cli.inputs import STANDARD_INPUT, files_of, read_input, title_of
from tellapart.cli.options import Options, with_options
from tellapart.cli.outputs import check_outputs
from tellapart.errors import InputError
from tellapart.report.console import show_result

if TYPE_CHECKING:
    from tellapart.data.samples import Samples

EXAMPLES = """\
Examples:

tellapart compare before.csv after.csv --report report.html

tellapart compare patients.parquet --by sepsis --seed 1

tellapart compare treated.csv control.csv --method split --variables 5

zcat today.csv.gz | tellapart compare reference.csv - --quiet --json -
"""


@with_options
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
    alpha: Annotated[float, typer.Option(help="Level of the test.")] = 0.05,
    permutations: Annotated[int, typer.Option(help="Number of permutations.")] = 999,
    plot: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write a figure (.png, .pdf or .svg).")
    ] = None,
    *,
    options: Options,
) -> None:
    """Compare two files, or two groups of one file (CSV, TSV, Parquet, Feather, AnnData)."""
    # Shells ask for completions and people for help: neither waits for Numba to load.
    from tellapart.testing.settings import TestSettings
    from tellapart.testing.two_sample import run_test

    outputs = check_outputs(
        options.json, plot, options.report, inputs=files_of(a, b), quiet=options.quiet
    )
    settings = TestSettings(
        **options.settings, alpha=alpha, n_permutations=permutations, progress=outputs.progress
    )
    samples, labels = _read(a, b, by, options)
    result = run_test(samples, settings, labels)
    if outputs.show:
        show_result(result)
    outputs.draw(result)
    outputs.write(result, options.repeated(context.obj, result.settings["random_state"]))


def _read(
    a: str, b: str | None, by: str | None, options: Options
) -> tuple[Samples, tuple[str, str]]:
    """Return both samples, and what to call them: the file names, or the two values of `by`."""
    if (b is None) == (by is None):
        raise InputError("compare takes two files A B, or one file A and --by COLUMN")
    from tellapart.data.grouping import group_name, read_groups
    from tellapart.data.tables import read_samples

    form, missing = options.form, options.missing
    if by is not None:
        samples, (first, second) = read_groups(read_input(a, form), by, missing=missing)
        return samples, (group_name(by, first), group_name(by, second))
    assert b is not None
    if a == b == STANDARD_INPUT:
        raise InputError("compare can read one of A and B from standard input, not both")
    samples = read_samples(read_input(a, form), read_input(b, form), missing=missing)
    titles = (title_of(a), title_of(b))
    return samples, titles if titles[0] != titles[1] else (a, b)
