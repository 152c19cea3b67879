"""Every code block of every page runs, page by page, and prints what stands below it.

The blocks of one page share their names and one folder, as a reader's session would. A block of
text right below a block of code is its output.
"""

import re
from pathlib import Path

import pytest

from refresh_outputs import FENCE, TAKES_HOURS, blocks, run_shell, same_but_for_seconds
from tellapart.data import sources

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
# Pages whose calls take half a minute and more.
TAKE_LONG = {"planning.md"}
LANGUAGES = {"python", "bash", "text"}
# A command in an indented block would never run.
HIDDEN_COMMAND = re.compile(r"^ {4,}(tellapart|pip|make|python|import|from) ", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


RUN = [
    pytest.param(page, marks=pytest.mark.long if page.name in TAKE_LONG else ()) for page in PAGES
]


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_blocks_run_and_print_what_is_shown(page, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sources, "SOURCES", list(sources.SOURCES))  # a page may register some
    names = {"__name__": "docs"}
    text = page.read_text(encoding="utf-8")
    for block in blocks(text):
        language, code = block.language, block.code
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
        if block.shown is not None:
            assert same_but_for_seconds(printed, text[block.shown]), printed


def test_there_are_blocks():
    languages = [b.language for page in PAGES for b in blocks(page.read_text(encoding="utf-8"))]
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
