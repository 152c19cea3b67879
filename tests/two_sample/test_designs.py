"""Designs at the door: two_sample_test says what was permuted, and refuses what it cannot do."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from scipy import stats

import tellapart as ta
from designs import NULLS
from tellapart.errors import InputError


def before_and_after(seed=0, n=60):
    """Return people before and after: one of four columns rises a little in nearly everyone."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame(10 + 5 * rng.normal(size=(n, 4)), columns=list("abcd"))
    before, after = (people + 0.3 * rng.normal(size=people.shape) for _ in range(2))
    after["c"] += 0.4
    return before, after


def test_paired_data_taken_as_independent_hide_what_pairs_show():
    before, after = before_and_after()
    assert stats.ttest_rel(before["c"], after["c"]).pvalue < 1e-8
    alone = ta.two_sample_test(before, after, random_state=0, n_permutations=199)
    assert alone.pvalue > 0.5
    result = ta.two_sample_test(before, after, paired=True, random_state=0, n_permutations=199)
    assert result.pvalue == 1 / 200
    assert result.variables == ("c",)
    assert [(f.kind, f.variables) for f in result.findings] == [("location", ("c",))]


def test_pairs_are_matched_by_a_key_in_any_order():
    before, after = before_and_after()
    who = np.arange(len(before))
    shuffled = after.assign(who=who).sample(frac=1, random_state=1)
    result = ta.two_sample_test(
        before.assign(who=who), shuffled, paired="who", random_state=0, n_permutations=99
    )
    assert result.pvalue == 0.01
    assert "Design: 60 pairs swapped (matched by 'who')." in result.summary()
    told = result.to_dict()
    assert told["design"]["n_units"] == [60, 60]
    assert told["settings"]["paired"] == "who"
    assert "60 pairs swapped" in result.to_html(stability=False)


@pytest.mark.parametrize("method", ["scan", "split"])
def test_a_design_that_allows_every_permutation_is_none(method):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(150, 6)), rng.normal(size=(140, 6))
    y[:, :4] += 0.8 * rng.normal(size=(140, 1))
    settings = {"method": method, "n_permutations": 99, "random_state": 0}
    plain = ta.two_sample_test(x, y, **settings)
    sizes = (150, 140)
    for asked in (
        {"strata": tuple(["all"] * n for n in sizes)},
        {"clusters": (np.arange(150), np.arange(150, 290))},
    ):
        found = ta.two_sample_test(x, y, **settings, **asked)
        assert found.held_out.design is None
        assert found.pvalue == plain.pvalue
        if method == "scan":
            assert plain.scan.pairs
            assert found.scan.to_dict() == plain.scan.to_dict()


@pytest.mark.parametrize("name", NULLS)
def test_a_split_keeps_to_the_design(name):
    x, y, asked = NULLS[name](np.random.default_rng(3))
    result = ta.two_sample_test(
        x, y, method="split", n_permutations=39, random_state=0, n_variables=1, **asked
    )
    assert 0 < result.pvalue <= 1
    assert result.held_out.design is not None
    assert "Design: " in result.summary()


def test_a_split_finds_what_pairs_show():
    before, after = before_and_after(n=120)
    result = ta.two_sample_test(
        before, after, method="split", paired=True, kernel="linear", random_state=0
    )
    assert result.pvalue <= 0.05
    assert result.variables == ("c",)


def test_strata_left_out_are_told():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    strata = (np.repeat([0, 1, 2], 10), np.repeat([0, 1, 3], 10))
    result = ta.two_sample_test(x, y, strata=strata, random_state=0, n_permutations=39)
    assert "Not used: 10 rows of X and 10 of Y are in a stratum without the other sample" in (
        result.summary()
    )
    assert result.to_dict()["design"]["left_out"] == [10, 10]


def test_few_pairs_are_warned_of():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(4, 2)), rng.normal(size=(4, 2))
    with pytest.warns(UserWarning, match=r"4 pairs swapped\).*below 0.125.*use more pairs"):
        result = ta.two_sample_test(x, y, paired=True, random_state=0)
    assert result.exact


def test_the_smallest_of_all_permutations_is_an_exact_pvalue():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(9, 3))
    result = ta.two_sample_test(y + rng.normal(2, 0.1, (9, 3)), y, paired=True, random_state=0)
    assert result.exact
    assert "p = 0.00391" in result.verdict
    assert "p = 0.00391" in result.findings[0].summary()
    assert "≤" not in result.summary()


def test_data_in_chunks_have_no_design():
    chunks = ds.dataset(pa.table({"a": np.arange(9.0), "site": ["u", "v", "w"] * 3}))
    with pytest.raises(InputError, match="strata needs samples in memory"):
        ta.two_sample_test(chunks, chunks, strata="site")


def test_a_time_limit_draws_whole_pairs():
    before, after = before_and_after(n=4_000)
    samples = ta.two_sample_test(before, after, paired=True, random_state=0, time_limit=1.0)
    assert samples.n_test[0] == samples.n_test[1]


def test_stability_draws_pairs_and_judges_them_as_the_test_does():
    before, after = before_and_after()
    result = ta.two_sample_test(
        before, after, paired=True, n_variables=1, random_state=0, n_permutations=39
    )
    assert result.variables == ("c",)
    stability = result.stability(10)
    assert stability.chosen == {"c": 10}
    assert stability.n_rows == (30, 30)


def test_halves_too_small_for_a_design_are_refused_and_a_page_does_without():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(9, 3)), rng.normal(size=(9, 3))
    clusters = np.repeat([0, 1, 2], 3), np.repeat([3, 4, 5], 3)
    with pytest.warns(UserWarning, match="so few permutations"):
        result = ta.two_sample_test(
            x, y, clusters=clusters, n_variables=1, random_state=0, n_permutations=99
        )
    with pytest.raises(InputError, match="at least 4 training clusters of each sample; got 3"):
        result.stability(5)
    assert "6 whole clusters" in result.to_html()
    strata = np.repeat([0, 1], [8, 1]), np.repeat([0, 1], [3, 6])
    result = ta.two_sample_test(
        x, y, strata=strata, n_variables=1, random_state=0, n_permutations=99
    )
    with pytest.raises(InputError, match="stability needs rows enough for two halves; got 9 and 9"):
        result.stability(5)
    assert "2 strata" in result.to_html()


@pytest.mark.parametrize("method", ["scan", "split"])
def test_where_nothing_can_differ_under_a_design_everything_is_a_tie(method):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 3))
    paired = ta.two_sample_test(table, table, paired=True, method=method, random_state=0)
    assert paired.pvalue == 1.0
    strata = rng.integers(0, 3, (2, 300))
    x, y = (np.column_stack([s, 0.1 * s]) for s in strata)
    within = ta.two_sample_test(x, y, strata=tuple(strata), method=method, random_state=0)
    assert within.pvalue == 1.0
