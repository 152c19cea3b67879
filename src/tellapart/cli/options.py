"""Options that `compare` and `groups` share: declared once, turned into settings once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from tellapart.errors import InputError

# Sizes of memory as people write them: 2GB, 500MB, or a number of bytes.


UNITS: dict[str, int] = {
    "": 1,
    "B": 1,
    **{f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)},
    **{f"{letter}IB": 1024**power for power, letter in enumerate("KMGT", 1)},
}
"""Bytes of a unit, by its name in capitals."""

_SIZE = re.compile(r"\s*(?P<number>\d+(?:\.\d*)?(?:e\d+)?|\.\d+)\s*(?P<unit>[a-z]*)\s*", re.I)


def bytes_of(name: str, text: str) -> float:
    """Return the bytes of a size with a unit, in upper or lower case, or without one.

    Examples
    --------
    >>> bytes_of("memory_budget", "2GB"), bytes_of("memory_budget", "1.5 MiB")
    (2000000000.0, 1572864.0)
    """
    size = _SIZE.fullmatch(text)
    unit = None if size is None else UNITS.get(size["unit"].upper())
    if size is None or unit is None:
        raise InputError(
            f"{name} must be a size such as 2GB, 500MB, 1.5GiB or a number of bytes; got {text!r}"
        )
    return float(size["number"]) * unit


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show only errors, and JSON if asked.")]
Strata = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Permute labels within the strata of this column."),
]
Clusters = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Permute whole clusters of rows, named by this column."),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME,…", help="Compare these columns only; may be repeated."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME,…", help="Exclude these columns; may be repeated."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,…", help="Include these columns even if they look like identifiers."
    ),
]


@dataclass(frozen=True)
class Options:
    """What both commands ask for."""

    method: Annotated[
        str,
        typer.Option(
            metavar="scan|split",
            help="scan: all observations are tested for many kinds of difference, with findings; "
            "split: variables are selected on some rows and tested on the others.",
        ),
    ] = "scan"
    variables: Annotated[
        int | None,
        typer.Option(help="Select at most this many variables; by default the data decide."),
    ] = None
    kernel: Annotated[
        str,
        typer.Option(
            help="linear (single variables, with a proof of optimality), quadratic (pairs too), "
            "gaussian (any joint difference), or auto: a joint criterion after a scan, linear "
            "with a split."
        ),
    ] = "auto"
    regularization: Annotated[
        str,
        typer.Option(
            help="Penalty λ ≥ 0 on the variance, or cv: cross-validated with a split; with a scan "
            "0 where the optimum can then be proved, else 1."
        ),
    ] = "cv"
    solver: Annotated[str, typer.Option(help="Name of the solver.")] = "auto"
    test_size: Annotated[float, typer.Option(help="Proportion of rows held out by a split.")] = 0.5
    seed: Annotated[int | None, typer.Option(help="Seed: the same seed gives the same answer.")] = (
        None
    )
    missing: Annotated[
        str, typer.Option(help="Missing values: error, pairwise, drop-rows or drop-columns.")
    ] = "error"
    columns: Columns = None
    drop: Drop = None
    keep: Keep = None
    layer: Annotated[
        str | None, typer.Option(metavar="NAME", help="AnnData: compare this layer, not X.")
    ] = None
    raw: Annotated[
        bool, typer.Option("--raw", help="AnnData: compare the matrix kept as raw, not X.")
    ] = False
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Format of the input, whatever its name: csv, tsv, parquet, feather or h5ad.",
        ),
    ] = None
    json: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Write everything as JSON; - for standard output and nothing else."
        ),
    ] = None
    report: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write a report (.html) for any browser.")
    ] = None
    quiet: Quiet = False
    time_limit: Annotated[
        float | None,
        typer.Option(
            help="Seconds for the whole test, which uses fewer rows where all would take longer; "
            "without it only the proof of optimality is limited, to 10."
        ),
    ] = None
    memory_budget: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory such as 2GB or 500MB: larger files are read in blocks by compare, a scan "
            "that needs more is refused before work starts, a split of chunks draws fewer rows.",
        ),
    ] = None
    jobs: Annotated[int | None, typer.Option(help="Threads; -1 for every core.")] = None

    def chosen(self, *tables: Any, needed: Sequence[str] = ()) -> tuple[list[Any], tuple[str, ...]]:
        """Return tables with the columns asked for and those needed; and which are left out."""
        # Arrow takes a while to load: completions and help do without.
        from tellapart.data.column_choice import choose_columns
        from tellapart.data.sources.anndata import with_matrix

        tables = tuple(with_matrix(table, layer=self.layer, raw=self.raw) for table in tables)
        return choose_columns(tables, columns=self.columns, drop=self.drop or (), needed=needed)

    def kept(self, *tables: Any) -> list[str]:
        """Return the names of columns to include although they appear to be identifiers."""
        from tellapart.data.column_choice import typed_in

        return typed_in(tables, self.keep or ())

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of a test that these options give, by the names of its arguments."""
        return {
            "method": self.method,
            "n_variables": self.variables,
            "kernel": self.kernel,
            "regularization": _number_or_text(self.regularization),
            "solver": self.solver,
            "test_size": self.test_size,
            "random_state": self.seed,
            "time_limit": self.time_limit,
            "memory_budget": self._memory_budget,
            "n_jobs": self.jobs,
        }

    @property
    def _memory_budget(self) -> float | None:
        if self.memory_budget is None:
            return None
        return bytes_of("memory_budget", self.memory_budget)

    def repeated(self, command: str, seed_used: object) -> str:
        """Return the command that repeats the answer: with the seed, if none was given."""
        return command if self.seed is not None else f"{command} --seed {seed_used}"


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Options`, which it takes together as `options`."""
    own = inspect.signature(command, eval_str=True)
    types = get_type_hints(Options, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        *(p.replace(kind=keyword) for p in own.parameters.values() if p.name != "options"),
        *(
            inspect.Parameter(f.name, keyword, default=f.default, annotation=types[f.name])
            for f in fields(Options)
        ),
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        options = Options(**{field.name: given.pop(field.name) for field in fields(Options)})
        command(**given, options=options)

    # Typer reads the options of a command from its signature.
    vars(run)["__signature__"] = own.replace(parameters=parameters)
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _number_or_text(text: str) -> float | str:
    """Return λ as a number if it is one; whether the rest will do is checked later."""
    try:
        return float(text)
    except ValueError:
        return text
