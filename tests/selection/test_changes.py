"""What chosen variables differ in: the scan's findings, else sizes from rows, and how sure."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from tellapart.budget import Budget, using_budget
from tellapart.data.reader import read_samples
from tellapart.selection.changes import ScanFindings, with_changes


def tables(seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(220, 6)), rng.normal(size=(260, 6))
    X[:, 0] += 1
    Y[:, 1] *= 2
    X[:, 3] = 0.8 * X[:, 2] + 0.6 * X[:, 3]
    names = ["high", "wide", "u", "v", "noise", "hum"]
    return pd.DataFrame(X, columns=names), pd.DataFrame(Y, columns=names)


@pytest.fixture(scope="module")
def scanned():
    labels = ("january", "july")
    return ta.two_sample_test(*tables(), n_variables=6, labels=labels, random_state=0)


def test_what_a_scan_names_is_told_as_it_found_it(scanned):
    found = {f.variables: f for f in scanned.findings}
    changes = scanned.selection.changes
    assert changes["high"] == found[("high",)]
    assert changes["wide"] == found[("wide",)]
    assert changes["u"] == changes["v"] == found[("u", "v")]
    assert all(changes[name].named for name in ("high", "wide", "u", "v"))
    described = scanned.selection.description
    assert described["high"].startswith("mean 0.")
    assert "; SMD +" in described["high"]
    assert described["wide"].startswith("SD 0.")
    assert described["u"].startswith("with v: correlation 0.")
    assert described["v"].startswith("with u: correlation 0.")


def test_what_is_not_sure_by_itself_says_so(scanned):
    change = scanned.selection.changes["noise"]
    assert change.named is False
    assert change.pvalue == scanned.variable_pvalues["noise"] > scanned.alpha
    assert change.interval[0] <= change.effect <= change.interval[1]
    line = next(line for line in scanned.summary().splitlines() if line.startswith("  noise "))
    assert line.endswith(f"not individually significant (p = {change.pvalue:.3g})")


def test_json_and_table_hold_it(scanned):
    held = json.loads(scanned.to_json())["selection"]
    assert held["groups"] == [["u", "v"]]
    assert list(held["changes"]) == list(scanned.selection.weights)
    assert held["changes"]["high"]["labels"] == ["january", "july"]
    frame = scanned.variables_frame()
    assert frame["variable"].tolist() == list(scanned.selection.weights)
    row = frame.set_index("variable").loc["u"]
    assert (row["kind"], row["with"], row["named"]) == ("correlation", "v", True)
    assert row["low"] < row["effect"] < row["high"]
    assert row["differs"] == scanned.selection.description["u"]


def test_an_alike_pair_of_samples_has_sizes_too():
    rng = np.random.default_rng(3)
    result = ta.two_sample_test(
        rng.normal(size=(60, 3)), rng.normal(size=(70, 3)), n_permutations=99, random_state=0
    )
    assert not result.reject
    assert set(result.selection.changes) == set(result.variables)
    assert all(
        "not individually significant" in text for text in result.selection.description.values()
    )


def test_a_split_takes_sizes_from_the_held_out_rows():
    X, Y = tables()
    result = ta.two_sample_test(X, Y, method="split", n_variables=2, random_state=0)
    change = result.selection.changes["high"]
    held_out = result.held_out
    place = held_out.names.index("high")
    x, y = held_out.x[:, place], held_out.y[:, place]
    assert change.values == pytest.approx((x.mean(), y.mean()), rel=1e-12)
    assert change.named is None
    assert math.isnan(change.pvalue)
    assert "significant" not in result.selection.description["high"]
    assert json.loads(result.to_json())["selection"]["changes"]["high"]["pvalue"] is None


def test_a_joint_kernel_may_have_chosen_for_dependence():
    X, Y = (table[["u", "v", "hum"]] for table in tables())
    chosen = ta.select_variables(X, Y, 2)
    assert set(chosen.variables) == {"u", "v"}
    # As a kernel would leave it, which does not say what it chose a variable for.
    bare = replace(chosen, groups=(), reasons=(), changes={})
    samples = read_samples(X, Y)
    joint = with_changes(bare, samples, joint=True).description["u"]
    assert joint.startswith("with v: correlation ")
    assert "correlation" not in with_changes(bare, samples).description["u"]


def test_the_training_rows_decide_what_is_told_and_others_how_much():
    rng = np.random.default_rng(4)
    wide, alike = rng.normal(size=(200, 1)) * 3, rng.normal(size=(200, 1))
    train = read_samples(wide, alike)
    held_out = read_samples(rng.normal(size=(200, 1)) + 5, rng.normal(size=(200, 1)))
    selection = ta.select_variables(wide, alike, 1, kernel="linear")
    change = with_changes(selection, held_out, train=train).changes["x0"]
    assert change.kind == "spread"
    assert change.effect == pytest.approx(1, abs=0.3)
    assert with_changes(selection, held_out).changes["x0"].kind == "location"


def test_a_level_that_held_out_rows_lack_gives_way_to_another():
    train = read_samples(
        pd.DataFrame({"c": ["a"] * 30 + ["b"] * 30 + ["z"] * 30}),
        pd.DataFrame({"c": ["a"] * 45 + ["b"] * 44 + ["z"]}),
    )
    held_out = train.rows(np.arange(50), np.arange(20, 89))
    selection = ta.select_variables(
        pd.DataFrame({"c": ["a", "a", "b", "z"]}), pd.DataFrame({"c": ["a", "b", "b", "z"]}), 1
    )
    told = with_changes(selection, held_out, train=train)
    assert told.changes["c"].measure in ("proportion of 'a'", "proportion of 'b'")


def test_what_never_varies_in_the_rows_is_left_out():
    still = read_samples(np.ones((20, 1)), np.ones((20, 1)))
    rng = np.random.default_rng(0)
    selection = ta.select_variables(rng.normal(size=(20, 1)), rng.normal(size=(20, 1)), 1)
    told = with_changes(selection, still)
    assert told.changes == {}
    assert told.description == {"x0": told.reasons[0]}
    assert told.to_frame()["differs"].tolist() == [told.reasons[0]]


def test_a_p_value_below_the_level_is_sure_without_a_finding():
    X, Y = tables()
    selection = ta.select_variables(X, Y, 1)
    name = selection.variables[0]
    groupless = replace(selection, groups=(), reasons=("shift",))
    scanned = ScanFindings((), {name: 0.03}, 0.05)
    told = with_changes(groupless, read_samples(X, Y), scanned=scanned)
    assert told.changes[name].named is True


def test_only_the_largest_weights_of_many_are_described():
    X, Y = tables()
    with using_budget(Budget(described_variables=2)):
        selection = ta.select_variables(X, Y, 4)
    assert list(selection.changes) == list(selection.weights)[:2]
    assert len(selection.description) == len(selection.variables)


def test_the_generator_that_was_given_is_not_drawn_from():
    X, Y = tables()
    first, second = np.random.default_rng(5), np.random.default_rng(5)
    ta.select_variables(X, Y, 2, random_state=first)
    one = ta.select_variables(X, Y, 2, random_state=0)
    two = ta.select_variables(X, Y, 2, random_state=0)
    ta.select_variables(X, Y, 2, random_state=second)
    assert repr(one.changes) == repr(two.changes)  # p-values are NaN, equal to none
    assert first.bit_generator.state == second.bit_generator.state
