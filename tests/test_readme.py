"""The README: its example prints what it shows, its map and its figures are the project's."""

import re
from pathlib import Path

import pytest

from file_map import with_map
from refresh_outputs import blocks, same_but_for_seconds

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
QUALITY = re.search(r"^## How good it is\n(.*?)^## ", TEXT, re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\d,])")


def test_example_prints_what_the_readme_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The example writes its report to the current folder.
    monkeypatch.chdir(tmp_path)
    (example,) = (block for block in blocks(TEXT) if block.language == "python")
    assert example.shown is not None
    exec(compile(example.code, str(README), "exec"), {})
    assert (tmp_path / "report.html").stat().st_size > 0
    assert same_but_for_seconds(capsys.readouterr().out, TEXT[example.shown])


def test_the_map_is_that_of_the_tree() -> None:
    assert with_map(TEXT) == TEXT, "run: .venv/bin/python tools/file_map.py"


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) <= 140


def test_figures_stand_in_the_pages_they_link_to() -> None:
    assert QUALITY is not None
    lines = re.findall(r"^- .*$", QUALITY[1], re.MULTILINE)
    assert len(lines) == 5
    for line in lines:
        link = re.search(r"\]\((docs/[\w/]+\.md)", line)
        assert link is not None, line
        page = (ROOT / link[1]).read_text(encoding="utf-8")
        figures = set(NUMBER.findall(re.sub(r"\]\([^)]*\)", "", line)))
        assert figures <= set(NUMBER.findall(page)), (link[1], figures - set(NUMBER.findall(page)))
        assert "benchmarks/" in page
