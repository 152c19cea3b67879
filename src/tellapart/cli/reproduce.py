"""`tellapart reproduce`: the paper's tables and figures, from rows on file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import tellapart
from tellapart.arguments import check_choice, check_integer, check_n_jobs
from tellapart.cli.options import Quiet
from tellapart.errors import InputError
from tellapart.report.console import complain, say

EVERYTHING, CLAIMS = "all", "claims"
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
    # These take seconds to load: help and completions do without.
    from reproduction.methods import METHODS
    from reproduction.paper import write_claims
    from reproduction.registry import EXPERIMENTS
    from reproduction.runner import reproduce as run
    from reproduction.store import Scale
    from reproduction.table1 import SOLVERS

    check_choice("NAME", name, [*EXPERIMENTS, EVERYTHING, CLAIMS])
    for one in method or ():
        check_choice("--method", one, [*METHODS, *SOLVERS])
    scale = Scale(
        quick=quick,
        trials=None if trials is None else check_integer("--trials", trials, 1),
        data=_checked_data(data),
        methods=tuple(method or ()),
    )
    processes = check_n_jobs(jobs)
    folder = Path(out or (QUICK_FOLDER if quick else FOLDER))
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out must be a folder; got {str(folder)!r}")
    if name == CLAIMS:
        if document is not None and not Path(document).is_file():
            raise InputError(f"--document must be a file to fill in; got {document!r}")
        paths = write_claims(folder, None if document is None else Path(document))
        if not quiet:
            say("\n".join(map(str, paths)))
        return
    for experiment in EXPERIMENTS.values() if name == EVERYTHING else (EXPERIMENTS[name],):
        if not quiet:
            say(experiment.title)

        def progress(done: int, missing: int, name: str = experiment.name) -> None:
            if not quiet and sys.stderr.isatty():
                complain(f"{name}: {done} of {missing} trials")

        paths = run(experiment, folder, scale, n_jobs=processes, redraw=redraw, progress=progress)
        if not quiet:
            say("\n".join(f"  {path}" for path in paths))


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


def _checked_data(data: str | None) -> Path | None:
    if data is None:
        return None
    folder = Path(data)
    if not folder.is_dir():
        raise InputError(f"--data must be a folder; got {data!r}")
    return folder.resolve()
