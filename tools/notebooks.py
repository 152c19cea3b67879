"""Pages as notebooks: what a tutorial says, runs, prints and draws, from the one Markdown file.

The site offers a notebook of every tutorial. Its outputs are those of the page, which the tests
compare with what the code prints and draws.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
from pathlib import Path
from typing import Any

from refresh_outputs import ROOT, Block, blocks

SITE = "https://tellapart.github.io/tellapart"
SOURCE = "https://github.com/tellapart/tellapart/blob/main"
LINK = re.compile(r"(\]\()(?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook_of(page: Path) -> dict[str, Any]:
    """Return a page below docs/ as a notebook: prose, blocks of code, and what these show."""
    text = page.read_text(encoding="utf-8")
    cells: list[dict[str, Any]] = []
    last = 0
    for block in blocks(text):
        if block.language == "python":
            _add_prose(cells, text[last : block.start], page)
            cells.append(_code_cell(block, text, page, sum("outputs" in cell for cell in cells)))
            last = block.end
    _add_prose(cells, text[last:], page)
    address = f"{SITE}/{page.relative_to(ROOT / 'docs').with_suffix('.html').as_posix()}"
    cells[0]["source"] += (
        f"\n\n*A page of the [documentation]({address}). "
        "The notebook needs `pip install tellapart pandas matplotlib`.*"
    )
    for i, cell in enumerate(cells):
        cell["id"] = f"cell-{i}"
    return {
        "cells": cells,
        "metadata": {"kernelspec": KERNEL, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def write_notebook(page: Path) -> Path:
    """Write the notebook of a page next to it and return its path."""
    path = page.with_suffix(".ipynb")
    path.write_text(json.dumps(notebook_of(page), ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def _code_cell(block: Block, text: str, page: Path, count: int) -> dict[str, Any]:
    outputs: list[dict[str, Any]] = []
    if block.shown is not None:
        outputs.append({"output_type": "stream", "name": "stdout", "text": text[block.shown]})
    if block.figure is not None:
        png = base64.b64encode((page.parent / block.figure).read_bytes()).decode("ascii")
        outputs.append(
            {
                "output_type": "execute_result",
                "execution_count": count + 1,
                "data": {"image/png": png, "text/plain": "<Figure>"},
                "metadata": {},
            }
        )
    return {
        "cell_type": "code",
        "execution_count": count + 1,
        "metadata": {},
        "outputs": outputs,
        "source": block.code.rstrip("\n"),
    }


def _add_prose(cells: list[dict[str, Any]], prose: str, page: Path) -> None:
    """Add text whose links lead to the site, and to files of the project in its repository."""

    def absolute(link: re.Match[str]) -> str:
        opening, target, anchor = link.groups(default="")
        path = posixpath.normpath(posixpath.join(page.parent.relative_to(ROOT).as_posix(), target))
        if path.startswith("docs/") and path.endswith(".md"):
            return f"{opening}{SITE}/{path[5:-3]}.html{anchor})"
        return f"{opening}{SOURCE}/{path}{anchor})"

    if prose.strip():
        source = LINK.sub(absolute, prose.strip())
        cells.append({"cell_type": "markdown", "metadata": {}, "source": source})
