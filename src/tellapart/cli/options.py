"""Options that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

Variables = Annotated[
    int | None, typer.Option(help="Most variables to choose; chosen from the data if absent.")
]
Regularization = Annotated[
    str, typer.Option(help="Price of variance, a number ≥ 0, or cv for cross-validation.")
]
Kernel = Annotated[
    str,
    typer.Option(
        help="linear (single variables, with a proof), quadratic (pairs too) or gaussian (any "
        "joint difference)."
    ),
]
Solver = Annotated[str, typer.Option(help="Name of the solver.")]
Alpha = Annotated[float, typer.Option(help="Level of the test.")]
TestSize = Annotated[float, typer.Option(help="Share of rows held out.")]
Split = Annotated[
    bool,
    typer.Option(
        help="Hold rows out for the p-value; --no-split tests all rows (linear kernel), choosing "
        "anew under every permutation."
    ),
]
Seed = Annotated[int | None, typer.Option(help="Seed: the same seed gives the same answer.")]
Missing = Annotated[str, typer.Option(help="Missing values: error, drop-rows or drop-columns.")]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds for the proof of optimality.")]
Jobs = Annotated[int | None, typer.Option(help="Threads; -1 is every core.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Format of the input, whatever its name: csv, tsv, parquet, feather or h5ad.",
    ),
]
Json = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="Write all as JSON; - for standard output, and only that."),
]
Plot = Annotated[
    str | None, typer.Option(metavar="PATH", help="Write a figure (.png, .pdf or .svg).")
]
HtmlReport = Annotated[
    str | None, typer.Option(metavar="PATH", help="Write a report (.html) for any browser.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show nothing but errors, and JSON if asked for.")
]


def price(text: str) -> float | str:
    """Return λ as a number if it is one; whether the rest will do is checked later."""
    try:
        return float(text)
    except ValueError:
        return text


def with_seed(command: str, given: int | None, used: object) -> str:
    """Return the command with the seed that was drawn, if none was given."""
    return command if given is not None else f"{command} --seed {used}"
