"""The program `tellapart`: what all its commands share, and the exit statuses of errors.

Exit statuses: 0 success, 1 an alarm (`monitor --fail-on-alarm`) or a difference (`check`) and
nothing else, 2 bad input or a file that cannot be read or written, 3 an error inside the program,
4 out of memory, 130 interrupted by Ctrl-C, 141 the reader of the output has closed it.
"""

from __future__ import annotations

import errno
import io
import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from typing import Annotated

import typer

from tellapart import __version__
from tellapart.cli.options import in_options
from tellapart.errors import InputError, MissingDependencyError
from tellapart.report.console import complain, say

BAD_INPUT, INTERNAL_ERROR, NO_MEMORY = 2, 3, 4
INTERRUPTED, BROKEN_PIPE = 130, 141
"""Exit statuses; the last two are those that shells give for SIGINT and SIGPIPE."""

COMPLETION = ("--install-completion", "--show-completion")
"""Options with which typer itself ends the program."""

NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", None))
"""Errors of a full disk. Those of files name the file: the others are of standard output."""

OUT_OF_MEMORY = (
    "memory ran out; give a smaller --memory-budget, fewer columns by --columns or --drop, or a "
    "folder of Parquet files, which are read block by block"
)
MEMORY_ERRORS = (
    "failed to map segment from shared object",
    "Cannot allocate memory",
    "Failed to launch worker thread",
    "can't start new thread",
)
"""How the system, Arrow and Python report that memory ran out, in errors of other types."""
LOST_WORKER = (
    "a worker process was killed, often for want of memory; what it had finished is kept: run "
    "again with fewer --jobs"
)
"""Shown where the system ends a process."""

BARE = ("--paired",)
"""Options whose value may be left out."""

EXAMPLES = """\
Examples:

tellapart compare before.csv after.csv --report report.html

tellapart groups cells.parquet --by cell_type

tellapart check last_week.csv today.csv --smallest-effect 0.2

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
        # The reader of the output has closed it, as `head` does; typer and rich exit then.
        _drop_output()
        return BROKEN_PIPE
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return INTERRUPTED
    cause = _memory_error(error)
    if cause is not None:
        complain(f"error: {OUT_OF_MEMORY}{f' ({cause})' if str(cause) else ''}")
        return NO_MEMORY
    if isinstance(error, BrokenExecutor):
        complain(f"error: {LOST_WORKER}")
        return NO_MEMORY
    if isinstance(error, InputError | MissingDependencyError):
        complain(f"error: {in_options(str(error))}")
        return BAD_INPUT
    if isinstance(error, OSError):
        complain(f"error: {_describe_os_error(error)}")
        return BAD_INPUT
    if hasattr(error, "format_message"):
        # Errors of usage: which package they come from depends on the version of typer.
        complain(f"error: {error.format_message()}")
        return BAD_INPUT
    if isinstance(error, SystemExit):
        how = error.code if isinstance(error.code, str) else f"status {error.code or 0}"
        complain(f"error: a library ended the program ({how})")
        return INTERNAL_ERROR
    complain(f"error: {_describe_internal(error)}")
    return INTERNAL_ERROR


def _memory_error(error: BaseException) -> BaseException | None:
    """Return the error, of this one and its causes, that reports that memory ran out."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError) or getattr(cause, "errno", None) == errno.ENOMEM:
            return cause
        if any(words in str(cause) for words in MEMORY_ERRORS):
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


def _describe_internal(error: BaseException) -> str:
    """Return an unexpected error in words, with the line that raised it."""
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


def _describe_os_error(error: OSError) -> str:
    """Return an error of the system in words, with its file."""
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{error.filename}: {reason}"
    if error.errno not in NO_ROOM:
        return reason
    _drop_output()
    return f"standard output: {reason}; the output is incomplete"


def _drop_output() -> None:
    """Discard the rest of the output, which Python would try to write again when it exits."""
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
    """Test whether two samples differ, and which few variables distinguish them."""
    if context.invoked_subcommand is None:
        say(context.get_help())
