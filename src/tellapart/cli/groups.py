"""`tellapart groups`: every group of one file against the rest, or every pair of groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from tellapart.cli.files import check_outputs, files_of, read_input
from tellapart.cli.options import (
    Adjust,
    Clusters,
    ErrorRate,
    FalseProportion,
    FoldChange,
    Options,
    SmallestEffects,
    Strata,
    effect_sizes,
    with_options,
)
from tellapart.errors import InputError
from tellapart.report.console import show_groups

EXAMPLES = """\
Examples:

tellapart groups cells.parquet --by cell_type --report groups.html

tellapart groups cells.h5ad --by cell_type --pairwise --group T --group NK --group B

tellapart groups visits.csv --by visit --paired patient --pairwise

tellapart groups cells.h5ad --by cell_type --csv genes.csv --fold-change log1p

cat visits.csv | tellapart groups - --by clinic --quiet --json -
"""


@with_options()
def groups(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="File with all the groups; - for stdin.")
    ],
    by: Annotated[str, typer.Option(help="Column that says which group a row belongs to.")],
    pairwise: Annotated[
        bool, typer.Option("--pairwise", help="Compare every pair, not each group with the rest.")
    ] = False,
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL", help="Compare this group; may be repeated. Default: all."),
    ] = None,
    strata: Strata = None,
    paired: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Rows of two groups with the same key are pairs."),
    ] = None,
    clusters: Clusters = None,
    adjust: Adjust = None,
    alpha: Annotated[
        float, typer.Option(help="Familywise level α of all comparisons (Holm's adjustment).")
    ] = 0.05,
    error_rate: ErrorRate = "fwer",
    false_proportion: FalseProportion = 0.1,
    permutations: Annotated[
        int | None,
        typer.Option(help="Number of permutations; 999, or as many as the comparisons need."),
    ] = None,
    csv: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Write every column of every comparison (.csv)."),
    ] = None,
    fold_change: FoldChange = None,
    smallest_effect: SmallestEffects = None,
    *,
    options: Options,
) -> None:
    """Compare each group of one file with the rest, or every pair of groups."""
    # Shells ask for completions and people for help: neither waits for Numba to load.
    from tellapart.groups.compare_groups import compare_groups
    from tellapart.results.columns_table import check_fold_change

    outputs = check_outputs(
        json=options.json,
        report=options.report,
        csv=csv,
        inputs=files_of(file),
        quiet=options.quiet,
    )
    change = check_fold_change(fold_change, "--fold-change")
    if paired == "":
        raise InputError("--paired needs a COLUMN that matches the rows of groups")
    covariates = None if adjust is None else [name.strip() for name in adjust.split(",")]
    labelled = [
        name for name in (strata, paired, clusters, *(covariates or ())) if name is not None
    ]
    (table,), unchosen = options.chosen(read_input(file, options.form), needed=[by, *labelled])
    result = compare_groups(
        table,
        by,
        mode="pairwise" if pairwise else "one-versus-rest",
        groups=group or None,
        strata=strata,
        paired=paired or False,
        clusters=clusters,
        adjust=covariates,
        missing=options.missing,
        keep=options.kept(table),
        alpha=alpha,
        error_rate=error_rate,
        false_proportion=false_proportion,
        n_permutations=permutations,
        progress=outputs.progress,
        smallest_effect=None
        if smallest_effect is None
        else effect_sizes("smallest_effect", smallest_effect),
        **options.settings,
    )
    result = replace(result, column_notes=result.column_notes.without(unchosen))
    if outputs.show:
        show_groups(result)
    outputs.write(
        result,
        options.repeated(context.obj, result.settings["random_state"]),
        csv={"what": "columns", "log2_fold_change": change or False},
    )
