"""The program `tellapart`: what all its commands share, and what becomes of errors."""

from __future__ import annotations

import errno
import io
import os
import shlex
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from typing import Annotated

import typer

from tellapart import __version__
from tellapart.cli.messages import in_options
from tellapart.errors import InputError, MissingDependencyError
from tellapart.report.console import complain, say

BROKEN_PIPE = 1
"""Exit status where the reader of standard output went away: that of typer and rich."""

NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", None))
"""Errors of a full disk. Files that are written name themselves: what is left is the output."""

OUT_OF_MEMORY = (
    "memory ran out; give a smaller --memory-budget, fewer columns by --columns or --drop, or a "
    "folder of Parquet files, which are read block by block"
)
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
    """Run the command line and return its exit status; bad input is one line of complaint."""
    # Python has None for a stream that was closed before it started.
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        complain("error: standard output is closed; redirect it to a file or to /dev/null")
        return 2
    _buffer_output()
    try:
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
    except BrokenPipeError:
        # Whoever reads the output has seen enough, as `head` does.
        _drop_output()
        return BROKEN_PIPE
    except (InputError, MissingDependencyError) as error:
        complain(f"error: {in_options(str(error))}")
        return 2
    except OSError as error:
        complain(f"error: {_told(error)}")
        return 2
    except MemoryError as error:
        complain(f"error: {OUT_OF_MEMORY}{f' ({error})' if str(error) else ''}")
        return 2
    except BrokenExecutor:
        complain(f"error: {LOST_WORKER}")
        return 2
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except Exception as error:
        # Errors of usage: which package they come from depends on the version of typer.
        if not hasattr(error, "format_message"):
            raise
        complain(f"error: {error.format_message()}")
        return 2
    return status if isinstance(status, int) else 0


def _buffer_output() -> None:
    """Have standard output buffered, by lines, if Python was told not to.

    Unbuffered, as it often is in containers, Python takes half a write for a whole one: on a full
    disk the rest of an answer would be missing, with exit status 0.
    """
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
