"""The report in a real browser: quiet, alone, names as text, and as wide as the screen."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from browser import Tab, find_browser, open_page
from html_page import Page
from scanned import make_finding, shared_scan
from tellapart.scan.finding import magnitude

BROWSER = find_browser()
SCRIPT = "<script>alert(1)</script>"
LONG = "a_name_without_a_space_" * 8
WIDTHS = (320, 360, 390, 768, 1280)
FAMILIES = ("DejaVu Sans", "DejaVu Serif", "Liberation Sans", "Noto Sans", "Roboto", "Comic Neue")
# Wider than any font that a reader is likely to have.
WIDE = "font-family: monospace !important; font-weight: 700 !important; letter-spacing: .06em;"

pytestmark = pytest.mark.skipif(
    BROWSER is None,
    reason="NOT TESTED IN A BROWSER: no chromium or google-chrome on PATH; install one, or name "
    "it by TELLAPART_BROWSER",
)

CONTROL = """<!DOCTYPE html><title>control</title>
<img src="http://pictures.invalid/a.png"><script>console.error("heard")</script>"""
MEASURE = """<!DOCTYPE html><title>measure</title><p id="found"></p>
{frames}
<script>
addEventListener("load", () => {{
  const measured = [...document.querySelectorAll("iframe")].map(frame => {{
    const page = frame.contentDocument;
    return {{
      name: frame.name,
      asked: frame.clientWidth,
      needed: page.documentElement.scrollWidth,
      ground: getComputedStyle(page.body).backgroundColor,
      ink: getComputedStyle(page.body).color,
      shown: page.querySelectorAll("svg path").length,
      skip: getComputedStyle(page.querySelector(".skip") ?? page.body).top,
    }};
  }});
  document.getElementById("found").textContent = JSON.stringify(measured);
}});
</script>"""


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)

    def table(s):
        return pd.DataFrame(
            {
                SCRIPT: rng.normal(s, size=60),
                LONG: rng.normal(s, size=60),
                "arm": rng.choice([SCRIPT, "b"], 60, p=[0.5 + 0.4 * s, 0.5 - 0.4 * s]),
                "noise": rng.normal(size=60),
            }
        )

    result = ta.two_sample_test(
        table(0.0),
        table(1.0),
        method="split",
        n_variables=3,
        regularization=0.1,
        n_permutations=99,
        random_state=0,
    )
    assert SCRIPT in result.variables
    return result.to_html(stability=10)


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    kind = np.repeat(["B", SCRIPT, LONG], 30)
    table = pd.DataFrame({"kind": kind, "small": 1e-7 * rng.normal(size=90)})
    table[LONG] = rng.normal(size=90) + 3 * (kind == "B")
    return ta.compare_groups(table, "kind", method="split", n_variables=2, random_state=0).to_html()


def visit(text, folder, *more):
    page = folder / "page.html"
    page.write_text(text, encoding="utf-8")
    return open_page(BROWSER, page, folder, *more)


def test_the_browser_tells_of_errors_and_requests(tmp_path):
    """Without this, a quiet page could be a deaf test."""
    seen = visit(CONTROL, tmp_path)
    assert any("heard" in line for line in seen.console)
    assert "http://pictures.invalid/a.png" in seen.requests


def test_it_opens_quietly_and_names_stay_text(report, tmp_path):
    seen = visit(report, tmp_path)
    assert seen.console == []
    assert seen.requests == []
    page = Page(seen.dom)
    assert page.all("script") == [{}]
    assert page.said("script")[0].startswith('"use strict"; (() => { const sheets')
    assert SCRIPT in page.said("th")
    assert SCRIPT in page.said("figcaption")
    assert page.said("h1") == ["X and Y differ"]
    # What the browser understood is what was written; the script makes buttons of headings.
    understood = [tag for tag, _ in page.tags if tag != "button"]
    assert understood == [tag for tag, _ in Page(report).tags]


STEPS = """
addEventListener("load", () => {
  const page = document.querySelector("iframe").contentDocument;
  const cells = () => [...page.querySelectorAll("#all-columns tbody th")];
  const names = () => cells().map((th) => th.textContent);
  const button = (place) => page.querySelectorAll("#all-columns thead button")[place];
  const search = page.getElementById("column-search");
  const find = (text) => { search.value = text; search.dispatchEvent(new Event("input")); };
  const said = { first: names() };
  button(3).click(); said.size = names();
  button(3).click(); said.reversed = names();
  said.sorted = page.querySelector("#all-columns [aria-sort]").getAttribute("aria-sort");
  button(0).click(); said.name = names();
  find("C1"); said.found = names();
  said.count = page.getElementById("column-count").textContent;
  find(""); said.all = names().length;
  document.querySelector("p").textContent = JSON.stringify(said);
});
"""


def test_all_columns_are_sorted_and_searched(tmp_path, monkeypatch):
    monkeypatch.setattr("tellapart.report.page.MOST_SHOWN", 8)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 30)), rng.normal(size=(40, 30))
    names = [f"c{k}" for k in range(30)]
    result = ta.two_sample_test(
        pd.DataFrame(x, columns=names),
        pd.DataFrame(y, columns=names),
        method="split",
        n_variables=2,
        regularization=0.1,
        n_permutations=19,
        random_state=0,
    )
    page = result.to_html(stability=False)
    # Without the script, and in print, the first rows are there.
    assert page.partition("<template")[0].count("<tr data-quartiles") == 8
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    frame = f'<!DOCTYPE html><p></p><iframe src="report.html"></iframe><script>{STEPS}</script>'
    seen = visit(frame, tmp_path)
    assert seen.requests == []
    said = json.loads(Page(seen.dom).said("p")[0])
    sizes = result.columns_table().set_index("column")["smd"].abs()
    order = sizes.sort_values(ascending=False).index.tolist()
    # Equal to two decimals is equal to the page.
    assert np.allclose(sizes[said["first"]], sizes[order[:8]], atol=0.005)
    assert np.allclose(sizes[said["size"]], sizes[order[:8]], atol=0.005)
    assert np.allclose(sizes[said["reversed"]], sizes[order[::-1][:8]], atol=0.005)
    assert said["sorted"] == "ascending"
    assert said["name"] == names[:8]
    assert said["found"] == ["c1", *(f"c{k}" for k in range(10, 17))]
    assert said["count"] == "8 of 30 columns shown, sorted by Column, ascending"
    assert said["all"] == 8


MANY = 60
NAMES = "[...document.querySelectorAll('#all-findings tbody tr:not(.beyond, .detail) th')]"
SEEN = f"{NAMES}.map((th) => th.textContent.trim())"
COUNT = "document.getElementById('finding-count').textContent"
SORTED = "document.querySelector('#all-findings [aria-sort]').getAttribute('aria-sort')"
ROWS_ON_PAPER = re.compile(rb"/S /TR\b")  # the rows of tables in a tagged PDF


@pytest.fixture(scope="module")
def findings():
    """Effects of three kinds; the most significant is not the largest."""
    kinds = {"location": "mean", "spread": "SD", "correlation": "correlation"}
    return shared_scan().findings + tuple(
        make_finding(kind, (f"v{i}",), measure=measure, effect=0.1 + i / 20, pvalue=0.01 + i / 1e4)
        for i, (kind, measure) in zip(range(MANY), list(kinds.items()) * MANY, strict=False)
    )


@pytest.fixture(scope="module")
def long_page(findings, tmp_path_factory):
    result = shared_scan()
    scan = replace(result.scan, findings=findings)
    page = tmp_path_factory.mktemp("page") / "report.html"
    page.write_text(replace(result, scan=scan).to_html(stability=False), encoding="utf-8")
    return page


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if os.name == "nt":
        pytest.skip("the browser is driven by a pipe that Windows does not have")
    tab = Tab(BROWSER, tmp_path_factory.mktemp("profile"))
    yield tab
    tab.close()


@pytest.fixture
def tab(browser, long_page):
    browser.resize(1100)
    browser.open(long_page)
    return browser


def heading(place):
    return f"#all-findings thead th:nth-child({place}) button"


def test_findings_are_sorted_by_mouse_and_keys(tab, findings):
    names = [", ".join(finding.variables) for finding in findings]
    assert tab.ask(SEEN) == names[:25]
    assert tab.ask(COUNT) == f"25 of {len(names)} findings shown"
    tab.click(heading(4))
    sizes = {name: magnitude(finding) for name, finding in zip(names, findings, strict=True)}
    shown = [sizes[name] for name in tab.ask(SEEN)]
    assert np.allclose(shown, sorted(sizes.values(), reverse=True)[:25], rtol=1e-5)
    assert tab.ask(SORTED) == "descending"
    tab.press("Tab")  # on to the next heading
    tab.press("Enter")
    pvalues = {name: finding.pvalue for name, finding in zip(names, findings, strict=True)}
    assert [pvalues[name] for name in tab.ask(SEEN)] == sorted(pvalues.values())[:25]
    tab.press(" ")
    assert tab.ask(SORTED) == "descending"
    assert tab.ask(SEEN)[0] == names[-1]
    assert tab.ask(COUNT).endswith("sorted by Adjusted\N{NO-BREAK SPACE}p, descending")
    assert "sorted by Adjusted" in tab.ask(
        "document.querySelector('#all-findings caption').textContent"
    )
    ring = "getComputedStyle(document.activeElement).outlineStyle"
    assert tab.ask(ring) == "solid"  # the focus is visible


def test_findings_are_searched_and_filtered(tab, findings):
    tab.click("#finding-search")
    tab.type("V1 mean")
    wanted = [f.variables[0] for f in findings if f.kind == "location"]
    assert tab.ask(SEEN) == [name for name in wanted if name.startswith("v1")]
    assert tab.ask(COUNT) == f"{len(tab.ask(SEEN))} of {len(findings)} findings shown"
    tab.ask("document.getElementById('finding-search').value = ''")
    choose = "const kind = document.getElementById('finding-kind'); kind.value = {!r};"
    choose += "kind.dispatchEvent(new Event('change'))"
    tab.ask(f"{{ {choose.format('Standard deviation')} }}")
    spreads = [f.variables[0] for f in findings if f.kind == "spread"]
    assert tab.ask(SEEN) == spreads
    tab.ask(f"{{ {choose.format('')} }}")
    tab.click(".more")
    assert tab.ask(SEEN) == [", ".join(f.variables) for f in findings]
    assert tab.ask("document.querySelector('.more').textContent") == "Show the first 25"


def test_rows_unfold(tab):
    tab.click("#all-findings tbody th button")
    opened = "document.querySelector('#all-findings .detail')"
    first = shared_scan().findings[0]
    said = tab.ask(f"{opened}.textContent")
    assert all(name in said for name in first.variables)
    assert "SD ratio" in said
    assert tab.ask(f"{opened}.querySelectorAll('svg use').length") >= 1
    tab.press("Enter")  # the focus has stayed
    assert tab.ask(opened) is None
    # A column without a figure: its quartiles are drawn, its findings listed.
    tab.click("#column-search")
    tab.type("noise")
    tab.click("#all-columns tbody th button")
    noise = "document.querySelector('#all-columns .detail')"
    assert "No findings of this column." in tab.ask(f"{noise}.textContent")
    assert tab.ask(f"{noise}.querySelectorAll('.box').length") == 2
    tab.ask("document.getElementById('column-search').value = 'age'")
    tab.click("#column-search")
    tab.type(" ")
    tab.click("#all-columns tbody th button")
    assert "Mean: mean 49.91 in old, 59.87 in new; SMD −1.29 (" in tab.ask(f"{noise}.textContent")


def test_what_a_screen_reader_is_told(tab):
    told = {}
    for node in tab.call("Accessibility.getFullAXTree")["nodes"]:
        told.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value"))
    assert {"Search findings", "Search columns and findings"} == set(told["searchbox"])
    assert told["search"] == ["Findings", "Columns"]
    assert told["combobox"] == ["Kind"]
    assert "Effect size" in told["columnheader"]  # without its arrow
    assert {"age", "weight, height", "v1"} <= set(told["rowheader"])
    assert "Significant differences, most significant first" in told["table"]
    assert len(told["status"]) == 2


def test_a_phone_shows_all_of_it(tab):
    tab.resize(390)
    tab.click("#all-findings tbody th button")
    tab.click("#all-columns tbody th button")
    assert tab.ask("document.documentElement.scrollWidth") <= 390
    tab.click(heading(5))  # headings are seen as buttons
    assert tab.ask(SORTED) == "ascending"


def test_all_findings_are_printed_and_read_without_the_script(tab, long_page, findings):
    rows = len(ROWS_ON_PAPER.findall(tab.print()))
    assert rows > len(findings)
    tab.click("#finding-search")
    tab.type("no such finding")
    assert rows - len(ROWS_ON_PAPER.findall(tab.print())) == len(findings)
    tab.open(long_page, scripts=False)
    assert len(tab.ask(SEEN)) == len(findings)
    assert tab.ask("document.getElementById('finding-tools').checkVisibility()") is False


def styles():
    """Return name and style sheet of each font to try, at the usual and at a larger size."""
    listed = shutil.which("fc-list")
    known = subprocess.check_output([listed, ":", "family"], text=True) if listed else ""
    families = ["serif", "sans-serif", "cursive", *(name for name in FAMILIES if name in known)]
    fonts = {name: f'font-family: "{name}" !important;' for name in families[3:]}
    fonts |= {name: f"font-family: {name} !important;" for name in families[:3]}
    return {
        f"{name}, {size} %": f"* {{ {rule} }} html {{ font-size: {size}% !important; }}"
        for name, rule in {"its own": "", "wide": WIDE, **fonts}.items()
        for size in (100, 120)
    }


def measure(page, folder, sheets, *options):
    """Return what a page becomes with each style sheet at each width."""
    # Without its policy, which would hide an outside address: there is none.
    open_to_all, found = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    assert found == 1
    frames = ""
    for number, (name, sheet) in enumerate(sheets.items()):
        text = open_to_all.replace("</head>", f"<style>{sheet}</style></head>")
        (folder / f"{number}.html").write_text(text, encoding="utf-8")
        frames += "".join(
            f'<iframe name="{name}" src="{number}.html" style="border: 0; width: {width}px">'
            "</iframe>"
            for width in WIDTHS
        )
    seen = visit(MEASURE.format(frames=frames), folder, *options)
    assert seen.console == []
    assert seen.requests == []
    measured = json.loads(Page(seen.dom).said("p")[0])
    assert [frame["asked"] for frame in measured] == list(WIDTHS) * len(sheets)
    return measured


@pytest.mark.parametrize("name", ["report", "groups"])
def test_it_fits_every_screen_in_any_font(name, request, tmp_path):
    measured = measure(request.getfixturevalue(name), tmp_path, styles())
    wide = {(f["name"], f["asked"]): f["needed"] for f in measured if f["needed"] > f["asked"]}
    assert wide == {}, "it must not scroll sideways"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_in_light_and_dark(report, tmp_path, scheme):
    number = {"dark": 0, "light": 1}[scheme]
    option = f"--blink-settings=preferredColorScheme={number}"
    for frame in measure(report, tmp_path, {"its own": ""}, option):
        assert frame["shown"] > 50
        assert frame["skip"].startswith("-")
        ground, ink = (brightness(frame[name]) for name in ("ground", "ink"))
        assert (ground < 60 < 200 < ink) if scheme == "dark" else (ink < 60 < 200 < ground)


def brightness(colour):
    return np.mean([int(part) for part in re.findall(r"\d+", colour)[:3]])
