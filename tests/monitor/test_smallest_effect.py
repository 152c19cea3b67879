"""The smallest effect worth an alarm, by kind and column, and thresholds of one's own."""

import math

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from tellapart.monitor.records import ColumnScore
from tellapart.monitor.settings import (
    beyond_thresholds,
    check_smallest_effect,
    check_thresholds,
    smallest_in_interval,
    worth_an_alarm,
)
from tellapart.scan.finding import Finding
from tellapart.scan.smallest_effect import SmallestEffect


def finding(kind, low, high, column="a"):
    return Finding(kind, (column,), 0.001, (low + high) / 2, (low, high), (0.0, 0.0), kind)


@pytest.mark.parametrize(
    ("kind", "interval", "size"),
    [
        ("location", (-0.5, -0.2), 0.2),
        ("location", (-0.1, 0.4), 0.0),
        ("share", (0.03, 0.08), 0.03),
        ("spread", (1.1, 1.6), math.log(1.1)),
        ("spread", (0.5, 0.8), math.log(1.25)),
        ("spread", (0.9, 1.2), 0.0),
        ("spread", (0.0, 0.8), math.log(1.25)),
        ("correlation", (0.3, math.inf), 0.3),
        ("location", (math.nan, 1.0), 0.0),
    ],
)
def test_what_an_interval_smallest_in_interval_holds(kind, interval, size):
    assert smallest_in_interval(finding(kind, *interval)) == pytest.approx(size)


def test_only_listed_kinds_and_columns_are_worth_an_alarm():
    small, large = finding("share", 0.01, 0.3), finding("location", 0.25, 0.6)

    def worth(sizes, *findings):
        return worth_an_alarm(findings, None if sizes is None else SmallestEffect.of(sizes))

    assert worth(None, small) == (small,)
    assert worth(0.2, small, large) == (large,)
    assert worth(0.2, small) == ()  # 0.2 SD is ten percentage points
    assert worth(0.01) == ()
    assert worth({"location": 0.2, "share": 0.1}, small, large) == (large,)
    assert worth({"location": 0.3, "share": 0.1}, small, large) == ()
    assert worth({"location": 0.3}, small) == ()  # shares are silent
    other = finding("location", 0.25, 0.6, "b")
    assert worth({"location": 0.2, "a": {"location": 0.4}}, large, other) == (other,)
    assert worth({"spread": 1.2}, finding("spread", 1.25, 1.6)) != ()
    assert worth({"spread": 0.8}, finding("spread", 1.2, 1.6)) == ()


def test_an_alarm_says_which_finding_tripped_it():
    rng = np.random.default_rng(0)
    reference = pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", "c"])
    batch = pd.DataFrame(rng.normal([1.5, 0.9, 0], size=(200, 3)), columns=["a", "b", "c"])
    given = {"n_permutations": 99, "random_state": 0, "n_checks": 2}
    sizes = {"location": 0.3, "a": {"location": 5.0}}
    monitor = ta.compare_to_reference(reference, smallest_effect=sizes, **given)
    result = monitor.check(batch, label="3 May")
    assert {one.variables[0] for one in result.findings} >= {"a", "b"}
    assert result.alarm
    assert [one.variables for one in result.tripped] == [("b",)]
    assert "ALARM: 3 May differs from the reference\n   tripped by b: mean" in monitor.summary()
    objects = monitor.to_dict()["history"][0]["findings"]
    assert [(one["variables"], one["kind"]) for one in objects if one["tripped"]] == [
        (["b"], "location")
    ]
    assert result.verdict.startswith("3 May differs from the reference (p")
    silent = ta.compare_to_reference(reference, smallest_effect={"share": 0.01}, **given)
    assert not silent.check(batch).alarm


def test_scores_are_kept_and_compared_with_thresholds():
    rng = np.random.default_rng(1)
    reference = pd.DataFrame({"a": rng.normal(size=300), "g": rng.choice(list("uv"), 300)})
    batch = pd.DataFrame({"a": rng.normal(size=80) + 0.8, "g": rng.choice(list("uv"), 80)})
    monitor = ta.compare_to_reference(
        reference, thresholds={"a": 0.5, "g": 0.9}, n_checks=1, n_permutations=99, random_state=0
    )
    result = monitor.check(batch)
    scores = {one.column: one for one in result.scores}
    both = reference["a"], batch["a"]
    pooled = math.sqrt(sum((len(x) - 1) * x.var() for x in both) / (len(reference) + 78))
    assert scores["a"].effect == pytest.approx((batch["a"].mean() - both[0].mean()) / pooled, 0.01)
    assert scores["a"].low < scores["a"].effect < scores["a"].high
    assert result.beyond == ("a",)
    assert monitor.history[0].beyond == ("a",)
    frame = monitor.scores_frame()
    assert list(frame["column"]) == ["a", "g"]
    assert list(frame["beyond"]) == [True, False]


def test_thresholds():
    scores = [ColumnScore("a", "mean", -0.4, -0.6, -0.2), ColumnScore("b", "mean", 0.1, 0, 0.2)]
    assert beyond_thresholds(scores, 0.3) == ("a",)
    assert beyond_thresholds(scores, {"b": 0.1}) == ("b",)
    assert beyond_thresholds(scores, None) == ()
    with pytest.raises(ta.InputError, match="thresholds must have columns as keys; got none"):
        check_thresholds({})
    with pytest.raises(ta.InputError, match=r"thresholds\['a'\] must be"):
        check_thresholds({"a": -1})


@pytest.mark.parametrize(
    ("value", "method", "message"),
    [
        (0, "scan", r"smallest_effect must be a finite number in \(0"),
        ("0.1", "scan", "smallest_effect must be a number"),
        ({}, "scan", "smallest_effect must be a number"),
        ({"location": -1}, "scan", r"smallest_effect\['location'\] must be"),
        (0.1, "split", "needs the findings of method='scan'"),
    ],
)
def test_bad_ones_are_named(value, method, message):
    with pytest.raises(ta.InputError, match=message):
        check_smallest_effect(value, method)


@pytest.mark.parametrize("argument", ["smallest_effect", "thresholds"])
def test_columns_must_be_those_of_the_reference(argument):
    with pytest.raises(ta.InputError, match=f"{argument} must have columns.* got 'q'"):
        ta.compare_to_reference(np.ones((9, 2)), **{argument: {"q": 0.1}})
