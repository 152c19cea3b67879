"""The argument `families`: which families run, what they may name, and how it is recorded."""

import json

import numpy as np
import pytest

import tellapart as ta
from tellapart.budget import Budget, using_budget
from tellapart.errors import InputError
from tellapart.report.methods import write_methods
from tellapart.scan.families import FAMILIES
from tellapart.two_sample.settings import TestSettings

FEW = {"n_permutations": 99, "random_state": 0}


@pytest.fixture(scope="module")
def pair():
    """A shift of x0, a spread of x1, a correlation of x2 and x3."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, 150, 6))
    y[:, 0] += 0.7
    y[:, 1] *= 2
    y[:, 3] = 0.8 * y[:, 2] + 0.6 * y[:, 3]
    return x, y


def found(result):
    return {(finding.kind, finding.variables) for finding in result.findings}


SHIFT, SPREAD = ("location", ("x0",)), ("spread", ("x1",))
LINK = ("correlation", ("x2", "x3"))


@pytest.mark.parametrize(
    ("families", "named"),
    [
        (None, {SHIFT, SPREAD, LINK}),
        ("location", {SHIFT}),
        (["shape"], {SPREAD}),
        (("correlation", "location"), {SHIFT, LINK}),
        ({"kernel": 2}, {SHIFT, SPREAD}),
        ("correlation", {LINK}),
        ("pair", {LINK}),
        ("triple", set()),
    ],
)
def test_only_the_families_named_run_and_name_what_differs(pair, families, named):
    result = ta.two_sample_test(*pair, families=families, **FEW)
    assert found(result) == named
    if families is not None:
        names = [families] if isinstance(families, str) else families
        assert set(result.families) == set(names)
        assert list(result.families) == [one.name for one in FAMILIES if one.name in names]
        columns = {variable for _, variables in named for variable in variables}
        tested = {name for name, p in result.variable_pvalues.items() if p <= 0.05}
        assert tested == (columns if LINK not in named else columns - {"x2", "x3"})


def test_one_family_alone_has_its_own_p_value(pair):
    x, y = pair
    some = {"X": x[:40], "Y": y[:40]}
    every = ta.two_sample_test(*some.values(), **FEW)
    for name, p in every.families.items():
        alone = ta.two_sample_test(*some.values(), families=name, **FEW)
        assert alone.families == {name: p}
        assert alone.pvalue == pytest.approx(p, abs=0.011)


def test_the_usual_weights_given_by_name_change_nothing(pair):
    x, y = pair
    # The family joint is weighed by the number of columns.
    names = [one.name for one in FAMILIES if one.name not in ("joint", "missing", "values")]
    usual = ta.two_sample_test(x[:40], y[:40], families=names, **FEW)
    weights = {one.name: one.weight for one in FAMILIES if one.name in names}
    for families in (names[::-1], weights):
        same = ta.two_sample_test(x[:40], y[:40], families=families, **FEW)
        np.testing.assert_array_equal(same.null_distribution, usual.null_distribution)
        assert found(same) == found(usual)
    heavier = {**weights, "location": 40.0}
    other = ta.two_sample_test(x[:40], y[:40], families=heavier, **FEW)
    assert not np.array_equal(other.null_distribution, usual.null_distribution)


def test_blocks_of_columns_and_groups_run_the_same_families(pair):
    x, y = pair
    whole = ta.two_sample_test(x, y, families=("location", "correlation"), **FEW)
    with using_budget(Budget(unblocked_columns=2, unblocked_bytes=0, part_bytes=100_000)):
        blocks = ta.two_sample_test(x, y, families=("location", "correlation"), **FEW)
        none = ta.two_sample_test(x, y, families="correlation", **FEW)
    assert blocks.families == pytest.approx(whole.families, abs=0.02)
    assert found(blocks) == found(whole) == {SHIFT, LINK}
    assert found(none) == {LINK}
    groups = np.repeat(["a", "b", "c"], 100)
    rows = np.random.default_rng(1).normal(size=(300, 120))
    rows[groups == "a", 5] += 1
    rows[groups == "a", 6] *= 2
    result = ta.compare_groups(rows, groups, families="location", random_state=0)
    assert all(set(one.result.families) == {"location"} for one in result.comparisons)
    assert found(result.comparisons[0].result) == {("location", ("x5",))}
    assert result.settings["families"] == ["location"]


def test_a_monitor_keeps_its_families(pair, tmp_path):
    x, y = pair
    monitor = ta.compare_to_reference(x, families={"location": 1}, **FEW)
    monitor.save(tmp_path / "state.json")
    again = ta.load_monitor(tmp_path / "state.json", x)
    assert found(monitor.check(y)) == found(again.check(y)) == {SHIFT}


def test_the_result_says_which_families_were_run(pair, tmp_path):
    one = ta.two_sample_test(*pair, families="location", **FEW)
    two = ta.two_sample_test(*pair, families={"shape": 1, "location": 4}, **FEW)
    usual = ta.two_sample_test(*pair, **FEW)
    assert "family location only" in one.summary()
    assert "The family location was requested; other kinds of difference were" in one.summary()
    assert "location (weight 4) and shape (weight 1) were requested" in two.summary()
    assert "requested" not in usual.summary()
    assert "one family of statistics (location) was computed" in write_methods(one)
    assert "P-values of columns were adjusted" in write_methods(one)
    assert "P-values of columns, pairs" in write_methods(usual)
    assert json.loads(one.to_json())["settings"]["families"] == ["location"]
    assert two.to_dict()["settings"]["families"] == {"location": 4.0, "shape": 1.0}
    assert "families" in usual.to_dict()["settings"]
    page = tmp_path / "page.html"
    two.to_html(page)
    text = page.read_text()
    assert "location (weight 4) and shape (weight 1) were requested" in text
    assert "families={&#39;location&#39;: 4.0, &#39;shape&#39;: 1.0}" in text


@pytest.mark.parametrize(
    ("families", "message"),
    [
        ("means", "families must be among location, shape, .*; got 'means'"),
        (["location", "location"], "families must be distinct; got 'location' twice"),
        ({"location": 0}, r"families\['location'\] must be a finite number in \(0, inf\); got 0"),
        ({"location": np.inf}, r"families\['location'\] must be a finite number"),
        ({"location": True}, r"families\['location'\] must be a finite number"),
        ([], "families must be a name, names, or a mapping from names to weights; got "),
        (3, "families must be a name, names"),
        (b"location", "families must be a name, names"),
    ],
)
def test_families_are_checked_at_the_door(families, message):
    with pytest.raises(InputError, match=message):
        TestSettings(families=families)


def test_a_split_has_no_families():
    with pytest.raises(InputError, match="families must be left out with method='split'"):
        TestSettings(method="split", families="location")


def test_a_family_that_cannot_run_is_an_error_with_the_reason(pair):
    x, y = pair
    with pytest.raises(InputError, match="triple needs three columns that vary"):
        ta.two_sample_test(x[:, :2], y[:, :2], families="triple", **FEW)
    with pytest.raises(InputError, match="what they compare does not occur"):
        ta.two_sample_test(x, y, families="missing", **FEW)
    both = ta.two_sample_test(x[:, :2], y[:, :2], families=["location", "triple"], **FEW)
    assert set(both.families) == {"location"}
    assert set(both.scan.skipped) == {"triple"}
