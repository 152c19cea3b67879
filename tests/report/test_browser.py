"""The report in a real browser: quiet, alone, names as text, and as wide as the screen."""

import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from browser import find_browser, open_page
from html_page import Page

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
    assert page.said("script")[0].startswith('"use strict"; (() => { const table')
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
    assert page.partition("<template")[0].count("<tr>") >= 8
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
    assert said["count"] == "8 of 30 columns shown"
    assert said["all"] == 8


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
