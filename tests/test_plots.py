"""The figure: everything is drawn, whatever the number of variables and their names."""

import io
import math
import re
import sys
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import tellapart as ta
from tellapart.plots import compute_marginal, draw_marginal, draw_null, draw_result, draw_weights
from tellapart.samples import Samples


def make_result(d, name="v{}", seed=0):
    rng = np.random.default_rng(seed)
    columns = max(d, 2)
    x, y = rng.normal(size=(60, columns)), rng.normal(0.5, 1.0, size=(80, columns))
    result = ta.two_sample_test(
        x, y, n_variables=d, regularization=0.0, n_permutations=99, random_state=0
    )
    names = tuple(name.format(s) for s in range(columns))
    return replace(
        result,
        selection=replace(result.selection, names=names),
        held_out=replace(result.held_out, names=names),
    )


def one_column(x, y, kind="numeric", labels=()):
    categories = {"c": tuple(labels)} if labels else {}
    return Samples(np.c_[x].astype(float), np.c_[y].astype(float), ("c",), (kind,), categories)


@pytest.mark.parametrize(("d", "panels"), [(1, 3), (5, 7), (20, 22), (25, 22)])
@pytest.mark.parametrize("name", ["v{}", "v{} " + "with a very long name, " * 5])
def test_all_panels_are_drawn(d, panels, name):
    figure = make_result(d, name).plot()
    assert isinstance(figure, Figure)
    assert len([axes for axes in figure.axes if axes.axison]) == panels
    content = io.BytesIO()
    figure.savefig(content, format="png")
    assert content.getvalue().startswith(b"\x89PNG")


def test_no_global_state():
    make_result(1).plot()
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


def test_weights_panel_shows_every_weight():
    result = make_result(5)
    axes = Figure().subplots()
    draw_weights(axes, result)
    widths = [patch.get_width() for patch in axes.patches]
    assert widths == pytest.approx(list(result.selection.weights.values()))
    assert [label.get_text() for label in axes.get_yticklabels()] == list(result.selection.weights)


def test_null_panel_marks_statistic_and_threshold():
    result = make_result(2)
    axes = Figure().subplots()
    draw_null(axes, result)
    marks = [line.get_xdata()[0] for line in axes.lines]
    assert marks == [result.statistic, result.threshold]
    axes = Figure().subplots()
    draw_null(axes, replace(result, threshold=math.inf))
    assert len(axes.lines) == 1


def test_a_squeezed_null_is_enlarged():
    result = make_result(2)
    axes = Figure().subplots()
    draw_null(axes, replace(result, statistic=result.threshold))
    assert axes.child_axes == []
    draw_null(axes, replace(result, statistic=100 * result.threshold))
    (inset,) = axes.child_axes
    assert sum(patch.get_height() for patch in inset.patches) == result.null_distribution.size
    assert [line.get_xdata()[0] for line in inset.lines] == [result.threshold]


def test_null_panel_of_equal_values():
    axes = Figure().subplots()
    draw_null(axes, replace(make_result(1), null_distribution=np.zeros(99), statistic=0.0))
    assert len(axes.lines) == 2


def test_numeric_marginal_is_a_density():
    rng = np.random.default_rng(0)
    marginal = compute_marginal(one_column(rng.normal(size=500), rng.normal(size=900)), 0)
    widths = np.diff(marginal.edges)
    assert marginal.bars == ()
    assert (marginal.x * widths).sum() == pytest.approx(1.0)
    assert (marginal.y * widths).sum() == pytest.approx(1.0)


def test_far_values_do_not_squeeze_the_rest():
    x = np.r_[np.random.default_rng(0).normal(size=999), 1e9]
    marginal = compute_marginal(one_column(x, x), 0)
    assert marginal.edges[-1] < 10


def test_counts_become_bars():
    marginal = compute_marginal(one_column([0, 0, 1, 2], [1, 1, 2, 2]), 0)
    assert marginal.bars == ("0", "1", "2")
    assert marginal.x.tolist() == [0.5, 0.25, 0.25]
    assert marginal.y.tolist() == [0.0, 0.5, 0.5]


def test_categories_show_their_labels():
    samples = one_column([0, 0, 1], [1, 2, 2], "categorical", ["red", "green", "blue"])
    assert compute_marginal(samples, 0).bars == ("red", "green", "blue")


def test_rare_categories_are_put_together():
    codes = np.repeat(np.arange(30), np.arange(30, 0, -1))
    labels = [f"label {i}" for i in range(30)]
    marginal = compute_marginal(one_column(codes, codes, "categorical", labels), 0)
    assert len(marginal.bars) == 8
    assert marginal.bars[-1] == "other"
    assert marginal.x.sum() == pytest.approx(1.0)


def test_a_column_constant_in_the_held_out_rows():
    marginal = compute_marginal(one_column([0.5, 0.5], [0.5, 0.5]), 0)
    assert marginal.bars == ("0.5",)


def test_mostly_equal_values_still_have_bins():
    x = np.r_[np.zeros(400), np.linspace(0.1, 1.5, 1)]
    y = np.r_[np.zeros(400), np.linspace(0.15, 1.6, 20)]
    marginal = compute_marginal(one_column(x, y), 0)
    assert (np.diff(marginal.edges) > 0).all()


@pytest.mark.parametrize("labels", [["a", "b"], ["a long label", "another long label"]])
def test_marginal_of_bars_is_drawn(labels):
    axes = Figure().subplots()
    draw_marginal(axes, compute_marginal(one_column([0, 1], [1, 1], "categorical", labels), 0))
    assert len(axes.patches) == 4


@pytest.mark.parametrize("name", ["$x^$", "$$", "cost in $, price in $", "bell\x07", "half \ud83d"])
def test_names_are_drawn_as_they_are(name):
    labels = [name, "other"]
    result = replace(make_result(2, name + "{}"), labels=(name, "Y"))
    figure = draw_result(result)
    draw_marginal(
        figure.add_subplot(), compute_marginal(one_column([0, 1], [1, 1], "categorical", labels), 0)
    )
    content = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(matplotlib.rcParams, "svg.fonttype", "none")
        figure.savefig(content, format="svg")
    text = "".join(ElementTree.fromstring(content.getvalue()).itertext())
    assert text.count(re.sub("[\x07\ud83d]", "\ufffd", name)) >= 5


def test_draw_result_is_what_plot_gives():
    result = make_result(2)
    assert len(draw_result(result).axes) == len(result.plot().axes)
