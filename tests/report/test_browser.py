"""The report in a real browser: quiet, alone, names as text, and as wide as the screen."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from browser import find_browser, open_page
from html_page import Page

BROWSER = find_browser()
SCRIPT = "<script>alert(1)</script>"
LONG = "a_name_without_a_space_" * 8
WIDTHS = (320, 390, 1280)

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
      asked: frame.clientWidth,
      needed: page.documentElement.scrollWidth,
      ground: getComputedStyle(page.body).backgroundColor,
      ink: getComputedStyle(page.body).color,
      shown: page.querySelectorAll("svg path").length,
      skip: getComputedStyle(page.querySelector(".skip")).top,
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
        n_variables=3,
        regularization=0.1,
        n_permutations=99,
        random_state=0,
    )
    assert SCRIPT in result.variables
    return result.to_html(stability=10)


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
    assert page.all("script") == []
    assert SCRIPT in page.said("th")
    assert SCRIPT in page.said("figcaption")
    assert page.said("h1") == ["X and Y differ"]
    # What the browser understood is what was written.
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in Page(report).tags]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_screen_in_light_and_dark(report, tmp_path, scheme):
    # Without its policy, which would hide an outside address: there is none.
    open_to_all, found = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", report)
    assert found == 1
    (tmp_path / "report.html").write_text(open_to_all, encoding="utf-8")
    frames = "".join(
        f'<iframe src="report.html" style="width: {width}px; height: 600px; border: 0"></iframe>'
        for width in WIDTHS
    )
    number = {"dark": 0, "light": 1}[scheme]
    option = f"--blink-settings=preferredColorScheme={number}"
    seen = visit(MEASURE.format(frames=frames), tmp_path, option)
    assert seen.console == []
    assert seen.requests == []
    measured = json.loads(Page(seen.dom).said("p")[0])
    assert [frame["asked"] for frame in measured] == list(WIDTHS)
    for frame in measured:
        assert frame["needed"] <= frame["asked"], "it must not scroll sideways"
        assert frame["shown"] > 50
        assert frame["skip"].startswith("-")
        ground, ink = (brightness(frame[name]) for name in ("ground", "ink"))
        assert (ground < 60 < 200 < ink) if scheme == "dark" else (ink < 60 < 200 < ground)


def brightness(colour):
    return np.mean([int(part) for part in re.findall(r"\d+", colour)[:3]])
