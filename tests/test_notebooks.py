"""Tutorials are notebooks: all that they run and show, and links that lead to the site."""

import base64
import re

import pytest

from notebooks import SITE, SOURCE, notebook_of, write_notebook
from refresh_outputs import ROOT, blocks, same_but_for_seconds, same_picture

TUTORIALS = [
    page for page in sorted((ROOT / "docs" / "tutorial").glob("*.md")) if page.stem != "index"
]


def shown(cell):
    """Return what a cell prints, and its pictures."""
    printed = "".join(o["text"] for o in cell["outputs"] if o["output_type"] == "stream")
    pictures = [
        base64.b64decode(o["data"]["image/png"])
        for o in cell["outputs"]
        if "image/png" in o.get("data", {})
    ]
    return printed, pictures


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_notebook_is_its_page(page):
    text = page.read_text(encoding="utf-8")
    notebook = notebook_of(page)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    on_page = [block for block in blocks(text) if block.language == "python"]
    assert [cell["source"] for cell in code] == [block.code.rstrip("\n") for block in on_page]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    for cell, block in zip(code, on_page, strict=True):
        printed, pictures = shown(cell)
        assert printed == ("" if block.shown is None else text[block.shown])
        assert len(pictures) == (block.figure is not None)
    assert sum(len(shown(cell)[1]) for cell in code) >= 2
    prose = "\n".join(c["source"] for c in notebook["cells"] if c["cell_type"] == "markdown")
    for heading in re.findall(r"^#+ .*$", text, re.MULTILINE):
        assert heading in prose
    for target in re.findall(r"\]\(([^)]*)\)", prose):
        assert target.startswith("https://")
        in_docs, in_project = target.split("#")[0].split(f"{SITE}/"), target.split(f"{SOURCE}/")
        path = f"docs/{in_docs[1].removesuffix('html')}md" if in_docs[1:] else in_project[1]
        assert (ROOT / path).exists(), target


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_notebook_runs_in_jupyter(page, tmp_path):
    pytest.importorskip("ipykernel")
    client = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.from_dict(notebook_of(page))
    nbformat.validate(notebook)
    expected = [shown(cell) for cell in notebook.cells if cell.cell_type == "code"]
    client.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    found = [shown(cell) for cell in notebook.cells if cell.cell_type == "code"]
    for (printed, pictures), (on_page, drawn) in zip(found, expected, strict=True):
        assert same_but_for_seconds(printed, on_page) or not on_page
        assert len(pictures) == len(drawn)
        assert all(map(same_picture, pictures, drawn))


def test_it_is_written_next_to_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr("notebooks.ROOT", tmp_path)
    page = tmp_path / "docs" / "tutorial" / "short.md"
    page.parent.mkdir(parents=True)
    page.write_text(
        "# Short\nSee [it](../faq.md#one).\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n"
    )
    written = write_notebook(page)
    assert written == page.with_suffix(".ipynb")
    assert f"See [it]({SITE}/faq.html#one)." in written.read_text(encoding="utf-8")
