"""The chosen variables in every group: effects, shares, and where each is listed."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tellapart as ta
from tellapart.errors import InputError

KINDS = np.repeat(["B", "NK", "T"], [40, 50, 60])


def counts():
    rng = np.random.default_rng(0)
    rate = np.full((150, 5), 0.3)
    rate[KINDS == "T", 1] = 3.0
    rate[KINDS == "B", 3] = 3.0
    return rng.poisson(rate).astype(float)


@pytest.fixture(scope="module")
def result():
    return ta.compare_groups(sparse.csr_array(counts()), by=KINDS, random_state=0)


def test_effects_and_shares_are_those_of_the_rows(result):
    profile, x = result.profile, counts()
    assert profile.groups == ("B", "NK", "T")
    i, own = profile.variables.index("x1"), KINDS == "T"
    a, b = x[own, 1], x[~own, 1]
    deviation = np.sqrt((a.size * a.var() + b.size * b.var()) / 148)
    hedges = (1 - 3 / (4 * 148 - 1)) * (a.mean() - b.mean()) / deviation
    assert profile.effects[i, 2] == pytest.approx(hedges)
    assert profile.shares[i, 2] == pytest.approx((a > 0).mean())
    assert profile.shares[i, 1] == pytest.approx((x[KINDS == "NK", 1] > 0).mean())
    assert profile.groups[profile.listed_under[i]] == "T"
    assert profile.chosen[i, 2]
    assert profile.pvalues[i, 2] == result.results["T", "rest"].variable_pvalues["x1"]
    assert list(profile.listed_under) == sorted(profile.listed_under)


def test_it_is_stored(result):
    stored = json.loads(result.to_json())["profile"]
    assert stored["variables"] == list(result.profile.variables)
    assert np.array(stored["effects"]).shape == (len(stored["variables"]), 3)


def test_pairs_list_a_variable_under_the_group_it_differs_most_in():
    result = ta.compare_groups(counts(), by=KINDS, mode="pairwise", random_state=0)
    profile = result.profile
    under = dict(zip(profile.variables, profile.listed_under, strict=True))
    assert (under["x1"], under["x3"]) == (2, 0)


def test_a_category_is_shown_by_the_level_that_differs_most():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"kind": KINDS, "u": rng.normal(size=150)})
    table["sex"] = np.where(KINDS == "T", "f", rng.choice(["f", "m", "x"], 150))
    profile = ta.compare_groups(table, by="kind", random_state=0).profile
    (shown,) = [name for name in profile.variables if name.startswith("sex = ")]
    level = shown.removeprefix("sex = ")
    share = profile.shares[profile.variables.index(shown)]
    assert share[2] == pytest.approx((table["sex"][KINDS == "T"] == level).mean())


def test_rows_without_a_value_have_no_part_in_it():
    x = counts()
    x[::7, 1] = np.nan
    profile = ta.compare_groups(x, by=KINDS, missing="pairwise", random_state=0).profile
    own = x[KINDS == "T", 1]
    share = profile.shares[profile.variables.index("x1"), 2]
    assert share == pytest.approx((own[~np.isnan(own)] > 0).mean())
    assert np.isfinite(profile.effects).all()


@pytest.mark.parametrize("kind", ["dots", "heatmap"])
def test_plots_name_variables_and_groups(result, kind):
    axes = result.plot(kind)
    assert tuple(t.get_text() for t in axes.get_yticklabels()) == result.profile.variables
    assert tuple(t.get_text() for t in axes.get_xticklabels()) == result.profile.groups
    assert result.plot(kind, ax=axes) is axes


def test_fields_hold_their_numbers(result):
    texts = [text.get_text() for text in result.plot("heatmap").texts]
    assert len(texts) == result.profile.effects.size
    assert f"{result.profile.effects.max():+.1f}" in texts


def test_what_cannot_be_drawn_is_one_clear_error(result):
    with pytest.raises(InputError, match="kind must be one of 'dots', 'heatmap'; got 'pie'"):
        result.plot("pie")
    with pytest.raises(InputError, match="ax must be matplotlib Axes or None; got int"):
        result.plot(ax=1)
    alike = np.random.default_rng(3).normal(size=(150, 2))
    nothing = ta.compare_groups(alike, by=KINDS, random_state=0)
    assert nothing.profile.variables == ()
    assert 'id="profile"' not in nothing.to_html()
    with pytest.raises(InputError, match="plot must have a comparison that differs; none does"):
        nothing.plot()


def test_the_page_shows_the_dots(result):
    page = result.to_html()
    assert 'id="profile"' in page
    assert "x1 is higher in T" in page
