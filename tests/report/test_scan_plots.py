"""The figure of a scan: every finding with its interval, families, columns, and pairs."""

import io
import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from scanned import column_tests, make_finding, run_scan, shared_scan
from tellapart.errors import InputError
from tellapart.report.plots import (
    COLOUR_NULL,
    COLOUR_STATISTIC,
    COLOUR_X,
    COLOUR_Y,
    axis_label,
    draw_effects,
)
from tellapart.results.figure_data import PANELS, SCAN_PANELS
from tellapart.scan.finding_kinds import POINTS, SD_RATIO, SMD


@pytest.fixture(scope="module")
def result():
    return shared_scan("$dose^$")


def test_the_figure_is_drawn(result):
    figure = result.plot()
    assert isinstance(figure, Figure)
    content = io.BytesIO()
    figure.savefig(content, format="png")
    assert content.getvalue().startswith(b"\x89PNG")
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


def test_the_figure_of_no_difference_shows_the_families():
    rng = np.random.default_rng(4)
    figure = run_scan(rng.normal(size=(40, 3)), rng.normal(size=(40, 3))).plot()
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert "Families of differences" in titles


@pytest.mark.parametrize("what", [*PANELS, *SCAN_PANELS])
def test_panels_take_axes_and_give_them_back(result, what):
    left, right = Figure().subplots(1, 2)
    assert result.plot(what, ax=right) is right
    assert right.has_data() or right.child_axes
    assert not left.has_data()


def test_effects_show_intervals_and_direction():
    found = [make_finding(effect=0.5), make_finding(effect=-0.5, interval=(-0.6, math.inf))]
    axes = draw_effects(Figure().subplots(), SMD, found)
    first, _, second, mark, neutral = axes.lines
    assert list(first.get_xdata()) == [0.4, 0.6]
    assert list(second.get_xdata()) == [-0.6, -0.5]
    assert (first.get_color(), second.get_color()) == (COLOUR_X, COLOUR_Y)
    assert mark.get_marker() == "^"
    assert neutral.get_xdata()[0] == 0.0


@pytest.mark.parametrize("interval", [(0.49, 0.52), (0.01, 300.0), (0.0, 0.6)])
def test_ratios_have_a_few_round_ticks(interval):
    found = [make_finding("spread", effect=0.5, interval=interval)]
    axes = draw_effects(Figure().subplots(), SD_RATIO, found)
    assert axes.get_xscale() == "log"
    assert 2 <= len(axes.get_xticks()) <= 7


def test_axes_name_what_they_show(result):
    assert axis_label(SMD, ("A", "B")) == "Standardised mean differences"
    assert axis_label(SD_RATIO, ("A", "B")) == "Ratios of standard deviations, A/B"
    assert axis_label(POINTS, ("A", "B")) == "Differences of proportions, percentage points"
    assert result.plot("findings").get_title() == "Findings"
    assert result.plot("null").get_title() == "p ≤ 0.005"


def test_families_say_which_could_not_run(result):
    scan = replace(result.scan, skipped={"higher": "needs rows"}, families={"location": 0.5})
    axes = replace(result, scan=scan).plot("families")
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["location", "higher (could not run)"]
    assert axes.patches[0].get_width() == pytest.approx(-math.log10(0.5))


def test_columns_come_with_the_smallest_pvalue_first(result):
    axes = result.plot("columns")
    widths = [patch.get_width() for patch in axes.patches]
    assert widths == sorted(widths, reverse=True)
    assert len(widths) == len(result.variable_pvalues)
    many = column_tests({f"v{i}": 0.001 if i == 70 else 1.0 for i in range(80)})
    shown = replace(result, scan=replace(result.scan, column_tests=many)).plot("columns")
    assert shown.get_yticklabels()[0].get_text() == "v70"
    assert shown.get_title(loc="left") == "Smallest p-values of columns, 30 of 80"
    first, second = (patch.get_facecolor() for patch in shown.patches[:2])
    assert first != second
    assert COLOUR_STATISTIC != COLOUR_NULL


def test_pairs_are_asked_for_by_name(result):
    axes = result.plot("pair", variables=("age", "$dose^$"))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("age", r"\$dose^\$")
    assert {axes.get_xlabel() for axes in [result.plot("pair")]} <= {
        "weight",
        "height",
        "proportion, %",
    }
    bars = result.plot("pair", variables=("group", "habit"))
    assert bars.get_title() == "group and habit"


@pytest.mark.parametrize("variables", ["ab", ("age",), ("age", "age"), ("age", "nonsense"), 3])
def test_bad_pairs_are_one_clear_error(result, variables):
    with pytest.raises(InputError, match="variables must be the names of two columns"):
        result.plot("pair", variables=variables)


@pytest.mark.parametrize("what", SCAN_PANELS)
def test_other_tests_have_no_findings(what):
    rng = np.random.default_rng(0)
    split = run_scan(rng.normal(size=(20, 2)), rng.normal(size=(20, 2)), method="split")
    with pytest.raises(InputError, match="what a scan found"):
        split.plot(what)


def test_a_volcano_has_every_column_with_a_signed_effect(result):
    table = result.columns_table()
    axes = result.plot("volcano")
    drawn = sum(len(one.get_offsets()) for one in axes.collections)
    signed = table[(table["type"] != "categorical") & np.isfinite(table["smd"])]
    assert drawn == len(signed)
    named = {one.variables[0] for one in result.findings if len(one.variables) == 1}
    n_significant = int(signed["column"].isin(named).sum())
    assert axes.get_title(loc="left") == f"{n_significant} of {len(signed)} columns significant"
    heights = np.concatenate([one.get_offsets()[:, 1] for one in axes.collections])
    np.testing.assert_allclose(np.sort(heights), np.sort(-np.log10(signed["pvalue"])))
    assert "log₂ fold change" in result.plot("volcano", log2_fold_change="log1p").get_xlabel()


def test_a_love_plot_has_the_differences_by_size(result):
    table = result.columns_table().set_index("column")
    axes = result.plot("love")
    points = np.concatenate([one.get_offsets() for one in axes.collections[1::2]])
    points = points[np.argsort(points[:, 1])]
    expected = table["smd"][table["smd"].abs().sort_values(ascending=False).index]
    np.testing.assert_allclose(points[:, 0], expected)
