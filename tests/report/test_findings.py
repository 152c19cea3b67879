"""Findings in words: sizes with their units, some of every scale, all columns by p-value."""

import math
from dataclasses import replace

import numpy as np
import pytest

from scanned import column_tests, make_finding, run_scan
from tellapart.report.words import (
    describe_all_columns,
    describe_finding,
    group_findings,
    pick_findings,
)
from tellapart.scan.families import FAMILIES, describe_family


def test_every_family_is_described():
    assert all(describe_family(family.name) == family.description for family in FAMILIES)
    assert "whole rows" in describe_family("location")


@pytest.mark.parametrize(
    ("kind", "measure", "size", "interval"),
    [
        ("location", "mean", "SMD +0.50", "95 % CI +0.40 to +0.60"),
        ("spread", "SD", "SD ratio 0.50", "95 % CI 0.40 to 0.60"),
        ("share", "proportion of 'a'", "difference +50 percentage points", "95 % CI +40 to +60"),
        ("share", "prevalence", "difference +50 percentage points", "95 % CI +40 to +60"),
        ("shape", "L-skewness", "difference +0.50", "95 % CI +0.40 to +0.60"),
        (
            "distribution", "probability of superiority",
            "Cliff's delta +0.50", "95 % CI +0.40 to +0.60",
        ),
        ("correlation", "correlation", "difference +0.50", "95 % CI +0.40 to +0.60"),
    ],
)  # fmt: skip
def test_sizes_have_their_units(kind, measure, size, interval):
    row = describe_finding(make_finding(kind, measure=measure))
    assert (row.size, row.interval, row.pvalue) == (size, interval, "0.01")


def test_simultaneous_intervals_and_floors_are_shown():
    row = describe_finding(make_finding(simultaneous=(0.2, 0.8), pvalue=0.001, floor=0.001))
    assert row.simultaneous == "simultaneous +0.20 to +0.80"
    assert row.pvalue == "≤ 0.001"
    assert describe_finding(make_finding()).simultaneous == ""


def test_sizes_that_are_not_known_are_left_out():
    row = describe_finding(make_finding("spread", effect=math.inf, values=(1.0, 0.0), measure="SD"))
    assert (row.size, row.change) == ("", "SD 1 in X, constant in Y")


def test_some_of_every_scale_are_picked_in_their_order():
    many = [make_finding(variables=(f"v{i}",), effect=-0.1 * i - 0.1) for i in range(30)]
    few = [make_finding("spread", ("s",)), make_finding("correlation", ("a", "b"))]
    picked = pick_findings([*many, *few], 10)
    assert picked == [*many[:8], *few]
    assert pick_findings(few, 10) == few
    assert pick_findings([], 10) == []


def test_what_has_no_size_is_not_drawn():
    found = [
        make_finding("spread", ("constant",), effect=0.0),
        make_finding("spread", ("s",), effect=2.0),
        make_finding("location", effect=math.nan),
    ]
    assert list(group_findings(found, 10).values()) == [[found[1]]]
    assert found[1].scale.ratio


def test_all_columns_are_listed_by_pvalue_then_by_effect():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(30, 4)), rng.normal(size=(30, 4))
    x[:, 1] += 1
    y[:, 3] = (y[:, 3] > 0) + 1.0
    x[:, 3] = (x[:, 3] > 1) + 1.0
    result = run_scan(x, y)
    pvalues = {"x0": 0.4, "x1": 0.005, "x2": 0.005, "x3": 0.03}
    found = (make_finding(variables=("x1",)), make_finding("spread", variables=("x1",)))
    null = replace(result.scan, column_tests=column_tests(pvalues), findings=found)
    named = replace(result, scan=null, pvalue=0.005)
    first, second, third, fourth = describe_all_columns(named, named.column_data)
    assert [row.name for row in (first, second, third, fourth)] == ["x1", "x2", "x3", "x0"]
    assert first.tests[1] == "≤ 0.005"
    assert first.findings == "Mean, Standard deviation"
    mean = f"{x[:, 1].mean():.3g}\xa0({x[:, 1].std(ddof=1):.3g})"
    assert first.first[0] == mean.replace("-", "−")
    assert first.first[1].count("[") == 1
    share = np.mean(x[:, 3] == 2)
    assert third.first == (f"{100 * share:.0f}\xa0% ({int(30 * share)}) equal 2",)
    assert fourth.ratio[0] == f"{x[:, 0].std() / y[:, 0].std():.2f}"
