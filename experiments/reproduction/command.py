"""The command `tellapart reproduce`: its arguments checked, then experiments run and drawn."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from reproduction.methods import METHODS
from reproduction.paper import write_claims
from reproduction.registry import EXPERIMENTS
from reproduction.runner import reproduce
from reproduction.store import Scale
from reproduction.table1 import SOLVERS
from tellapart.arguments import check_choice, check_integer, check_n_jobs
from tellapart.errors import InputError
from tellapart.report.console import complain, say

EVERYTHING, CLAIMS = "all", "claims"


def run_command(
    name: str,
    folder: Path,
    *,
    quick: bool,
    data: str | None,
    trials: int | None,
    methods: Sequence[str],
    redraw: bool,
    document: str | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Run one experiment or all of them, or judge the paper's claims by the rows in a folder."""
    check_choice("NAME", name, [*EXPERIMENTS, EVERYTHING, CLAIMS])
    for method in methods:
        check_choice("--method", method, [*METHODS, *SOLVERS])
    if data is not None and not Path(data).is_dir():
        raise InputError(f"--data must be a folder; got {data!r}")
    scale = Scale(
        quick=quick,
        trials=None if trials is None else check_integer("--trials", trials, 1),
        data=None if data is None else Path(data).resolve(),
        methods=tuple(methods),
    )
    processes = check_n_jobs(jobs)
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

        def report(done: int, missing: int, name: str = experiment.name) -> None:
            if not quiet and sys.stderr.isatty():
                complain(f"{name}: {done} of {missing} trials")

        paths = reproduce(
            experiment, folder, scale, n_jobs=processes, redraw=redraw, progress=report
        )
        if not quiet:
            say("\n".join(f"  {path}" for path in paths))
