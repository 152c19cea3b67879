"""`tellapart demo`: the whole thing on bundled data."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from tellapart.cli.files import check_outputs
from tellapart.errors import InputError
from tellapart.optional import is_installed
from tellapart.report.console import say, show_result

EXAMPLES = """\
Examples:

tellapart demo

tellapart demo --out /tmp
"""
DEMO_CODE = """\
import tellapart as ta
malignant, benign = ta.datasets.demo_tables()
result = ta.two_sample_test(malignant, benign, labels=("malignant", "benign"), random_state=0)
print(result.summary())
result.to_html("report.html")"""


def demo(
    out: Annotated[str, typer.Option(metavar="DIR", help="Folder for the three files.")] = ".",
) -> None:
    """Show a comparison of malignant and benign breast tumours."""
    folder = Path(out)
    if not folder.is_dir():
        raise InputError(f"--out must be a folder; got {out!r}")
    ends = {"plot": "png", "json": "json", "report": "html"}
    if not is_installed("matplotlib"):
        del ends["plot"]
    paths = {name: str(folder / f"tellapart-demo.{end}") for name, end in ends.items()}
    outputs = check_outputs(json=paths["json"], plot=paths.get("plot"), report=paths["report"])
    # These take seconds to load: only the demo waits for them.
    from tellapart.datasets import demo_tables
    from tellapart.two_sample.settings import TestSettings
    from tellapart.two_sample.two_sample_test import compare_tables

    malignant, benign = demo_tables()
    n_malignant, n_columns = malignant.shape
    say(
        f"Do {n_malignant} malignant and {benign.shape[0]} benign breast tumours differ, "
        f"and in which of {n_columns} measurements of their cell nuclei?\n"
    )
    settings = TestSettings(random_state=0, progress=sys.stderr.isatty())
    result = compare_tables(malignant, benign, settings, ("malignant", "benign"))
    show_result(result, rest="the report shows all")
    outputs.write(result, DEMO_CODE)
    code = textwrap.indent(DEMO_CODE, "  ")
    report = paths.pop("report")
    say(f"\nThe same in Python:\n{code}\n\nWritten: {' and '.join(paths.values())}")
    say(f"The report is {report}: open {Path(report).resolve().as_uri()} in a browser")
