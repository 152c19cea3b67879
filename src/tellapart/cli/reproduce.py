"""`tellapart reproduce`: the paper's tables and figures, from rows on file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import tellapart
from tellapart.cli.options import Quiet
from tellapart.errors import InputError

FOLDER, QUICK_FOLDER = "experiments/results", "experiments/quick"
EXAMPLES = """\
Examples:

tellapart reproduce table1

tellapart reproduce all --quick

tellapart reproduce healthcare --data ../shared/data --jobs 2
"""


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="table1, power-n, power-d, recovery, mnist, healthcare, or all of them; claims "
            "judges what the paper says by the rows on file.",
        ),
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Tiny samples, to see that everything runs.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help=f"Folder of rows and figures: {FOLDER}, or {QUICK_FOLDER}.",
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            envvar="TELLAPART_DATA",
            help="Folder of mnist.npz and critical_care.csv; bundled data if absent.",
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option(help="At most this many trials of each setting.")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(metavar="METHOD", help="Only this method or solver; may be repeated."),
    ] = None,
    redraw: Annotated[
        bool, typer.Option("--redraw", help="Measure nothing; draw the rows on file again.")
    ] = False,
    document: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="With claims: fill in this Markdown file, too."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes; -1 for every core.")] = None,
    quiet: Quiet = False,
) -> None:
    """Redo the paper's tables and figures; trials on file are not run again."""
    _find_experiments()
    # The experiments take seconds to import: help and completions do without.
    from reproduction.command import run_command

    run_command(
        name,
        Path(out or (QUICK_FOLDER if quick else FOLDER)),
        quick=quick,
        data=data,
        trials=trials,
        methods=method or (),
        redraw=redraw,
        document=document,
        jobs=jobs,
        quiet=quiet,
    )


def _find_experiments() -> None:
    """Put the folder of the experiments on the path: it is in a checkout, not in the package."""
    for root in (Path(tellapart.__file__).parents[2], Path.cwd()):
        folder = root / "experiments"
        if (folder / "reproduction" / "registry.py").is_file():
            if str(folder) not in sys.path:
                sys.path.insert(0, str(folder))
            return
    raise InputError(
        "reproduce needs a checkout of the repository: the paper's experiments are not part of the "
        "installed package; run it in a clone, or `make reproduce` there"
    )
