"""`tellapart compare`: two files, or two groups of one file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from tellapart.cli.files import (
    STANDARD_INPUT,
    are_large,
    check_outputs,
    files_of,
    is_several,
    open_inputs,
    read_input,
    title_of,
)
from tellapart.cli.options import (
    Adjust,
    Alpha,
    Clusters,
    ErrorRate,
    FalseProportion,
    FoldChange,
    Options,
    Permutations,
    Plot,
    SmallestEffects,
    Strata,
    Weights,
    effect_sizes,
    with_options,
)
from tellapart.errors import InputError
from tellapart.report.console import show_result
from tellapart.text import safe

if TYPE_CHECKING:
    from tellapart.results.result import TestResult
    from tellapart.two_sample.settings import TestSettings

EXAMPLES = """\
Examples:

tellapart compare before.csv after.csv --report report.html

tellapart compare patients.parquet --by sepsis --seed 1

tellapart compare treated.csv control.csv --latex differ.tex --figure differ.pdf

tellapart compare before.csv after.csv --all-findings --csv findings.csv --table columns.csv

tellapart compare last_week.parquet today.parquet --smallest-effect 0.2

tellapart compare cells.parquet --by cell_type --group T --against NK --drop batch,plate

tellapart compare treated.csv control.csv --method split --variables 5

tellapart compare "logs/2023-*.parquet" logs/2024 --seed 1

zcat today.csv.gz | tellapart compare reference.csv - --quiet --json -
"""


@with_options()
def compare(
    context: typer.Context,
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="File of the first sample, or of both; a folder or pattern of files; - for stdin.",
        ),
    ],
    b: Annotated[
        str | None,
        typer.Argument(
            metavar="B",
            help="File of the second sample; a folder or pattern of files; - for stdin.",
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Column of A that says which sample a row belongs to.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL", help="With --by: compare this group, by default with all other rows."
        ),
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="LABEL", help="With --group: the group to compare with.")
    ] = None,
    strata: Strata = None,
    paired: Annotated[
        str | None,
        typer.Option(
            metavar="[COLUMN]",
            help="Rows of A and B are pairs: matched by this column, or row by row without one.",
        ),
    ] = None,
    clusters: Clusters = None,
    weights: Weights = None,
    adjust: Adjust = None,
    alpha: Alpha = 0.05,
    error_rate: ErrorRate = "fwer",
    false_proportion: FalseProportion = 0.1,
    permutations: Permutations = 999,
    smallest_effect: SmallestEffects = None,
    plot: Plot = None,
    csv: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write all findings as a table (.csv).")
    ] = None,
    latex: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write all findings as a LaTeX table (.tex).")
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Write all columns: numbers (.csv), or Table 1 of a paper (.tex, .html).",
        ),
    ] = None,
    fold_change: FoldChange = None,
    figure: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Write a figure of one journal column's width (.pdf, .svg or .png).",
        ),
    ] = None,
    all_findings: Annotated[
        bool,
        typer.Option(
            "--all-findings",
            help="Print all findings, not only the first 20; --csv and --report have all anyway.",
        ),
    ] = False,
    *,
    options: Options,
) -> None:
    """Compare two files, or two groups of one file (CSV, TSV, Parquet, Feather, AnnData)."""
    # Shells ask for completions and people for help: neither waits for Numba to load.
    from tellapart.data.design_labels import DesignArguments
    from tellapart.results.columns_table import check_fold_change
    from tellapart.two_sample.settings import TestSettings

    outputs = check_outputs(
        json=options.json,
        plot=plot,
        report=options.report,
        csv=csv,
        latex=latex,
        table=table,
        figure=figure,
        inputs=files_of(a, b),
        quiet=options.quiet,
    )
    change = check_fold_change(fold_change, "--fold-change")
    covariates = None if adjust is None else [name.strip() for name in adjust.split(",")]
    settings = TestSettings(
        **options.settings,
        alpha=alpha,
        error_rate=error_rate,
        false_proportion=false_proportion,
        n_permutations=permutations,
        progress=outputs.progress,
        smallest_effect=None
        if smallest_effect is None
        else effect_sizes("smallest_effect", smallest_effect),
        design=DesignArguments(
            strata,
            paired == "" or paired or False,
            clusters,
            weights=weights,
            adjust=covariates,
        ),
    )
    if by is not None and settings.design.paired is True:
        raise InputError("--paired needs a COLUMN that matches rows where --by splits one file")
    if by is None and (group is not None or against is not None):
        raise InputError("--group and --against pick values of a column: name it with --by COLUMN")
    if by is None and b is not None:
        result, unchosen = _compare_files(a, b, settings, options)
    elif by is not None and b is None:
        result, unchosen = _compare_groups(a, by, (group, against), settings, options)
    else:
        raise InputError("compare takes two files A B, or one file A and --by COLUMN")
    notes = result.held_out.notes.without(unchosen)
    result = replace(result, held_out=replace(result.held_out, notes=notes))
    if outputs.show:
        show_result(result, all_findings=all_findings)
    outputs.write(
        result,
        options.repeated(context.obj, result.settings["random_state"]),
        table={"log2_fold_change": change},
    )


def _compare_files(
    a: str, b: str, settings: TestSettings, options: Options
) -> tuple[TestResult, tuple[str, ...]]:
    """Compare two files, or two folders or patterns of files, labelled by their names.

    The second value has the columns that --columns and --drop exclude.
    """
    from tellapart.two_sample.two_sample_test import compare_tables

    if a == b == STANDARD_INPUT:
        raise InputError("compare can read one of A and B from standard input, not both")
    # Rows that belong together may lie in any block: a design needs all of them in memory.
    files = open_inputs(
        (a, b), options.form, settings.memory_budget, in_memory=settings.design.asked
    )
    (x, y), unchosen = options.chosen(*files, needed=_design_columns(settings))
    candidates = (title_of(a), title_of(b)), (a, b), ("A", "B")
    labels = next(pair for pair in candidates if pair[0] != pair[1])
    keep = options.kept(x, y)
    return compare_tables(x, y, settings, labels, missing=options.missing, keep=keep), unchosen


def _compare_groups(
    a: str,
    by: str,
    picked: tuple[str | None, str | None],
    settings: TestSettings,
    options: Options,
) -> tuple[TestResult, tuple[str, ...]]:
    """Compare two groups of one file, labelled by their values of `by`.

    The second value has the columns that --columns and --drop exclude.
    """
    from tellapart.data.grouping import group_name, open_groups, read_groups
    from tellapart.data.sources.files import open_dataset
    from tellapart.data.time_blocks import warn_of_time_order
    from tellapart.two_sample.two_sample_test import compare_tables, run_test

    if is_several(a):
        raise InputError(
            f"{safe(a)}: --by takes one file; of a folder or a pattern pass one per sample, A and B"
        )
    group, against = picked
    if not settings.design.asked and are_large((a,), options.form, settings.memory_budget):
        (dataset,), unchosen = options.chosen(open_dataset(a, form=options.form), needed=[by])
        (x, y), (first, second) = open_groups(dataset, by, group=group, against=against)
        labels = group_name(by, first), group_name(by, second)
        keep = options.kept(x)
        return compare_tables(x, y, settings, labels, missing=options.missing, keep=keep), unchosen
    needed = [by, *_design_columns(settings)]
    (table,), unchosen = options.chosen(read_input(a, options.form), needed=needed)
    samples, (first, second) = read_groups(
        table,
        by,
        group=group,
        against=against,
        missing=options.missing,
        keep=options.kept(table),
        design=settings.design,
    )
    labels = group_name(by, first), group_name(by, second)
    if not settings.design.asked:
        warn_of_time_order(samples, labels)
    return run_test(samples, settings, labels), unchosen


def _design_columns(settings: TestSettings) -> list[str]:
    """Return the columns that label strata, pairs or clusters or weigh rows, and covariates."""
    labels = [value for value in settings.design.given.values() if isinstance(value, str)]
    return [*labels, *settings.design.covariates]
