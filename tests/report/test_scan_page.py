"""The page of a scan: what differs first, names as text, and nothing computed while drawing."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from browser import find_browser, open_page
from html_page import Page
from scanned import SCRIPT, make_finding, run_scan, shared_scan
from tellapart.report.page import render_page


@pytest.fixture(scope="module")
def result():
    return shared_scan()


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


def test_the_first_screen_says_what_differs(result, page):
    kinds = {finding.kind for finding in result.findings}
    assert {"location", "spread", "share", "correlation"} <= kinds
    assert page.said("h1") == ["old and new differ"]
    header = page.said("header")[0]
    assert result.story()[0] in header
    assert "selected" not in header
    assert page.said("h2")[0] == "What differs?"


def test_every_finding_is_a_row(result, page):
    rows, body = page.said("tr"), page.said("body")[0]
    for finding in result.findings:
        names = ", ".join(finding.variables)
        assert any(names in row and finding.change() in row for row in rows)
    assert "the familywise error rate is at most 0.05" in body
    assert "inflated by selection (winner's curse)" in body
    assert "held-out" not in body
    assert "training rows" not in body


def test_named_columns_and_pairs_are_shown(result, page):
    captions = " ".join(page.said("figcaption"))
    for finding in result.findings:
        if len(finding.variables) == 1:
            assert finding.variables[0] in page.said("figcaption")
    assert "weight and height" in captions
    assert any("group and habit" in caption for caption in page.said("caption"))
    every = set(page.said("th"))
    assert all(name in every for name in result.variable_pvalues)


def test_families_and_the_choice_are_explained(result, page):
    body = page.said("body")[0]
    for name, p in result.families.items():
        assert any(
            row.startswith(name.capitalize()) and f"{p:.3g}" in row for row in page.said("tr")
        )
    assert "the observed labelling is part of the reference set" in body
    assert "distances between whole rows (which also respond to differences in dep" in body
    assert "Unadjusted p-values by family" in page.said("caption")
    assert "all families share one set of permutations" in body
    assert "The p-value does not depend on the selection." in body
    assert "nearly all of the criterion that ten variables reach" in body
    assert "none: joint criterion" in body
    assert "random halves of all rows" in body
    assert "Most discriminating subset" in page.said("h2")


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
    assert page.all("script") == [{}]
    assert page.said("script")[0].startswith('"use strict"; (() => { const sheets')
    assert SCRIPT in page.said("th")


class Sealed:
    """A sample whose size may be asked for and whose values may not."""

    def __init__(self, values):
        self.shape = values.shape

    def __getitem__(self, index):
        pytest.fail("drawing looked at the data")


def test_drawing_computes_nothing(result, text):
    shown, samples = result.page_data(stability=5), result.held_out
    sealed = replace(samples, x=Sealed(samples.x), y=Sealed(samples.y))
    bare = replace(result, held_out=sealed, train=None, kernel=None)
    assert render_page(bare, shown) == text


def test_no_difference_shows_families_and_names_nothing(alike):
    page = Page(alike.to_html(stability=False))
    body = page.said("body")[0]
    assert page.said("h1") == ["No significant difference between old and new"]
    assert alike.limits.summary() in page.said("header")[0]
    assert "of a kind to which no family of differences responds" in body
    assert "There are no findings: the test does not reject" in body
    assert "Effect sizes" not in page.said("h3")
    assert "Location" in page.said("th")


def test_a_selection_without_a_difference_is_called_what_it_is(alike):
    page = Page(alike.to_html(stability=False))
    assert "Selected variables (may be noise)" in page.said("h2")
    assert "Most discriminating subset" not in page.said("h2")
    body = page.said("body")[0]
    noise = body.index("the best of what may be noise")
    assert noise < body.index("Optimal among all subsets")
    assert "not about whether the variables differ" in body


def test_selected_variables_that_are_not_significant_are_called_so(result):
    changes = {
        name: replace(change, named=False) for name, change in result.selection.changes.items()
    }
    selection = replace(result.selection, changes=changes)
    body = Page(replace(result, selection=selection).to_html(stability=False)).said("body")[0]
    assert "None of the selected variables is individually significant" in body


def test_skipped_families_and_parts_are_told(alike):
    scan = replace(
        alike.scan,
        skipped={"higher": "needs <b> rows"},
        notes={"pair": "pairs were screened among 3 of 9 columns"},
        rows_per_bin=7,
    )
    body = Page(replace(alike, scan=scan).to_html(stability=False)).said("body")[0]
    assert "Could not run: needs <b> rows." in body
    assert "Pairs were screened among 3 of 9 columns." in body
    assert "in blocks of 7 rows" in body


def test_a_difference_without_a_name(result):
    scan = replace(result.scan, findings=())
    page = Page(replace(result, scan=scan).to_html(stability=False))
    assert "No single column, pair or triple is individually significant" in page.said("header")[0]
    assert "The families below show where it was detected" in page.said("body")[0]
    assert "pairs" not in {tag.get("aria-labelledby") for tag in page.all("section")}


def test_every_one_of_many_findings_is_on_the_page(result):
    kinds = ("correlation", "location", "spread", "share")
    measures = {"location": "mean", "spread": "SD", "share": "prevalence"}
    many = tuple(
        make_finding(kinds[i % 4], (f"v{i:03}",), measure=measures.get(kinds[i % 4], "correlation"))
        for i in range(318)
    )
    page = Page(replace(result, scan=replace(result.scan, findings=many)).to_html(stability=False))
    assert page.said("caption")[0] == "Significant differences, most significant first"
    heads = page.said("th")
    assert all(heads.count(finding.variables[0]) == 1 for finding in many)
    kinds = {"all (318)", "Mean (80)", "Standard deviation (79)", "Correlation (80)"}
    assert kinds <= set(page.said("option"))
    assert "The figures show 25 of 318 findings" in page.said("body")[0]
    assert "Standardised mean differences (7 of 80 are shown)" in page.said("figcaption")


def test_simultaneous_intervals_are_on_the_page(result):
    found = (make_finding(simultaneous=(0.25, 0.75)),)
    page = Page(replace(result, scan=replace(result.scan, findings=found)).to_html(stability=False))
    assert any("95 % CI +0.40 to +0.60 simultaneous +0.25 to +0.75" in r for r in page.said("tr"))


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
    assert re.search(r"The first \d+ of \d+ are shown\.", text)


def test_names_break_after_underscores():
    x = np.random.default_rng(0).normal(size=(60, 2))
    names = ["predicted_2month_survival", "v"]
    left, right = pd.DataFrame(x, columns=names), pd.DataFrame(x * [9, 1], columns=names)
    text = run_scan(left, right).to_html(stability=False)
    assert text.count("predicted_<wbr>2month_<wbr>survival</bdi>") >= 2


def test_a_local_difference_is_drawn_on_a_map():
    rng = np.random.default_rng(0)
    values = rng.random(3000)
    kept = values[rng.random(3000) < (1 + np.cos(8 * np.pi * values)) / 2][:300, np.newaxis]
    result = ta.two_sample_test(
        pd.DataFrame(kept, columns=["depth"]),
        pd.DataFrame(rng.random((300, 1)), columns=["depth"]),
        n_permutations=99,
        random_state=0,
    )
    (density,) = result.page_data(stability=False).maps
    assert density.names == ("depth",)
    assert abs(density.difference.sum()) < 0.05
    assert density.regions == result.findings[0].regions
    page = result.to_html(stability=False)
    assert "Where one sample is denser" in page
    assert density.regions[0].text in page
