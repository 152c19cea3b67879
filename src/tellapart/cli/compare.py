"""`tellapart compare`: two files, or two groups of one file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tellapart.cli.outputs import check_outputs
from tellapart.console import show_result
from tellapart.errors import InputError
from tellapart.files import read_table
from tellapart.grouping import group_name, read_groups
from tellapart.samples import Samples
from tellapart.tables import read_samples
from tellapart.two_sample import TestSettings, run_test


def compare(
    context: typer.Context,
    a: Annotated[str, typer.Argument(metavar="A", help="File of the first sample, or of both.")],
    b: Annotated[str | None, typer.Argument(metavar="B", help="File of the second sample.")] = None,
    by: Annotated[
        str | None, typer.Option(help="Column of A that says which sample a row belongs to.")
    ] = None,
    variables: Annotated[
        int | None, typer.Option(help="Most variables to choose; chosen from the data if absent.")
    ] = None,
    kernel: Annotated[str, typer.Option(help="Name of the kernel.")] = "linear",
    regularization: Annotated[
        str, typer.Option(help="Price of variance, a number ≥ 0, or cv for cross-validation.")
    ] = "cv",
    solver: Annotated[str, typer.Option(help="Name of the solver.")] = "auto",
    alpha: Annotated[float, typer.Option(help="Level of the test.")] = 0.05,
    permutations: Annotated[int, typer.Option(help="Number of relabellings.")] = 999,
    test_size: Annotated[float, typer.Option(help="Share of rows held out.")] = 0.5,
    seed: Annotated[
        int | None, typer.Option(help="Seed: the same seed gives the same answer.")
    ] = None,
    missing: Annotated[
        str, typer.Option(help="Missing values: error, drop-rows or drop-columns.")
    ] = "error",
    json: Annotated[str | None, typer.Option(metavar="PATH", help="Write all as JSON.")] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write a figure (.png, .pdf or .svg).")
    ] = None,
    report: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write a report (.html) for any browser.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for the proof of optimality.")
    ] = None,
) -> None:
    """Compare two files, or two groups of one file (CSV, TSV, Parquet, Feather)."""
    settings = TestSettings(
        n_variables=variables,
        kernel=kernel,
        regularization=_price(regularization),
        solver=solver,
        test_size=test_size,
        n_permutations=permutations,
        alpha=alpha,
        random_state=seed,
        time_limit=time_limit,
        progress=sys.stderr.isatty(),
    )
    outputs = check_outputs(json, plot, report)
    samples, labels = _read(a, b, by, missing)
    result = run_test(samples, settings, labels)
    show_result(result)
    drawn = "" if seed is not None else f" --seed {result.settings['random_state']}"
    outputs.write(result, f"{context.obj}{drawn}")


def _read(a: str, b: str | None, by: str | None, missing: str) -> tuple[Samples, tuple[str, str]]:
    """Return both samples, and what to call them: the file names, or the two values of `by`."""
    if (b is None) == (by is None):
        raise InputError("compare takes two files A B, or one file A and --by COLUMN")
    if by is not None:
        samples, (first, second) = read_groups(read_table(a), by, missing=missing)
        return samples, (group_name(by, first), group_name(by, second))
    assert b is not None
    samples = read_samples(read_table(a), read_table(b), missing=missing)
    stems = (Path(a).stem, Path(b).stem)
    return samples, stems if stems[0] != stems[1] else (a, b)


def _price(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
