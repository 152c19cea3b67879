"""Designs with many groups: every comparison permutes as the study allows."""

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from annotated_data import annotated
from tellapart.errors import InputError

QUICK = {"random_state": 0, "n_permutations": 119}


def visits(n=40, seed=0):
    """Return people at three visits; in the third, one column is a little higher in everyone."""
    rng = np.random.default_rng(seed)
    who, visit = np.tile(np.arange(n), 3), np.repeat(["v1", "v2", "v3"], n)
    values = (5 * rng.normal(size=(n, 2)))[who] + 0.2 * rng.normal(size=(3 * n, 2))
    values[visit == "v3", 1] += 0.4
    frame = pd.DataFrame({"visit": visit, "who": who, "a": values[:, 0], "b": values[:, 1]})
    return frame.sample(frac=1, random_state=1, ignore_index=True)


def litters(n=24, seed=0):
    """Return rows of litters, each within one of three groups that do not differ."""
    rng = np.random.default_rng(seed)
    litter = np.repeat(np.arange(n), 8)
    values = rng.normal(size=(n, 3))[litter] + 0.1 * rng.normal(size=(litter.size, 3))
    frame = pd.DataFrame(values, columns=list("abc"))
    return frame.assign(litter=litter, group=np.array(["p", "q", "r"])[litter % 3])


def test_pairs_of_every_two_groups_are_matched_by_their_key():
    table = visits(seed=1)
    alone = ta.compare_groups(table.drop(columns="who"), "visit", mode="pairwise", **QUICK)
    assert not any(c.reject for c in alone.comparisons)
    result = ta.compare_groups(table, "visit", mode="pairwise", paired="who", **QUICK)
    assert [c.reject for c in result.comparisons] == [False, True, True]
    assert [c.variables for c in result.comparisons if c.reject] == [("b",), ("b",)]
    assert all("40 pairs swapped" in c.result.summary() for c in result.comparisons)
    by_labels = ta.compare_groups(
        table.drop(columns="who"), "visit", mode="pairwise", paired=table["who"], **QUICK
    )
    assert [c.result.pvalue for c in by_labels.comparisons] == [
        c.result.pvalue for c in result.comparisons
    ]


def test_two_groups_are_pairs_in_either_mode():
    table = visits().query("visit != 'v2'")
    (comparison,) = ta.compare_groups(table, "visit", paired="who", **QUICK).comparisons
    assert (comparison.reject, comparison.variables) == (True, ("b",))


def test_a_comparison_is_that_of_two_tables():
    table = litters()
    result = ta.compare_groups(table, "group", clusters="litter", **QUICK)
    first = result.comparisons[0]
    parts = (table[table["group"] == "p"], table[table["group"] != "p"])
    alone = ta.two_sample_test(
        *(part.drop(columns="group") for part in parts),
        clusters="litter",
        n_permutations=119,
        random_state=first.result.settings["random_state"],
    )
    assert alone.pvalue == first.result.pvalue
    assert first.result.to_dict()["design"]["n_units"] == [8, 16]
    assert result.settings["clusters"] == "litter"


def test_clusters_are_not_taken_for_differences():
    table = litters()
    alone = ta.compare_groups(table.drop(columns="litter"), "group", **QUICK)
    assert any(c.reject for c in alone.comparisons)
    result = ta.compare_groups(
        table.drop(columns="litter"), "group", clusters=table["litter"].to_numpy(), **QUICK
    )
    assert not any(c.reject for c in result.comparisons)
    assert result.settings["clusters"] == "given labels"
    assert "clusters=(clusters_of_rows)" in result.to_html()


def test_strata_hide_what_sites_differ_in():
    rng = np.random.default_rng(0)
    site = np.repeat([0, 1], 120)
    group = np.array(["p", "q", "r"])[
        np.where(rng.random(240) < 0.6, site, rng.integers(3, size=240))
    ]
    table = pd.DataFrame(rng.normal(size=(240, 2)) + 3 * site[:, None], columns=["a", "b"])
    assert any(c.reject for c in ta.compare_groups(table, group, **QUICK).comparisons)
    result = ta.compare_groups(table.assign(site=site), group, strata="site", **QUICK)
    assert not any(c.reject for c in result.comparisons)
    assert "within 2 strata of 'site'" in result.comparisons[0].result.summary()
    assert "Design of every comparison: strata='site'." in result.summary()


def test_strata_without_the_other_side_are_counted():
    rng = np.random.default_rng(0)
    group, site = np.repeat(["p", "q"], 30), np.r_[np.repeat([0, 1], 15), np.repeat([0, 2], 15)]
    result = ta.compare_groups(rng.normal(size=(60, 2)), group, strata=site, **QUICK)
    assert (
        "p and q: 15 rows of X and 15 of Y are in a stratum without the other sample."
        in result.summary()
    )


def test_labels_of_annotated_data_are_columns_of_obs():
    table = litters()
    matrix = table[["a", "b", "c"]].to_numpy()
    data = annotated(matrix, list("abc"), litter=table["litter"], group=table["group"])
    result = ta.compare_groups(data, "group", clusters="litter", **QUICK)
    of_table = ta.compare_groups(table, "group", clusters="litter", **QUICK)
    assert [c.result.pvalue for c in result.comparisons] == [
        c.result.pvalue for c in of_table.comparisons
    ]


def test_rows_without_a_label_are_refused_or_counted_once():
    table = visits()
    table.loc[0, "who"] = np.nan
    group = table.loc[0, "visit"]
    with pytest.raises(InputError, match="missing in 1 of 120 rows"):
        ta.compare_groups(table, "visit", mode="pairwise", paired="who", **QUICK)
    result = ta.compare_groups(
        table, "visit", mode="pairwise", paired="who", missing="drop-rows", **QUICK
    )
    assert result.dropped_rows[group] == 1
    assert result.sizes[group] == 39
    assert sorted(c.n_rows for c in result.comparisons) == [(39, 39), (39, 39), (40, 40)]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"paired": "who"}, "paired must be left out where a group is compared with the rest"),
        ({"paired": True}, "paired must be the name of a column of the table"),
        ({"strata": "visit"}, "strata must be another column than by='visit'"),
        ({"strata": [1, 2]}, "strata must have one label for each of the 120 rows of table; got 2"),
        ({"strata": "who", "missing": "pairwise"}, "missing must be 'error', 'drop-rows'"),
        ({"clusters": "who"}, "clusters must lie wholly in one sample; 40 of 40"),
        ({"clusters": "whom"}, "clusters must be a column of table; got 'whom'"),
    ],
)
def test_designs_that_do_not_fit_are_refused(asked, said):
    with pytest.raises(InputError, match=said):
        ta.compare_groups(visits(), "visit", **asked, **QUICK)
