"""The program `tellapart`: what all its commands share, and what becomes of errors.

Exit statuses: 0 when it ran, 1 an alarm (`monitor --fail-on-alarm`) and nothing else, 2 bad input
or a file that cannot be read or written, 3 an error inside the program, 4 memory that ran out, 130
an interrupt, 141 a reader of the output that went away.
"""

from __future__ import annotations

import ast
import errno
import io
import os
import re
import shlex
import sys
import traceback
import warnings
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from typing import Annotated

import typer

from tellapart import __version__
from tellapart.errors import InputError, MissingDependencyError
from tellapart.report.console import complain, say

# Messages of the library in the words of the command line: options, not arguments.


OPTION_OF = {
    "method": "--method",
    "n_variables": "--variables",
    "kernel": "--kernel",
    "regularization": "--regularization",
    "solver": "--solver",
    "alpha": "--alpha",
    "n_permutations": "--permutations",
    "n_simulations": "--simulations",
    "power": "--power",
    "ratio": "--ratio",
    "confidence": "--confidence",
    "test_size": "--test-size",
    "random_state": "--seed",
    "missing": "--missing",
    "time_limit": "--time-limit",
    "memory_budget": "--memory-budget",
    "n_checks": "--checks",
    "run_length": "--run-length",
    "smallest_effect": "--smallest-effect",
    "by": "--by",
    "strata": "--strata",
    "paired": "--paired",
    "clusters": "--clusters",
    "groups": "--group",
    "group": "--group",
    "against": "--against",
    "columns": "--columns",
    "drop": "--drop",
    "keep": "--keep",
    "layer": "--layer",
    "raw": "--raw",
    "form": "--format",
    "n_jobs": "--jobs",
}
"""The option behind an argument that a message names."""

IN_THE_SHELL = {
    "compare_groups": "tellapart groups",
    'pass from_anndata(adata, layer="…")': "give --layer NAME",
    "drop the column": "leave it out with --drop",
    "mode='pairwise'": "--pairwise",
    ", or give nonnegative=False for the paper's signed weights": "",
}
"""What Python says, and what the shell says instead: nothing, where there is no such option."""

# What stands in quotes is data. A path or the name of a file is no argument, and neither is an
# English word: without a value, only names with an underscore are.
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


BAD_INPUT, INTERNAL_ERROR, NO_MEMORY = 2, 3, 4
INTERRUPTED, BROKEN_PIPE = 130, 141
"""Exit statuses; the last two are those that shells give for SIGINT and SIGPIPE."""

COMPLETION = ("--install-completion", "--show-completion")
"""Options with which typer itself ends the program."""

NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", None))
"""Errors of a full disk. Files that are written name themselves: what is left is the output."""

OUT_OF_MEMORY = (
    "memory ran out; give a smaller --memory-budget, fewer columns by --columns or --drop, or a "
    "folder of Parquet files, which are read block by block"
)
LACK_OF_MEMORY = (
    "failed to map segment from shared object",
    "Cannot allocate memory",
    "Failed to launch worker thread",
    "can't start new thread",
)
"""Words of the system, of Arrow and of Python for it, in errors of other types."""
LOST_WORKER = (
    "a worker process was killed, often for want of memory; what it had finished is kept: run "
    "again with fewer --jobs"
)
"""What is told where the system ends the work."""

BARE = ("--paired",)
"""Options whose value may be left out."""

EXAMPLES = """\
Examples:

tellapart compare before.csv after.csv --report report.html

tellapart groups cells.parquet --by cell_type

tellapart monitor reference.csv today.csv --state monitor.json

tellapart plan pilot_a.csv pilot_b.csv --power 0.9

tellapart demo

tellapart --install-completion   (completes commands and options in your shell)
"""

app = typer.Typer(pretty_exceptions_enable=False, epilog=EXAMPLES)


def main() -> None:
    """Run the command line and leave with its exit status."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit status; an error is one line of complaint."""
    # Python has None for a stream that was closed before it started.
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        complain("error: standard output is closed; redirect it to a file or to /dev/null")
        return BAD_INPUT
    _prepare_output()
    try:
        return _run(arguments)
    except SystemExit as end:
        if "_TELLAPART_COMPLETE" in os.environ or set(COMPLETION) & set(arguments):
            raise
        return _status_of(end)
    except BaseException as error:
        return _status_of(error)


def _status_of(error: BaseException) -> int:
    """Return the exit status that an error ends with, after one line of complaint."""
    if isinstance(error, BrokenPipeError) or (
        isinstance(error, SystemExit) and isinstance(error.__context__, BrokenPipeError)
    ):
        # The reader of the output has seen enough, as `head` does; typer and rich exit then.
        _drop_output()
        return BROKEN_PIPE
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return INTERRUPTED
    lack = _lack_of_memory(error)
    if lack is not None:
        complain(f"error: {OUT_OF_MEMORY}{f' ({lack})' if str(lack) else ''}")
        return NO_MEMORY
    if isinstance(error, BrokenExecutor):
        complain(f"error: {LOST_WORKER}")
        return NO_MEMORY
    if isinstance(error, InputError | MissingDependencyError):
        complain(f"error: {in_options(str(error))}")
        return BAD_INPUT
    if isinstance(error, OSError):
        complain(f"error: {_told(error)}")
        return BAD_INPUT
    if hasattr(error, "format_message"):
        # Errors of usage: which package they come from depends on the version of typer.
        complain(f"error: {error.format_message()}")
        return BAD_INPUT
    if isinstance(error, SystemExit):
        how = error.code if isinstance(error.code, str) else f"status {error.code or 0}"
        complain(f"error: a library ended the program ({how})")
        return INTERNAL_ERROR
    complain(f"error: {_internal(error)}")
    return INTERNAL_ERROR


def _lack_of_memory(error: BaseException) -> BaseException | None:
    """Return the error, of this one and those that led to it, that says that memory ran out."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError) or getattr(cause, "errno", None) == errno.ENOMEM:
            return cause
        if any(words in str(cause) for words in LACK_OF_MEMORY):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def _run(arguments: Sequence[str]) -> int:
    """Run the command line, then show the warnings that it gave."""
    # Held back until the command is done: an error stands alone, in one line.
    with warnings.catch_warnings(record=True) as held:
        warnings.simplefilter("always", UserWarning)
        status = app(
            args=with_bare_options(arguments),
            prog_name="tellapart",
            standalone_mode=False,
            obj=shlex.join(["tellapart", *arguments]),
        )
        sys.stdout.flush()
    for warning in held:
        complain(f"warning: {in_options(str(warning.message))}")
    return status if isinstance(status, int) else 0


def _internal(error: BaseException) -> str:
    """Return an error that nobody foresaw in words, with the place that it came from."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return (
        f"internal error: {what} ({os.path.basename(last.filename)}, line {last.lineno}); this "
        "is a fault of the program, please report it"
    )


def _prepare_output() -> None:
    """Have standard output take any character, and be buffered by lines if it is not.

    Unbuffered, as it often is in containers, Python takes half a write for a whole one: on a full
    disk the rest of an answer would be missing, with exit status 0.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Help and reports have characters that not every encoding of a terminal has.
        sys.stdout.reconfigure(errors="replace")
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        sys.stdout = open(  # noqa: SIM115
            sys.stdout.fileno(),
            "w",
            buffering=1,
            encoding=sys.stdout.encoding,
            errors=sys.stdout.errors,
            closefd=False,
        )


def _told(error: OSError) -> str:
    """Return an error of the system in words, with the file that it is about."""
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{error.filename}: {reason}"
    if error.errno not in NO_ROOM:
        return reason
    _drop_output()
    return f"standard output: {reason}; the answer is not all there"


def _drop_output() -> None:
    """Let what is left of the output go nowhere: Python would try again on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def with_bare_options(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with an empty value for options that may go without one.

    >>> with_bare_options(["compare", "a.csv", "b.csv", "--paired", "--seed", "1"])
    ['compare', 'a.csv', 'b.csv', '--paired=', '--seed', '1']
    >>> with_bare_options(["--paired", "patient"])
    ['--paired', 'patient']
    """
    following = [*arguments, "-"][1:]
    return [
        f"{word}=" if word in BARE and after.startswith("-") else word
        for word, after in zip(arguments, following, strict=True)
    ]


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"tellapart {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def begin(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Tell whether two samples differ, and by which few variables."""
    if context.invoked_subcommand is None:
        say(context.get_help())
