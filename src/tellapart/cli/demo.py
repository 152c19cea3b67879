"""`tellapart demo`: the whole thing on bundled data."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from tellapart.cli.files import check_outputs
from tellapart.errors import InputError
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
    ends = ("json", "png", "html")
    outputs = check_outputs(*(str(folder / f"tellapart-demo.{end}") for end in ends))
    # These take seconds to load: only the demo waits for them.
    from tellapart.data.reader import read_samples
    from tellapart.datasets import demo_tables
    from tellapart.two_sample.settings import TestSettings
    from tellapart.two_sample.two_sample_test import run_test

    malignant, benign = demo_tables()
    say(
        f"Do {malignant.num_rows} malignant and {benign.num_rows} benign breast tumours differ, "
        f"and in which of {malignant.num_columns} measurements of their cell nuclei?\n"
    )
    settings = TestSettings(random_state=0, progress=sys.stderr.isatty())
    result = run_test(read_samples(malignant, benign), settings, ("malignant", "benign"))
    show_result(result, rest="the report shows all")
    outputs.draw(result)
    outputs.write(result, DEMO_CODE)
    code = textwrap.indent(DEMO_CODE, "  ")
    say(f"\nThe same in Python:\n{code}\n\nWritten: {outputs.plot} and {outputs.json}")
    if outputs.report is not None:
        say(
            f"The report is {outputs.report}: open {outputs.report.resolve().as_uri()} in a browser"
        )
