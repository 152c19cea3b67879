"""The history of a monitor as a figure and as a page."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

import tellapart as ta
from html_page import Page
from tellapart.report.plots import COLOUR_Y


def normal(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 2))


@pytest.fixture(scope="module")
def monitor():
    watching = ta.compare_to_reference(normal(120, 0), n_permutations=99, random_state=0)
    watching.check(normal(40, 1), label="<b>Monday</b> $5")
    watching.check(normal(40, 2) + np.array([2, 0]), label="Tuesday")
    return watching


def test_the_figure_shows_capital_pvalues_and_alarms(monitor):
    figure = monitor.plot()
    capital, pvalues = figure.axes
    assert capital.lines[0].get_ydata().tolist() == [r.capital for r in monitor.history]
    assert pvalues.lines[0].get_ydata().tolist() == [r.pvalue for r in monitor.history]
    for axes in figure.axes:
        (marked,) = [line for line in axes.lines if to_hex(line.get_color()) == COLOUR_Y.lower()]
        assert marked.get_xdata().tolist() == [2]
    assert 20 in capital.lines[1].get_ydata()


def test_with_a_plan_there_are_only_pvalues():
    planned = ta.compare_to_reference(normal(60, 0), n_checks=20, n_permutations=99, random_state=0)
    assert len(planned.plot().axes) == 1
    for seed in range(1, 11):
        planned.check(normal(20, seed))
    assert len(planned.plot().axes) == 1
    assert "e-value" in planned.to_html()


def test_the_page_tells_all_and_escapes(monitor, tmp_path):
    page = monitor.to_html(tmp_path / "monitor.html")
    assert (tmp_path / "monitor.html").read_text(encoding="utf-8") == page
    assert "<b>Monday" not in page
    assert "&lt;b&gt;Monday" in page
    assert monitor.history[1].findings[0] in page
    assert "The probability of any false alarm, however long the sequence, is at most 0.05" in page
    assert "monitor = ta.compare_to_reference(reference" in page
    Page(page)
    empty = ta.compare_to_reference(normal(60, 0), random_state=0)
    assert "No batch was checked yet." in empty.to_html()


def test_summary_and_json_tell_the_same(monitor, tmp_path):
    told = monitor.summary()
    assert told.startswith("2 checks, 1 alarm, the last at check 2 (Tuesday).")
    assert monitor.history[1].findings[0] in told
    assert '"verdict": "2 checks, 1 alarm' in monitor.to_json(tmp_path / "m.json")
