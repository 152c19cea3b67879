"""The files that a command writes: checked before any work is done."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

from tellapart.errors import InputError
from tellapart.outputs import check_writable, write_atomically
from tellapart.result import TestResult

FIGURE_ENDINGS = (".png", ".pdf", ".svg")


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


def check_outputs(json: str | None, plot: str | None, report: str | None) -> Outputs:
    """Check where to write before any work is done."""
    if plot is not None and not plot.lower().endswith(FIGURE_ENDINGS):
        raise InputError(f"--plot must end in {', '.join(FIGURE_ENDINGS)}; got {plot!r}")
    return Outputs(
        json=None if json is None else check_writable("--json", json),
        plot=None if plot is None else check_writable("--plot", plot),
        report=None if report is None else check_writable("--report", report),
    )
