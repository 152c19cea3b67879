"""Options of the commands: declared once, turned into settings once, named in messages."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from tellapart.errors import InputError

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


ARGUMENT_OF = {
    "variables": "n_variables",
    "permutations": "n_permutations",
    "simulations": "n_simulations",
    "checks": "n_checks",
    "jobs": "n_jobs",
    "seed": "random_state",
}
"""The argument behind an option of another name; the others have the name of their argument."""

_RENAMED = {argument: option for option, argument in ARGUMENT_OF.items()}
_RENAMED |= {"groups": "group", "form": "format"}
_MENTIONED = (
    *("method", "families", "n_variables", "kernel", "regularization", "solver", "test_size"),
    *("alpha", "error_rate", "false_proportion", "n_permutations", "n_simulations", "power"),
    *("ratio", "confidence", "random_state"),
    *("missing", "time_limit", "memory_budget", "n_checks", "run_length", "smallest_effect"),
    *("thresholds", "batches"),
    *(
        "by",
        "strata",
        "paired",
        "clusters",
        "weights",
        "groups",
        "group",
        "against",
        "columns",
        "drop",
    ),
    *("keep", "layer", "raw", "form", "n_jobs", "adjust"),
)
OPTION_OF = {name: f"--{_RENAMED.get(name, name).replace('_', '-')}" for name in _MENTIONED}
"""The option behind an argument that a message names."""

Alpha = Annotated[float, typer.Option(help="Level α of the test.")]
ErrorRate = Annotated[
    str,
    typer.Option(
        metavar="fwer|fdr|fdx",
        help="What is at most α for the findings: the probability of any false one (fwer), the "
        "expected proportion of false ones (fdr), or the probability that this proportion exceeds "
        "--false-proportion (fdx).",
    ),
]
FalseProportion = Annotated[float, typer.Option(help="The proportion of --error-rate fdx.")]
Permutations = Annotated[int, typer.Option(help="Number of permutations.")]
Plot = Annotated[
    str | None, typer.Option(metavar="PATH", help="Write a figure (.png, .pdf or .svg).")
]
SmallestEffects = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE|KIND=SIZE,…",
        help="Differences matter from this size on: a number of standard deviations for all kinds, "
        "or location (SD), spread (ratio), share, missing (proportion), correlation (difference) "
        "with a size each; a column's name in place of a kind, or COLUMN:KIND, for one column.",
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show only errors, and JSON if requested.")
]
Strata = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Permute labels within the strata of this column."),
]
Clusters = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Permute whole clusters of rows, named by this column."),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Weights of the rows, as of a survey, drawn by one mechanism in both samples.",
    ),
]
Adjust = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…",
        help="Adjust for these columns: does the rest differ given them? They are not compared.",
    ),
]
FoldChange = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        help="Add log2 fold changes to tables of columns: of counts, or of log1p values.",
    ),
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


OF_A_TEST = (
    *("method", "families", "variables", "kernel", "regularization", "solver", "test_size"),
    *("seed", "time_limit", "memory_budget", "jobs"),
)
"""The shared options that are settings of a test."""


@dataclass(frozen=True)
class Options:
    """The options that commands share."""

    method: Annotated[
        str,
        typer.Option(
            metavar="scan|split",
            help="scan: all observations are tested for many kinds of difference, with findings; "
            "split: variables are selected on some rows and tested on the others.",
        ),
    ] = "scan"
    families: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="With a scan: run these families only, such as location,shape, or with weights, "
            "such as location=4,correlation=1; by default all.",
        ),
    ] = None
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
        """Return tables with the requested and the needed columns, and the columns left out."""
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
        values = {ARGUMENT_OF.get(name, name): getattr(self, name) for name in OF_A_TEST}
        values["regularization"] = _number_or_text(self.regularization)
        values["families"] = _families(self.families)
        if self.memory_budget is not None:
            values["memory_budget"] = bytes_of("memory_budget", self.memory_budget)
        return values

    def repeated(self, command: str, seed_used: object) -> str:
        """Return the command that repeats the answer: with the seed, if none was given."""
        return command if self.seed is not None else f"{command} --seed {seed_used}"


Command = Callable[..., None]


def with_options(*names: str) -> Callable[[Command], Command]:
    """Give a command shared options, all if none is named, which it takes as one `Options`."""
    types = get_type_hints(Options, include_extras=True)
    shared = [field for field in fields(Options) if not names or field.name in names]
    keyword = inspect.Parameter.KEYWORD_ONLY

    def give(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        declared = [p for p in signature.parameters.values() if p.name != "options"]
        parameters = [
            *(p.replace(kind=keyword) for p in declared),
            *(
                inspect.Parameter(f.name, keyword, default=f.default, annotation=types[f.name])
                for f in shared
            ),
        ]

        @wraps(command)
        def run(**given: Any) -> None:
            options = Options(**{field.name: given.pop(field.name) for field in shared})
            command(**given, options=options)

        # Typer reads the options of a command from its signature.
        vars(run)["__signature__"] = signature.replace(parameters=parameters)
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return give


def effect_sizes(name: str, text: str) -> float | dict[str, Any]:
    """Return a number, or the sizes of kinds and columns, as `two_sample_test` takes them.

    Examples
    --------
    >>> effect_sizes("smallest_effect", "0.2")
    0.2
    >>> effect_sizes("smallest_effect", "location=0.2,spread=1.25,age:location=0.5")
    {'location': 0.2, 'spread': 1.25, 'age': {'location': 0.5}}
    """
    sizes: dict[str, Any] = {}
    for part in text.split(","):
        key, _, number = part.rpartition("=")
        column, _, kind = key.strip().rpartition(":")
        try:
            size = float(number)
        except ValueError:
            raise InputError(
                f"{name} must be a number, or sizes such as location=0.2,spread=1.25; got {text!r}"
            ) from None
        if not key:
            if part != text:
                raise InputError(
                    f"{name} must have a kind or column before each size; got {text!r}"
                )
            return size
        if not column:
            sizes[kind] = size
            continue
        own = sizes.setdefault(column, {})
        if not isinstance(own, dict):
            raise InputError(f"{name} must have one size for {column!r}, or one per kind")
        own[kind] = size
    return sizes


def _families(text: str | None) -> list[str] | dict[str, float | str] | None:
    """Return families, with weights where there are any; the settings check names and numbers.

    >>> _families("location, shape"), _families("location=4,pair=0.5")
    (['location', 'shape'], {'location': 4.0, 'pair': 0.5})
    """
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not any("=" in part for part in parts):
        return parts
    weights: dict[str, float | str] = {}
    for part in parts:
        name, _, weight = (side.strip() for side in part.partition("="))
        if name in weights or not weight:
            raise InputError(
                "--families must have one weight for every family, such as location=4,pair=1; "
                f"got {text!r}"
            )
        weights[name] = _number_or_text(weight)
    return weights


def _number_or_text(text: str) -> float | str:
    """Return λ as a number if it is one; other texts are checked with the settings."""
    try:
        return float(text)
    except ValueError:
        return text


IN_THE_SHELL = {
    "compare_groups": "tellapart groups",
    'pass from_anndata(adata, layer="…")': "give --layer NAME",
    "drop the column": "leave it out with --drop",
    "mode='pairwise'": "--pairwise",
    ", or give nonnegative=False for the paper's signed weights": "",
}
"""What messages say of Python, and what a shell shows instead: nothing without such an option."""

# Quoted text is data. Paths and file names are not arguments, and neither are English words:
# without a value, only names with an underscore are.
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_MENTION = re.compile(
    rf"""(?<!\w)(?:{_QUOTED})(?!\w)"""
    rf"""|(?P<phrase>{"|".join(map(re.escape, IN_THE_SHELL))})(?!\w)"""
    rf"""|(?<![\w./-])(?P<name>{"|".join(OPTION_OF)})"""
    rf"""(?:=(?P<value>\[(?:{_QUOTED})\]|{_QUOTED}|[\w.+-]*\w))?(?![\w/:-]|\.\w)"""
)


def in_options(message: str) -> str:
    """Name options where a message names arguments.

    Examples
    --------
    >>> in_options("test_size must be left out with method='scan'; got 0.3")
    '--test-size must be left out with --method scan; got 0.3'
    >>> in_options('pass missing="drop-rows" or a greater test_size')
    'pass --missing drop-rows or a greater --test-size'
    >>> in_options("pick two with group='T' and against='B cells'")
    "pick two with --group T and --against 'B cells'"
    """
    first, space, rest = message.partition(" ")
    return _MENTION.sub(_option, f"{OPTION_OF.get(first, first)}{space}{rest}")


def _option(mention: re.Match[str]) -> str:
    text, name, value = mention.group(), mention["name"], mention["value"]
    if mention["phrase"]:
        return IN_THE_SHELL[text]
    if name not in OPTION_OF or (value is None and "_" not in name):
        return text
    if value is None or value == "True":
        return OPTION_OF[name]
    return f"{OPTION_OF[name]} {shlex.quote(_written(value))}"


def _written(value: str) -> str:
    """Return a value as it is typed in a shell: a text without its quotes, a list without its."""
    return str(ast.literal_eval(value.strip("[]"))) if value[0] in "'\"[" else value
