"""Cards for notebooks: the answer in small, names as text, nothing from outside."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from html_page import Page
from scanned import make_finding, shared_scan
from tellapart.report.notebook import result_card, selection_card

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    left = pd.DataFrame(rng.normal(size=(60, 3)), columns=["age", SCRIPT, "noise"])
    right = pd.DataFrame(rng.normal([2, 2, 0], size=(70, 3)), columns=left.columns)
    return ta.two_sample_test(
        left,
        right,
        method="split",
        n_variables=2,
        regularization=0.1,
        n_permutations=99,
        random_state=0,
    )


def test_a_result_shows_its_answer(result):
    card = Page(result._repr_html_())
    said = card.said("div")[0]
    assert result.verdict in said
    assert result.selection.certificate[1:] in said
    assert all(line in said for line in result.evidence())
    assert set(card.said("th")) == {"Variable", "Weight", "What differs", *result.variables}
    assert set(result.selection.description.values()) <= set(card.said("td"))
    for weight in result.selection.weights.values():
        assert f"{weight:.3f}" in card.said("td")


def test_names_stay_text(result):
    text = result_card(replace(result, labels=(SCRIPT, "{0} %s")))
    assert SCRIPT not in text
    card = Page(text)
    assert card.all("script") == []
    assert f"{SCRIPT} and {{0}} %s differ" in card.said("p")[0]
    assert SCRIPT in card.said("bdi")


def test_it_follows_any_theme_and_needs_nothing(result):
    text = result_card(result)
    assert "://" not in text
    assert Page(text).all("style", "img", "link") == []
    # Only bars and the edge have a colour of their own: text and ground are the notebook's.
    assert set(re.findall(r"[^-]color: *[^;]+|background: *[^;]+", text)) == {
        "background: none",
        "background: #009e73",
    }
    assert "4px solid #009e73" in text
    assert "4px solid #e69f00" in result_card(replace(result, pvalue=0.5))


def test_a_selection_shows_its_variables(result):
    card = Page(selection_card(result.selection))
    assert "2 of 3 variables selected" in card.said("p")[0]
    assert SCRIPT in card.said("th")
    assert "λ = 0.1" in card.said("div")[0]


def test_many_variables_are_cut_short():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 40)), rng.normal(1.0, size=(30, 40))
    chosen = ta.select_variables(x, y, 40, regularization=0.0)
    card = Page(selection_card(chosen))
    assert len(card.all("tr")) == 16
    assert card.said("caption") == ["and 25 with smaller weights"]
    few = Page(selection_card(replace(chosen, support=np.zeros(0, dtype=int), z=np.zeros(40))))
    assert len(few.all("tr")) == 1


@pytest.fixture(scope="module")
def scanned():
    return shared_scan(SCRIPT)


def test_a_scan_shows_its_story_and_findings(scanned):
    text = result_card(scanned)
    card = Page(text)
    said = card.said("div")[0]
    assert scanned.verdict in said
    assert scanned.story()[0] in said
    assert SCRIPT not in text
    assert SCRIPT in card.said("th")
    for finding in scanned.findings:
        assert any(finding.change() in cell for cell in card.said("td"))
    assert "Most discriminating subset" in said
    assert all(line in said for line in scanned.evidence())


def test_many_findings_are_cut_short(scanned):
    many = tuple(make_finding(variables=(f"v{i}",), effect=0.1 * i + 0.1) for i in range(30))
    card = Page(result_card(replace(scanned, scan=replace(scanned.scan, findings=many))))
    assert len(card.all("tr")) == 9
    assert card.said("caption") == ["and 22 more: `findings` has all, `to_csv` writes them"]


def test_a_scan_that_finds_nothing_has_no_table(scanned):
    card = Page(result_card(replace(scanned, pvalue=0.5)))
    assert card.all("table") == []
    assert "No significant difference between" in card.said("p")[0]
    assert "the best of what may be noise" in card.said("div")[0]


def test_headings_and_numbers_of_cards_are_not_broken(result):
    """Names may break, and rather after an underscore than within a word."""
    scanned = shared_scan()
    for text in (result_card(result), result_card(scanned), selection_card(result.selection)):
        headings = re.findall(r'<th scope="col" style="([^"]*)"', text)
        assert headings
        assert all("overflow-wrap: normal" in style for style in headings)
        assert "overflow-x: auto" in text
    numbers = re.findall(r'<td style="([^"]*)">(?:≤ )?0\.\d+</td>', result_card(scanned))
    assert numbers
    assert all("white-space: nowrap" in style for style in numbers)
    long = make_finding("location", ("predicted_2month_survival",))
    named = replace(scanned, scan=replace(scanned.scan, findings=(long,)))
    assert "predicted_<wbr>2month_<wbr>survival" in result_card(named)


@pytest.mark.parametrize("what", [None, "findings", "null"])
def test_notebooks_show_figures_and_single_panels(what):
    """Neither is known to pyplot, whose figures alone a notebook shows by itself."""
    shown = shared_scan().plot(what) if what else shared_scan().plot()
    assert shown._repr_png_().startswith(b"\x89PNG")
