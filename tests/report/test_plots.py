"""The figure: everything is drawn, whatever the number of variables and their names."""

import io
import math
import sys
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import tellapart as ta
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.report.plots import (
    COLOUR_STATISTIC,
    COLOUR_X,
    COLOUR_Y,
    draw_embedding,
    draw_marginal,
    draw_null,
    draw_stability,
    draw_weights,
)
from tellapart.results.columns import compute_marginal
from tellapart.results.embedding import compute_embedding
from tellapart.results.figure_data import PANELS
from tellapart.selection.stability import Stability
from tellapart.text import safe


@cache
def make_result(d, name="v{}", seed=0):
    rng = np.random.default_rng(seed)
    columns = max(d, 2)
    x, y = rng.normal(size=(60, columns)), rng.normal(0.5, 1.0, size=(80, columns))
    result = ta.two_sample_test(
        x,
        y,
        method="split",
        n_variables=d,
        regularization=0.0,
        nonnegative=False,
        n_permutations=99,
        random_state=0,
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


@pytest.mark.parametrize(
    ("d", "panels", "name"),
    [
        (1, 3, "v{}"),
        (5, 7, "v{} " + "with a very long name, " * 5),
        (20, 22, "v{}"),
        (25, 22, "v{}"),
    ],
)
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


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("units", [np.arange(60) % 3, np.r_[np.zeros(500), 1, 2]])
def test_values_that_differ_in_the_last_digit_still_have_bins(units):
    values = 1.0 + np.spacing(1.0) * units
    marginal = compute_marginal(one_column(values, values), 0)
    assert (np.diff(marginal.edges) > 0).all()
    assert (marginal.x * np.diff(marginal.edges)).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("labels", [["a", "b"], ["a long label", "another long label"]])
def test_marginal_of_bars_is_drawn(labels):
    axes = Figure().subplots()
    draw_marginal(axes, compute_marginal(one_column([0, 1], [1, 1], "categorical", labels), 0))
    assert len(axes.patches) == 4


@pytest.mark.parametrize("name", ["$x^$", "$$", "cost in $, price in $", "bell\x07", "half \ud83d"])
def test_names_are_drawn_as_they_are(name):
    labels = [name, "other"]
    result = replace(make_result(2, name + "{}"), labels=(name, "Y"))
    figure = result.plot()
    draw_marginal(
        figure.add_subplot(), compute_marginal(one_column([0, 1], [1, 1], "categorical", labels), 0)
    )
    content = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(matplotlib.rcParams, "svg.fonttype", "none")
        figure.savefig(content, format="svg")
    text = "".join(ElementTree.fromstring(content.getvalue()).itertext())
    assert text.count(safe(name)) >= 5


@pytest.mark.parametrize("what", PANELS)
def test_panels_take_axes_and_give_them_back(what):
    result = make_result(3)
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert result.plot(what, ax=right) is right
    assert right.has_data()
    assert not left.has_data()
    alone = result.plot(what)
    assert alone.has_data()
    assert alone.figure is not figure
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


def test_panels_take_options():
    result = make_result(3)
    assert result.plot("marginal", variable="v2").get_title() == "v2"
    heaviest = next(iter(result.selection.weights))
    assert result.plot("marginal").get_title() == heaviest
    assert "in 4 resamples" in result.plot("stability", n_resamples=4).get_xlabel()
    assert result.plot("embedding", method="t-sne").get_xlabel() == "t-SNE 1"


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"what": "everything"}, "what"),
        ({"what": "null", "ax": 3}, "ax"),
        ({"ax": Figure().subplots()}, "ax"),
        ({"method": "pca"}, "options"),
        ({"what": "marginal", "variable": "nonsense"}, "variable"),
        ({"what": "embedding", "method": "nonsense"}, "method"),
        ({"what": "stability", "n_resamples": 0}, "n_resamples"),
    ],
)
def test_bad_panels_are_one_clear_error(arguments, name):
    with pytest.raises(InputError, match=name):
        make_result(1).plot(**arguments)


def test_stability_panel_shows_every_count():
    counts = np.array([9, 4, 0, *range(12, 0, -1)])
    names = tuple(f"v{s}" for s in range(15))
    found = Stability(names, counts, 20, 20, (5, 5), True, np.array([0, 1]))
    axes = draw_stability(Figure().subplots(), found)
    assert [patch.get_width() for patch in axes.patches] == [9, 4, *range(12, 4, -1)]
    assert axes.get_xlim() == (0, 20)
    colours = {patch.get_facecolor() for patch in axes.patches[2:]}
    assert len(colours) == 1
    assert axes.patches[0].get_facecolor() not in colours


def test_embedding_panel_tells_samples_by_shape_and_colour():
    result = make_result(3)
    axes = draw_embedding(Figure().subplots(), compute_embedding(result), ("old", "$new$"))
    x, y = axes.lines
    assert len(x.get_xdata()) == result.n_test[0]
    assert x.get_marker() != y.get_marker()
    assert (x.get_markerfacecolor(), y.get_markerfacecolor()) == (COLOUR_X, COLOUR_Y)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["old", r"\$new\$"]
    assert len(axes.collections) >= 2


@pytest.mark.parametrize("value", [0.0, 0.3, math.nan])
def test_a_field_of_one_value_is_drawn(value):
    shown = compute_embedding(make_result(3))
    flat = replace(shown, field=np.full_like(shown.field, value))
    axes = draw_embedding(Figure().subplots(), flat, ("X", "Y"))
    assert len(axes.lines) == 2


def test_the_palette_is_okabe_and_itos():
    palette = {"#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"}
    assert {COLOUR_X, COLOUR_Y, COLOUR_STATISTIC} <= palette
