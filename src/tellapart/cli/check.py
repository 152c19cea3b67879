"""`tellapart check`: do two files differ by more than matters? The exit status says so."""

from __future__ import annotations

from typing import Annotated

import typer

from tellapart.cli.files import STANDARD_INPUT, check_outputs, files_of, open_inputs, title_of
from tellapart.cli.options import Clusters, Options, Strata, effect_sizes, with_options
from tellapart.errors import InputError
from tellapart.report.console import complain, say

DIFFERENT = 1
"""Exit status of files that are not similar."""

EXAMPLES = """\
Exit status: 0 alike, 1 different (one line on standard error says why), 2 bad input.

Examples:

tellapart check last_week.csv today.csv --smallest-effect 0.2

tellapart check reference.parquet batch.parquet --smallest-effect location=0.2,share=0.05 --strict
"""


@with_options("seed", "missing", "columns", "drop", "keep", "layer", "raw", "form", "json", "quiet")
def check(
    a: Annotated[str, typer.Argument(metavar="A", help="File of the first sample; - for stdin.")],
    b: Annotated[str, typer.Argument(metavar="B", help="File of the second sample; - for stdin.")],
    smallest_effect: Annotated[
        str,
        typer.Option(
            metavar="SIZE|KIND=SIZE,…",
            help="The size from which on differences matter, as for compare.",
        ),
    ],
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Status 1 also where the files are not shown to be alike, as with few rows.",
        ),
    ] = False,
    strata: Strata = None,
    paired: Annotated[
        str | None,
        typer.Option(
            metavar="[COLUMN]",
            help="Rows of A and B are pairs: matched by this column, or row by row without one.",
        ),
    ] = None,
    clusters: Clusters = None,
    alpha: Annotated[float, typer.Option(help="Level α of the decision.")] = 0.05,
    *,
    options: Options,
) -> None:
    """Check that two files differ by no more than a smallest effect; for pipelines."""
    # Shells ask for completions and people for help: neither waits for Numba to load.
    from tellapart.data.design_labels import DesignArguments
    from tellapart.two_sample.equivalence import judge_tables, reason

    outputs = check_outputs(json=options.json, inputs=files_of(a, b), quiet=options.quiet)
    if a == b == STANDARD_INPUT:
        raise InputError("check can read one of A and B from standard input, not both")
    sizes = effect_sizes("smallest_effect", smallest_effect)
    design = [name for name in (strata, paired, clusters) if name]
    files = open_inputs((a, b), options.form, None, in_memory=bool(design or paired == ""))
    (x, y), _ = options.chosen(*files, needed=design)
    candidates = (title_of(a), title_of(b)), (a, b), ("A", "B")
    result = judge_tables(
        x,
        y,
        sizes,
        "smallest_effect",
        alpha,
        DesignArguments(strata, paired == "" or paired or False, clusters),
        next(pair for pair in candidates if pair[0] != pair[1]),
        options.seed or 0,
        missing=options.missing,
        keep=options.kept(x, y),
    )
    if outputs.show:
        say(result.summary())
    outputs.write(result)
    why = reason(result, strict=strict)
    if why:
        complain(why)
        raise typer.Exit(DIFFERENT)
