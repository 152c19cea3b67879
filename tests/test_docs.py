"""Every code block of every page runs, page by page, and prints what stands below it.

The blocks of one page share their names and one folder, as a reader's session would. A block of
text right below a block of code is its output.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from outputs_shown import same_but_for_seconds

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LANGUAGES = {"python", "bash", "text"}
# A command in an indented block would never run.
HIDDEN_COMMAND = re.compile(r"^ {4,}(tellapart|pip|make|python|import|from) ", re.MULTILINE)
# Its commands take hours; what they need is tested by tests/test_cli_reproduce.py.
TAKES_HOURS = "reproduction.md"
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def blocks(page):
    """Give the language and the code of each block, with the output shown right below it."""
    text = page.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    for i, block in enumerate(found):
        following = found[i + 1] if i + 1 < len(found) else None
        shown = None
        if following is not None and following.group(1) == "text":
            between = text[block.end() : following.start()]
            shown = following.group(2) if not between.strip() else None
        yield block.group(1), block.group(2), shown


def run_shell(code, folder):
    """Run the lines as bash does, the project's commands first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code],
        cwd=folder,
        env=os.environ | {"PATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run_and_print_what_is_shown(page, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "docs"}
    for language, code, shown in blocks(page):
        assert language in LANGUAGES, f"{page.name}: say what this block is: {code[:60]!r}"
        if language == "text":
            continue
        if language == "bash" and page.name == TAKES_HOURS:
            continue
        if language == "bash":
            printed = run_shell(code, tmp_path)
        else:
            exec(compile(code, str(page), "exec"), names)
            printed = capsys.readouterr().out
        if shown is not None:
            assert same_but_for_seconds(printed, shown), printed


def test_there_are_blocks():
    languages = [language for page in PAGES for language, _, _ in blocks(page)]
    assert {"python", "bash"} <= set(languages)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in LINK.findall(FENCE.sub("", text)):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_are_in_blocks_that_run(page):
    if page.name == TAKES_HOURS:
        return
    assert not HIDDEN_COMMAND.search(FENCE.sub("", page.read_text(encoding="utf-8")))


def test_the_menu_names_every_page():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    absent = {page.name for page in PAGES if f": {page.name}\n" not in menu}
    assert absent == set()


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_tables_have_as_many_cells_in_every_row(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for found in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({row.count("|") for row in found.splitlines()}) == 1, found
