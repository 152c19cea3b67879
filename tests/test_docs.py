"""Every code block of every page runs, page by page, and prints what stands below it.

The blocks of one page share their names and one folder, as a reader's session would. A block of
text right below a block of code is its output, an image the figure that the block ends with.
"""

import inspect
import re
from pathlib import Path

import pytest
import typer

import tellapart as ta
from count_words import count_pages
from refresh_outputs import (
    FENCE,
    TAKES_HOURS,
    blocks,
    pages_of_docs,
    picture,
    run_python,
    run_shell,
    same_but_for_seconds,
    same_picture,
)
from tellapart.cli.app import app
from tellapart.data import sources

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = pages_of_docs()
# Pages whose calls take half a minute and more.
TAKE_LONG = {"planning.md"}
LANGUAGES = {"python", "bash", "text"}
DIRECTIVE = "{eval-rst}"
TOCTREE = re.compile(r"^:::\{toctree\}\n(.*?)^:::$", re.DOTALL | re.MULTILINE)
# A command in an indented block would never run.
HIDDEN_COMMAND = re.compile(r"^ {4,}(tellapart|pip|make|python|import|from) ", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
# A call of the program, in a block or in a line of text.
CALL = re.compile(r"tellapart ([a-z]+)((?:[^`|\n\\]|\\\n)*)")
# What people read, tables of text included; code, outputs and tables of numbers are counted apart.
MOST_WORDS = 25_000
# Text that is no output of the block above it: contracts, an excerpt that test_examples.py tests.
NO_OUTPUT = {"own_family.md": 1, "own_finding.md": 1, "patients.md": 1}


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


RUN = [
    pytest.param(page, marks=pytest.mark.long if page.name in TAKE_LONG else ()) for page in PAGES
]


@pytest.mark.parametrize("page", RUN, ids=page_name)
def test_blocks_run_and_print_what_is_shown(page, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sources, "SOURCES", list(sources.SOURCES))  # a page may register some
    names = {"__name__": "docs"}
    text = page.read_text(encoding="utf-8")
    for block in blocks(text):
        language, code = block.language, block.code
        if language == DIRECTIVE:
            continue
        assert language in LANGUAGES, f"{page.name}: say what this block is: {code[:60]!r}"
        if language == "text":
            continue
        if (language == "bash" and page.name == TAKES_HOURS) or block.absent:
            continue
        if language == "bash":
            printed = run_shell(code, tmp_path)
        else:
            value = run_python(code, str(page), names)
            printed = capsys.readouterr().out
            if block.figure is not None:
                assert same_picture(picture(value), (page.parent / block.figure).read_bytes())
        if block.shown is not None:
            assert same_but_for_seconds(printed, text[block.shown]), printed


def test_there_are_blocks():
    languages = [b.language for page in PAGES for b in blocks(page.read_text(encoding="utf-8"))]
    assert {"python", "bash"} <= set(languages)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=page_name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target, anchor in LINK.findall(FENCE.sub("", text)):
        if target.startswith(("http:", "https:")):
            continue
        place = page.parent / target if target else page
        assert place.exists(), target
        if anchor:
            headings = HEADING.findall(FENCE.sub("", place.read_text(encoding="utf-8")))
            assert anchor in map(anchor_of, headings), f"{target}#{anchor}"


def anchor_of(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=page_name)
def test_options_of_the_program_exist(page):
    commands = typer.main.get_command(app).commands
    for name, rest in CALL.findall(page.read_text(encoding="utf-8")):
        for option in re.findall(r"(?<!\S)--[a-z-]+", rest) if name in commands else ():
            known = [o for parameter in commands[name].params for o in parameter.opts]
            assert option in [*known, "--help"], f"tellapart {name} {option}"


def test_text_is_the_output_of_the_block_above_it():
    for page in PAGES:
        found = list(blocks(page.read_text(encoding="utf-8")))
        shown = sum(block.shown is not None for block in found)
        texts = sum(block.language == "text" for block in found)
        assert texts - shown == NO_OUTPUT.get(page.name, 0), page_name(page)


def test_pages_are_short_enough_to_read():
    words = sum(page["prose"] for page in count_pages().values())
    assert words <= MOST_WORDS, "say things once: `python tools/count_words.py --pages`"


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_commands_are_in_blocks_that_run(page):
    if page.name == TAKES_HOURS:
        return
    assert not HIDDEN_COMMAND.search(FENCE.sub("", page.read_text(encoding="utf-8")))


def test_the_menu_names_every_page():
    named = {DOCS / "index.md"}
    for page in PAGES:
        for listed in TOCTREE.findall(page.read_text(encoding="utf-8")):
            entries = [line for line in listed.splitlines() if line and not line.startswith(":")]
            named |= {(page.parent / f"{entry}.md").resolve() for entry in entries}
    absent = {page_name(page) for page in PAGES if page not in named}
    assert absent == set(), "put each into a folder of docs/ and name it in the folder's index.md"


def test_every_public_name_has_a_page():
    listed = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    modules = {name for name in ta.__all__ if inspect.ismodule(getattr(ta, name))}
    names = {f"tellapart.{name}" for name in {*ta.__all__} - modules - {"__version__"}}
    absent = {name for name in names if f"   {name}\n" not in listed}
    assert absent == set(), "name each in docs/reference/index.md"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=page_name)
def test_tables_have_as_many_cells_in_every_row(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for found in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({row.count("|") for row in found.splitlines()}) == 1, found
