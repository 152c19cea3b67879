"""The command line: parsing only. Exit status 0 when it ran, 2 for bad input."""

from __future__ import annotations

import io
import shlex
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tellapart import __version__
from tellapart.console import complain, say, show_result, warnings_as_lines
from tellapart.errors import InputError, MissingDependencyError
from tellapart.files import read_table
from tellapart.outputs import check_writable, write_atomically
from tellapart.result import TestResult
from tellapart.samples import Samples
from tellapart.tables import read_groups, read_samples
from tellapart.two_sample import TestSettings, run_test

FIGURE_ENDINGS = (".png", ".pdf", ".svg")
OPTION_OF = {
    "n_variables": "--variables",
    "kernel": "--kernel",
    "regularization": "--regularization",
    "solver": "--solver",
    "alpha": "--alpha",
    "n_permutations": "--permutations",
    "test_size": "--test-size",
    "random_state": "--seed",
    "missing": "--missing",
    "time_limit": "--time-limit",
    "by": "--by",
}
"""The option behind an argument that an error message begins with."""
DEMO_CODE = """\
import tellapart as ta
malignant, benign = ta.datasets.demo_tables()
result = ta.two_sample_test(malignant, benign, random_state=0)
print(result.summary())
result.to_html("report.html")"""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def main() -> None:
    """Run the command line and leave with its exit status."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit status; bad input is one line of complaint."""
    try:
        with warnings_as_lines():
            status = app(
                args=list(arguments),
                prog_name="tellapart",
                standalone_mode=False,
                obj=shlex.join(["tellapart", *arguments]),
            )
    except (InputError, MissingDependencyError, OSError) as error:
        complain(f"error: {_in_options(str(error))}")
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


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"tellapart {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def begin(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Tell whether two samples differ, and by which few variables."""
    if context.invoked_subcommand is None:
        say(context.get_help())


@dataclass(frozen=True)
class Outputs:
    """The files to write, all checked before any work is done."""

    json: Path | None = None
    plot: Path | None = None
    report: Path | None = None

    def write(self, result: TestResult, reproduce: str | None = None) -> None:
        """Write what was asked for; `reproduce` is what the report says of how to repeat it."""
        if self.json is not None:
            result.to_json(self.json)
        if self.plot is not None:
            content = io.BytesIO()
            result.plot().savefig(content, format=self.plot.suffix[1:].lower(), dpi=150)
            write_atomically(self.plot, content.getvalue())
        if self.report is not None:
            result.to_html(self.report, reproduce=reproduce)


@app.command()
def compare(
    context: typer.Context,
    a: Annotated[str, typer.Argument(metavar="A", help="File of the first sample, or of both.")],
    b: Annotated[str | None, typer.Argument(metavar="B", help="File of the second sample.")] = None,
    by: Annotated[
        str | None, typer.Option(help="Column of A that says which sample a row belongs to.")
    ] = None,
    variables: Annotated[
        int | None, typer.Option(help="Most variables to choose; chosen from the data if absent.")
    ] = None,
    kernel: Annotated[str, typer.Option(help="Name of the kernel.")] = "linear",
    regularization: Annotated[
        str, typer.Option(help="Price of variance, a number ≥ 0, or cv for cross-validation.")
    ] = "cv",
    solver: Annotated[str, typer.Option(help="Name of the solver.")] = "auto",
    alpha: Annotated[float, typer.Option(help="Level of the test.")] = 0.05,
    permutations: Annotated[int, typer.Option(help="Number of relabellings.")] = 999,
    test_size: Annotated[float, typer.Option(help="Share of rows held out.")] = 0.5,
    seed: Annotated[
        int | None, typer.Option(help="Seed: the same seed gives the same answer.")
    ] = None,
    missing: Annotated[
        str, typer.Option(help="Missing values: error, drop-rows or drop-columns.")
    ] = "error",
    json: Annotated[str | None, typer.Option(metavar="PATH", help="Write all as JSON.")] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write a figure (.png, .pdf or .svg).")
    ] = None,
    report: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write a report (.html) for any browser.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for the proof of optimality.")
    ] = None,
) -> None:
    """Compare two files, or two groups of one file (CSV, TSV, Parquet, Feather)."""
    settings = TestSettings(
        n_variables=variables,
        kernel=kernel,
        regularization=_price(regularization),
        solver=solver,
        test_size=test_size,
        n_permutations=permutations,
        alpha=alpha,
        random_state=seed,
        time_limit=time_limit,
        progress=sys.stderr.isatty(),
    )
    outputs = _outputs(json, plot, report)
    samples, labels = _read(a, b, by, missing)
    result = run_test(samples, settings, labels)
    show_result(result)
    drawn = "" if seed is not None else f" --seed {result.settings['random_state']}"
    outputs.write(result, f"{context.obj}{drawn}")


@app.command()
def demo(
    out: Annotated[str, typer.Option(metavar="DIR", help="Folder for the three files.")] = ".",
) -> None:
    """Show a comparison of malignant and benign breast tumours."""
    folder = Path(out)
    if not folder.is_dir():
        raise InputError(f"--out must be a folder; got {out!r}")
    outputs = _outputs(*(str(folder / f"tellapart-demo.{end}") for end in ("json", "png", "html")))
    # scikit-learn takes a second to load: only the demo waits for it.
    from tellapart.datasets import demo_tables

    malignant, benign = demo_tables()
    say(
        f"Do {malignant.num_rows} malignant and {benign.num_rows} benign breast tumours differ, "
        f"and in which of {malignant.num_columns} measurements of their cell nuclei?\n"
    )
    settings = TestSettings(random_state=0, progress=sys.stderr.isatty())
    result = run_test(read_samples(malignant, benign), settings, ("malignant", "benign"))
    show_result(result)
    outputs.write(result, DEMO_CODE)
    code = textwrap.indent(DEMO_CODE, "  ")
    say(f"\nThe same in Python:\n{code}\n\nWritten: {outputs.plot} and {outputs.json}")
    if outputs.report is not None:
        say(
            f"The report is {outputs.report}: open {outputs.report.resolve().as_uri()} in a browser"
        )


def _read(a: str, b: str | None, by: str | None, missing: str) -> tuple[Samples, tuple[str, str]]:
    """Return both samples, and what to call them: the file names, or the two values of `by`."""
    if (b is None) == (by is None):
        raise InputError("compare takes two files A B, or one file A and --by COLUMN")
    if by is not None:
        samples, (first, second) = read_groups(read_table(a), by, missing=missing)
        return samples, (_group_name(by, first), _group_name(by, second))
    assert b is not None
    samples = read_samples(read_table(a), read_table(b), missing=missing)
    stems = (Path(a).stem, Path(b).stem)
    return samples, stems if stems[0] != stems[1] else (a, b)


def _group_name(by: str, value: str) -> str:
    """Return what to call a group: a bare number or truth value says nothing without its column."""
    bare = value in ("False", "True") or value.replace(".", "").lstrip("-").isdigit()
    return f"{by} = {value}" if bare else value


def _outputs(json: str | None, plot: str | None, report: str | None) -> Outputs:
    """Check where to write before any work is done."""
    if plot is not None and not plot.lower().endswith(FIGURE_ENDINGS):
        raise InputError(f"--plot must end in {', '.join(FIGURE_ENDINGS)}; got {plot!r}")
    return Outputs(
        json=None if json is None else check_writable("--json", json),
        plot=None if plot is None else check_writable("--plot", plot),
        report=None if report is None else check_writable("--report", report),
    )


def _price(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _in_options(message: str) -> str:
    """Name the option rather than the argument where a message begins with one."""
    first, space, rest = message.partition(" ")
    return f"{OPTION_OF.get(first, first)}{space}{rest}"
