"""The page of a scan: what differs first, names as text, and nothing computed while drawing."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from browser import find_browser, open_page
from html_page import Page
from scanned import SCRIPT, make_finding, make_tables, run_scan
from tellapart.report.page import render_page


@pytest.fixture(scope="module")
def result():
    return run_scan(*make_tables())


@pytest.fixture(scope="module")
def text(result):
    return result.to_html(stability=5)


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


@pytest.fixture(scope="module")
def alike():
    rng = np.random.default_rng(4)
    result = run_scan(rng.normal(size=(40, 3)), rng.normal(size=(40, 3)))
    assert not result.reject
    return result


def test_the_first_screen_tells_the_story(result, page):
    kinds = {finding.kind for finding in result.findings}
    assert {"location", "spread", "share", "correlation"} <= kinds
    assert page.said("h1") == ["old and new differ"]
    header = page.said("header")[0]
    assert result.story()[0] in header
    assert "were chosen" not in header
    assert page.said("h2")[0] == "What differs?"


def test_every_finding_is_a_row(result, page):
    rows, body = page.said("tr"), page.said("body")[0]
    for finding in result.findings:
        names = ", ".join(finding.variables)
        assert any(names in row and finding.change() in row for row in rows)
    assert "the chance that anything at all is named would be at most 0.05" in body
    assert "held-out" not in body
    assert "training rows" not in body


def test_named_columns_and_pairs_are_shown(result, page):
    captions = " ".join(page.said("figcaption"))
    for finding in result.findings:
        if len(finding.variables) == 1:
            assert finding.variables[0] in page.said("figcaption")
    assert "weight and height" in captions
    assert any("group and habit" in caption for caption in page.said("caption"))
    assert "Adjusted p-values of columns" in page.said("title")
    assert any("Of 8 columns, 3 reach the level 0.05" in said for said in page.said("desc"))


def test_families_and_the_choice_are_explained(result, page):
    body = page.said("body")[0]
    for name, p in result.families.items():
        assert any(
            row.startswith(name.capitalize()) and f"{p:.3g}" in row for row in page.said("tr")
        )
    assert "goes through all families in just the way the true labels do" in body
    assert "all families share one set of permutations" in body
    assert "The p-value does not depend on this choice." in body
    assert "as they carry nearly all the evidence of ten" in body
    assert "none: the choice is by evidence" in body
    assert "random halves of all rows" in body
    assert "Which few variables tell them apart best?" in page.said("h2")


def test_it_is_built_for_everyone(page):
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert len(page.all("caption")) == len(page.all("table"))
    ids = [tag["id"] for _, tag in page.tags if "id" in tag]
    assert len(ids) == len(set(ids))
    links = {tag["href"].removeprefix("#") for tag in page.all("a")} - {"main"}
    assert links == {tag["aria-labelledby"] for tag in page.all("section")}
    styles = " ".join(tag["style"] for _, tag in page.tags if "style" in tag)
    assert re.findall("#[0-9a-fA-F]{3,8}", styles) == []


def test_names_stay_text(text, page):
    assert SCRIPT not in text
    assert "://" not in text
    assert page.all("script") == []
    assert SCRIPT in page.said("th")


class Sealed:
    """A sample whose size may be asked for and whose values may not."""

    def __init__(self, values):
        self.shape = values.shape

    def __getitem__(self, index):
        pytest.fail("drawing looked at the data")


def test_drawing_computes_nothing(result, text):
    shown, samples = result.exhibit(stability=5), result.held_out
    sealed = replace(samples, x=Sealed(samples.x), y=Sealed(samples.y))
    bare = replace(result, held_out=sealed, train=None, kernel=None)
    assert render_page(bare, shown) == text


def test_no_difference_shows_families_and_names_nothing(alike):
    page = Page(alike.to_html(stability=False))
    body = page.said("body")[0]
    assert "of a kind that no family of differences sees" in body
    assert "Nothing is named: no difference was found" in body
    assert "How large is it?" not in body
    assert "Location" in page.said("th")
    assert "tell them apart" not in body


def test_skipped_families_and_parts_are_told(alike):
    scan = replace(
        alike.scan,
        skipped={"higher": "needs <b> rows"},
        notes={"pair": "pairs of 3 of 9 columns"},
        rows_per_bin=7,
    )
    body = Page(replace(alike, scan=scan).to_html(stability=False)).said("body")[0]
    assert "Could not run: needs <b> rows." in body
    assert "Looked at pairs of 3 of 9 columns." in body
    assert "in bins of 7" in body


def test_a_difference_without_a_name(result):
    scan = replace(result.scan, findings=())
    page = Page(replace(result, scan=scan).to_html(stability=False))
    assert "No single column, pair or triple carries it" in page.said("header")[0]
    assert "The families below show where it is seen" in page.said("body")[0]
    assert "pairs" not in {tag.get("aria-labelledby") for tag in page.all("section")}


def test_many_findings_are_cut_short(result):
    many = tuple(make_finding(variables=("age",), effect=0.1 * i + 0.1) for i in range(60))
    page = Page(replace(result, scan=replace(result.scan, findings=many)).to_html(stability=False))
    assert "25 of 60 are shown" in page.said("caption")[0]
    assert "Shifts of the mean (24 of 60 are shown)" in page.said("figcaption")


@pytest.mark.skipif(find_browser() is None, reason="no browser on PATH")
@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_it_does_not_scroll_sideways(text, width, tmp_path):
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    frame = tmp_path / "frame.html"
    frame.write_text(
        f'<!DOCTYPE html><p></p><iframe src="page.html" style="border: 0; width: {width}px">'
        "</iframe><script>addEventListener('load', () => { document.querySelector('p').textContent"
        " = document.querySelector('iframe').contentDocument.documentElement.scrollWidth; });"
        "</script>",
        encoding="utf-8",
    )
    seen = open_page(find_browser(), frame, tmp_path)
    assert seen.requests == []
    assert int(Page(seen.dom).said("p")[0]) <= width


def test_sentences_are_apart(page, alike):
    for shown in (page, Page(alike.to_html(stability=5))):
        for text in shown.said("p") + shown.said("li"):
            assert not re.search(r"[a-z]\.[A-Z0-9“]", text), text


def test_columns_that_are_shown_are_counted_in_a_sentence_of_its_own():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 60))
    result = run_scan(x, rng.normal(size=(60, 60)) + 1.5)
    text = " ".join(Page(result.to_html(stability=False)).said("p"))
    assert re.search(r"then those chosen below\. \d+ of \d+ are shown\.", text)


def test_names_break_after_underscores():
    x = np.random.default_rng(0).normal(size=(60, 2))
    names = ["predicted_2month_survival", "v"]
    left, right = pd.DataFrame(x, columns=names), pd.DataFrame(x * [9, 1], columns=names)
    text = run_scan(left, right).to_html(stability=False)
    assert text.count("predicted_<wbr>2month_<wbr>survival</bdi>") >= 2
