"""The report: one page that holds everything, asks for nothing, and takes no name for markup."""

import itertools
import math
import re
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from html_page import Page
from tellapart.data.samples import Samples
from tellapart.errors import ConstantColumnWarning, InputError
from tellapart.kernels import Linear
from tellapart.report.page import describe_stability, python_call, render_page
from tellapart.report.plots import COLOUR_NULL, COLOUR_STATISTIC, COLOUR_X, COLOUR_Y
from tellapart.report.svg import VARIABLE_OF
from tellapart.report.words import columns_text, describe_side, number
from tellapart.results.columns import summarise_column
from tellapart.results.embedding import compute_embedding
from tellapart.results.result import Method
from tellapart.selection.stability import Stability
from tellapart.text import safe
from tellapart.two_sample.settings import TestSettings

SCRIPT = "<script>alert(1)</script>"
QUOTES = "it's \"quoted\" & 'so' on"
LONG = "a_name_without_a_space_" * 20


def make_tables(shift=1.0, n=60, **more):
    rng = np.random.default_rng(0)

    def table(s):
        columns = {
            "age": rng.normal(50 + 10 * s, 5, size=n),
            "arm": rng.choice(["drug", "placebo"], n, p=[0.5 + 0.4 * s, 0.5 - 0.4 * s]),
            "noise": rng.normal(size=n),
        }
        return pd.DataFrame(columns | {name: rng.normal(s, size=n) for name in more})

    return table(0.0), table(shift)


def run(left, right, **more):
    settings = {"method": "split", "regularization": 0.1, "n_permutations": 99, "random_state": 0}
    return ta.two_sample_test(left, right, **(settings | more))


@pytest.fixture(scope="module")
def result():
    return replace(run(*make_tables(), n_variables=2), labels=("old", "new"))


def redraw(result, **changes):
    """Give the page of a result that differs in what takes no computing."""
    return Page(render_page(replace(result, **changes), result.page_data(stability=False)))


@pytest.fixture(scope="module")
def page(result):
    return Page(result.to_html())


def test_it_says_what_was_found(result, page):
    body = page.said("body")[0]
    assert page.said("h1") == ["old and new differ"]
    assert page.said("title")[0] == "old and new: significant difference"
    assert f"p ≤ {result.pvalue:g} (α = 0.05)" in body
    assert number(result.statistic) in body
    assert number(result.threshold) in body
    assert "99, at random" in body
    for name, weight in result.selection.weights.items():
        assert name in page.said("figcaption")
        assert any(f"{weight:.3f}" in cell for cell in page.said("td"))
    assert "Optimal among all subsets of at most 2 variables" in body
    assert "with probability at most 1\N{NO-BREAK SPACE}%" in page.texts["body"][0]


def test_it_describes_both_samples_in_the_held_out_rows(result, page):
    ages = result.held_out.x[:, 0]
    cells = page.said("td")
    assert any(
        f"mean {number(ages.mean())} median {number(np.median(ages))}" in cell for cell in cells
    )
    assert any("drug" in cell and "placebo" in cell and "%" in cell for cell in cells)


def test_it_says_how_to_repeat_it_and_with_what(result, page):
    body = page.said("body")[0]
    for version in (ta.__version__, np.__version__):
        assert version in body
    assert "0.1, set by the user" in body
    assert "at most 2, set by the user" in body
    assert "random_state=0" in page.said("pre")[0]
    assert "X: the rows of old; Y: the rows of new" in page.said("pre")[0]
    assert Page(result.to_html(reproduce="tellapart compare <a> b")).said("pre") == [
        "tellapart compare <a> b"
    ]


def test_it_needs_nothing_from_outside(result):
    text = result.to_html()
    assert "://" not in text
    assert "@import" not in text
    page = Page(text)
    assert page.all("iframe", "object", "embed", "img", "form") == []
    assert page.all("script") == [{}]
    assert [tag["href"] for tag in page.all("link")] == ["data:,"]
    for tag in page.all("use", "a", "path", "g", "image"):
        assert tag.get("href", "#").startswith("#")
        assert tag.get("clip-path", "url(#").startswith("url(#")
    policy = [tag["content"] for tag in page.all("meta") if "http-equiv" in tag]
    assert policy[0].startswith("default-src 'none'")
    assert not any(name.startswith("on") for _, tag in page.tags for name in tag)


def test_it_is_built_for_everyone(page):
    assert page.all("html")[0]["lang"] == "en"
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert all(tag.get("scope") in ("row", "col") for tag in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))
    ids = [tag["id"] for _, tag in page.tags if "id" in tag]
    assert len(ids) == len(set(ids))
    for _, tag in page.tags:
        assert set(tag.get("aria-labelledby", "").split()) <= set(ids)
    for figure in page.all("svg"):
        assert figure["role"] == "img"
        assert len(figure["aria-labelledby"].split()) == 2
    assert all(page.said("desc"))


def test_landmarks_and_links(page):
    marks = [tag for tag, _ in page.tags if tag in ("header", "nav", "main", "footer")]
    assert marks == ["header", "nav", "main", "footer"]
    ids = {tag["id"] for _, tag in page.tags if "id" in tag}
    links = [tag["href"] for tag in page.all("a")]
    assert links[0] == "#main"
    assert page.all("a")[0]["class"] == "skip"
    assert {link.removeprefix("#") for link in links} <= ids
    named = {tag["aria-labelledby"] for tag in page.all("section")}
    assert {link.removeprefix("#") for link in links[1:]} == named
    assert page.all("nav")[0]["aria-label"] == "On this page"
    sheet = page.texts["style"][0]
    assert ":focus-visible" in sheet
    assert ".skip:focus" in sheet


def test_stability_is_counted_per_variable(result, page):
    found = result.stability(50)
    cells, body = page.said("td"), page.said("body")[0]
    for count in found.chosen.values():
        assert any(f"{count} of 50" in cell for cell in cells)
    assert "repeated on 50 random halves of the training rows (15 and 15 rows each)" in body
    assert "Stability of the selection" in page.said("h2")
    assert ("Variables selected instead" in page.said("caption")) == bool(found.others)


def test_stability_may_be_left_out_or_asked_for(result):
    without = Page(result.to_html(stability=False)).said("body")[0]
    assert "Chosen again" not in without
    assert "Stability" not in without
    assert "on 6 random halves" in Page(result.to_html(stability=6)).said("body")[0]
    assert "Chosen again" not in replace(result, train=None).to_html()
    assert "Chosen again" not in run(*make_tables(), n_variables=3).to_html()
    few = replace(result, train=result.train.rows(np.arange(3), np.arange(3)))
    assert "Chosen again" not in few.to_html()
    with pytest.raises(InputError, match="training rows"):
        replace(result, train=None).to_html(stability=6)
    for wrong in (-1, 2.5, "yes"):
        with pytest.raises(InputError, match="stability must be True, False or a number"):
            result.to_html(stability=wrong)


class Sealed:
    """A sample whose size may be asked for and whose values may not."""

    def __init__(self, values):
        self.shape = values.shape

    def __getitem__(self, index):
        pytest.fail("drawing looked at the data")


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_drawing_computes_nothing(kernel, monkeypatch):
    result = run(*make_tables(), n_variables=2, kernel=kernel)
    shown = result.page_data(stability=3)
    page = result.to_html(stability=3)
    for place in (
        "numpy.linalg.svd",
        "numpy.quantile",
        "tellapart.kernels.base.FittedKernel.gram",
        "tellapart.selection.stability.choose",
        "tellapart.results.embedding.mean_difference",
        "tellapart.results.figure_data.compute_marginal",
        "tellapart.results.figure_data.summarise_column",
    ):
        monkeypatch.setattr(place, lambda *_, **__: pytest.fail("drawing computed something"))
    held_out = result.held_out
    sealed = replace(held_out, x=Sealed(held_out.x), y=Sealed(held_out.y))
    assert render_page(replace(result, held_out=sealed, train=None, kernel=None), shown) == page
    again = result.page_data(stability=3)
    for field in fields(shown):
        assert getattr(again, field.name) is getattr(shown, field.name)
    assert result.to_html(stability=3) == page
    result.plot()


def make_stability(counts, support=(0, 1), asked=10, **more):
    names = tuple(f"v{s}" for s in range(len(counts)))
    settings = {"n_resamples": 10, "n_rows": (7, 8), "halves": True}
    return Stability(
        names=names,
        counts=np.array(counts),
        asked=asked,
        support=np.array(support),
        **(settings | more),
    )


def test_words_of_stability():
    some = describe_stability(make_stability([7, 10, 3, 0]))
    assert some["outcome"] == (
        "Most often selected was v1, in all 10 resamples; least often v0, in 7 of 10 resamples."
    )
    assert [(other["name"], other["text"]) for other in some["others"]] == [("v2", "3 of 10")]
    assert some["left_out"] == 0
    assert "random halves of the training rows (7 and 8 rows each)" in some["method"]
    never = describe_stability(make_stability([10, 0, 10]))
    assert never["outcome"].endswith("least often v1, in none of 10 resamples.")
    same = describe_stability(make_stability([10, 10, 0]))
    assert same["outcome"] == "Each of the 2 variables was selected in all 10 resamples."
    one = describe_stability(make_stability([1, 0], (0,), n_resamples=1))
    assert one["outcome"] == "v0 was selected in the one resample."
    many = describe_stability(make_stability([5] * 20, halves=False))
    assert len(many["others"]) == 8
    assert many["left_out"] == 10
    assert "random draws from the training rows" in many["method"]


def test_both_samples_in_two_dimensions(result, page):
    body = page.said("body")[0]
    embedding = compute_embedding(result, n_points=800)
    inside = np.count_nonzero(embedding.witness_x > 0)
    assert f"Of 30 rows of old, {inside} lie where old is denser; of 30 rows of new" in body
    assert "30 of 30 rows of old and 30 of 30 rows of new, in the plane that explains" in body
    assert "does not predict new ones" in body
    assert "old and new in two dimensions" in page.said("title")
    assert any("in the plane that explains" in text for text in page.said("desc"))
    assert "occur by chance" not in body
    alike = redraw(result, pvalue=0.4).said("body")[0]
    assert "patterns like these occur by chance" in alike


@pytest.mark.parametrize(
    ("d", "words"), [(1, "by the selected variable. The vertical"), (2, "by the")]
)
def test_one_or_two_numeric_variables_keep_their_axes(d, words):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 4)), rng.normal(1.0, size=(60, 4))
    page = Page(run(x, y, n_variables=d).to_html(stability=False))
    assert words in page.said("body")[0]
    shown = page.said("svg")[-1]
    assert all(name in shown for name in page.said("figcaption")[1:])


def test_markers_say_once_what_they_look_like(page):
    uses = [tag for tag in page.all("use") if "plane" in tag["href"]]
    assert len(uses) >= 60
    assert sum("style" in tag for tag in uses) < 15


def test_the_report_of_a_baseline(result):
    """No kernel, no permutations, no training rows: what is not there is not shown."""
    method = Method("rank sums <b>", "Σ of ranks", "every row is used once", "RankSums(k=3)")
    bare = replace(
        result,
        method=method,
        kernel=None,
        tuning=None,
        train=None,
        null_distribution=np.zeros(0),
        n_train=(0, 0),
        selection=replace(result.selection, method=method.name, upper_bound=None),
    )
    page = Page(bare.to_html())
    body = page.said("body")[0]
    assert "Two-sample test: rank sums <b>" in page.said("header")[0]
    assert "because every row is used once. It assumes" in body
    assert "result = ta.baselines.RankSums(k=3).test(X, Y)" in page.said("pre")[0]
    assert "Σ of ranks" in page.said("dt")
    assert "none: the null distribution is known" in page.said("dd")
    for absent in (
        "Selection frequency",
        "Null distribution",
        "in two dimensions",
        "held-out",
        "kernel",
    ):
        assert absent not in body
    assert len(bare.plot().axes) == len(result.plot().axes)
    unsure = Page(replace(bare, pvalue=0.5).to_html()).said("header")[0]
    assert "of a kind to which this test does not respond" in unsure


def test_nothing_chosen_is_said(result):
    none = replace(result.selection, support=np.zeros(0, dtype=int), z=np.zeros(3))
    page = Page(replace(result, selection=none, pvalue=0.5, train=None).to_html())
    assert page.said("header")[0].endswith("Of 3 variables, none was selected.")


@pytest.mark.long
def test_thousands_of_variables_are_cut_short():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 300)), rng.normal(1.0, size=(20, 300))
    text = run(x, y, n_variables=300, regularization=0.0, nonnegative=False).to_html(stability=2)
    page = Page(text)
    assert "200 of 300 are shown" in page.said("caption")[1]
    assert "The 50 variables with the largest weights of 300 are shown" in page.said("body")[0]
    assert "in two dimensions" not in page.said("body")[0]
    assert len(text) < 1_500_000


def test_references_inside_figures_are_met(page):
    ids = {tag["id"] for _, tag in page.tags if "id" in tag}
    found = [
        target
        for _, tag in page.tags
        for key in ("href", "clip-path")
        for target in re.findall(r"#([\w-]+)", tag.get(key) or "")
    ]
    assert found
    assert set(found) <= ids


def test_figures_take_their_colours_from_the_page(page):
    """Every colour is a variable with a value for light and one for dark."""
    styles = " ".join(tag["style"] for _, tag in page.tags if "style" in tag)
    assert re.findall("#[0-9a-fA-F]{3,8}", styles) == []
    sheet = page.texts["style"][0]
    for name in set(re.findall(r"var\((--\w+)\)", styles)):
        assert len(re.findall(rf"{name}: #", sheet)) == 2
    drawn = {COLOUR_X, COLOUR_Y, COLOUR_NULL, COLOUR_STATISTIC}
    assert {colour.lower() for colour in drawn} <= set(VARIABLE_OF)


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_contrast_is_sufficient_in_light_and_dark(page):
    sheet = page.texts["style"][0]
    light, dark = (
        dict(re.findall(r"(--\w+): (#\w{6})", block))
        for block in re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)
    )
    assert light.keys() == dark.keys()
    for theme in (light, dark):
        for name, least in {
            "--ink": 7, "--soft": 4.5, "--x": 3, "--y": 3, "--null": 3, "--statistic": 3,
        }.items():  # fmt: skip
            for ground in ("--card", "--page") if least > 3 else ("--card",):
                bright, dull = sorted(
                    (luminance(theme[name]), luminance(theme[ground])), reverse=True
                )
                assert (bright + 0.05) / (dull + 0.05) >= least, (name, ground)


@pytest.mark.parametrize("name", [SCRIPT, QUOTES, LONG, "$x^$", "年齢", "bell\x07", "{{ 7 * 7 }}"])
def test_names_stay_text(name, recwarn):
    left, right = make_tables(**{name: None})
    left["c"], right["c"] = [name] * 30 + ["b"] * 30, ["b"] * 50 + [name] * 10
    result = replace(run(left, right, n_variables=5), labels=(name, f"</style>{name}"))
    text = result.to_html(stability=5)
    page = Page(text)
    assert page.all("script") == [{}]
    assert page.said("script")[0].startswith('"use strict"; (() => { const sheets')
    assert len(page.all("style")) == 1
    assert SCRIPT not in text
    shown = " ".join(safe(name).split())
    assert page.said("h1") == [f"{shown} and </style>{shown} differ"]
    assert shown in page.said("figcaption")
    assert shown in page.said("th")
    assert any(re.search(rf"{re.escape(shown)} \d+ %", cell) for cell in page.said("td"))
    assert [str(w.message) for w in recwarn] == []


@pytest.mark.parametrize("d", [1, 20])
def test_any_number_of_variables(d):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 60)), rng.normal(0.8, size=(70, 60))
    page = Page(run(x, y, n_variables=d, regularization=0.0).to_html(stability=False))
    assert len(page.all("svg")) == 2 + d
    assert len([tag for tag in page.all("th") if tag["scope"] == "row"]) == d + 2 + 60
    lead = page.said("header")[0]
    assert ("and 10 more." in lead) == (d == 20)
    assert lead.endswith(".")


def test_no_difference_claims_nothing(result):
    page = redraw(result, pvalue=0.4031, threshold=1.0)
    body = page.said("body")[0]
    assert page.said("h1") == ["No significant difference between old and new"]
    assert "Absence of evidence is not evidence of equivalence" in body
    assert "the variables below are the best of what may be noise" in body
    assert "at most 40.31" in body


def test_exact_and_unreachable(result):
    page = redraw(result, exact=True, threshold=math.inf, pvalue=0.5)
    body = page.said("body")[0]
    assert "all 99: the p-value is exact" in body
    assert "none: with so few rows" in body
    assert "there is no critical value" in body


def test_choices_made_on_the_training_rows():
    left, right = make_tables()
    tuned = Page(run(left, right, regularization="cv").to_html(stability=False)).said("body")[0]
    assert "the smallest number as good as the best" in tuned
    assert "cross-validated on the training rows, from 0, 0.01" in tuned
    few = Page(run(left[:14], right[:14], regularization="cv").to_html(stability=False)).said(
        "body"
    )[0]
    assert few.count("the default: too few rows for tuning") == 2


def test_without_a_proof(result):
    guess = replace(result.selection, upper_bound=None, status="feasible")
    page = redraw(result, selection=guess)
    assert "not proved to be optimal" in page.said("body")[0]
    assert "none" in page.said("dd")


def test_negative_weights_are_explained(result):
    assert "A negative weight" not in result.to_html()
    selection = replace(result.selection, z=result.selection.z * [1.0, -1.0, 1.0])
    body = redraw(result, selection=selection).said("body")[0]
    assert "A negative weight, which only signed weights can have," in body
    assert "−0." in body


def test_constant_and_dropped_columns_are_named():
    left, right = make_tables()
    left["same"] = right["same"] = 1.0
    left["gaps"], right["gaps"] = np.nan, 2.0
    with pytest.warns(ConstantColumnWarning):
        result = run(left, right, missing="drop-columns")
    page = Page(result.to_html())
    assert page.said("dd").count("same") == page.said("dd").count("gaps") == 1
    assert "missing='drop-columns'" in page.said("pre")[0]


def test_dropped_rows_are_counted():
    left, right = make_tables()
    left.loc[:4, "age"] = np.nan
    result = run(left, right, missing="drop-rows", n_variables=1)
    page = Page(result.to_html())
    assert "Excluded5" in page.said("td")
    assert "missing='drop-rows'" in page.said("pre")[0]


def test_the_call_it_gives_repeats_the_answer():
    X, Y = make_tables()
    given = {"alpha": 0.1, "test_size": 0.4, "kernel": Linear(), "labels": ("it's", "so")}
    result = run(X, Y, n_variables=2, random_state=None, **given)
    code = python_call(result).replace('to_html("report.html")', "pvalue")
    assert "kernel=Linear(" in code
    assert "(X, Y, method='split', n_variables=2" in code
    assert "solver" not in code
    names = {"X": X, "Y": Y, "Linear": Linear}
    exec(code, names)
    np.testing.assert_array_equal(names["result"].null_distribution, result.null_distribution)
    assert names["result"].labels == result.labels


def test_a_result_that_knows_no_settings(result):
    body = redraw(result, settings={}).said("body")[0]
    assert "The seed is not known" in body
    generator = TestSettings(random_state=np.random.default_rng(0))
    assert generator.to_dict()["random_state"] is None


def test_it_is_written_whole_and_the_same_each_time(result, tmp_path):
    path = tmp_path / "out.html"
    path.write_text("old")
    text = result.to_html(path)
    assert path.read_text(encoding="utf-8") == text == result.to_html()
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.html"]
    half = replace(result, labels=("half \ud83d", "new"))
    half.to_html(path)
    assert r"half \ud83d" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ["", 3, "missing-folder/out.html", "."])
def test_bad_paths_are_refused_before_the_work(result, path, monkeypatch):
    monkeypatch.setattr(type(result), "page_data", pytest.fail)
    with pytest.raises(InputError, match="path"):
        result.to_html(path)


def test_categories_in_one_order_the_rare_ones_together():
    codes = np.repeat(np.arange(9.0), np.arange(9, 0, -1))
    labels = {"c": tuple("abcdefghi")}
    samples = Samples(codes[:, None], np.full((4, 1), 8.0), ("c",), ("categorical",), labels)
    summary = summarise_column(samples, 0)
    x, y = describe_side(summary.x), describe_side(summary.y)
    assert [line[0] for line in x] == [line[0] for line in y] == ["a", "b", "c", "d", "e", "4"]
    assert x[0] == "a 20\N{NO-BREAK SPACE}%"
    assert y[-1] == "4 other categories 100\N{NO-BREAK SPACE}%"


def test_many_names_are_cut_short():
    assert columns_text([f"v{i}" for i in range(23)]).endswith("v19 and 3 more")


def test_substitutes_and_what_differs_are_shown():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(80, 5)), rng.normal(size=(90, 5))
    Y[:, 0] += 1.5
    for Z in (X, Y):
        Z[:, 3] = Z[:, 0] + 0.2 * rng.normal(size=len(Z))
    result = ta.two_sample_test(X, Y, n_variables=1, n_permutations=99, random_state=0)
    chosen, other = result.variables[0], {"x0": "x3", "x3": "x0"}[result.variables[0]]
    assert result.selection.substitutes == {chosen: (other,)}
    body = Page(result.to_html(stability=False)).said("body")[0]
    assert f"{chosen} is interchangeable with {other}." in " ".join(body.split())
    text = result.selection.changes[chosen].description_for(chosen)
    assert text.startswith("mean ")
    assert text in " ".join(body.split())
