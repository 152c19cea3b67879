"""Findings in words: sizes with their units, some of every scale, all columns by p-value."""

import math
from dataclasses import replace

import numpy as np
import pytest

from scanned import column_tests, make_finding, run_scan
from tellapart.report.words import describe_columns, describe_finding, group_findings, pick_findings
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


def test_columns_are_grouped_by_their_pvalues():
    rng = np.random.default_rng(4)
    result = run_scan(rng.normal(size=(30, 2)), rng.normal(size=(30, 2)))
    pvalues = {"b": 0.005, "a": 0.005, "c": 0.03, "d": 0.4, **{f"n{i}": 1.0 for i in range(7)}}
    found = (make_finding(variables=("a",)), make_finding(variables=("b",), effect=0.1))
    scan = replace(result.scan, column_tests=column_tests(pvalues), findings=found)
    floored, significant, not_significant, ones = describe_columns(replace(result, scan=scan))
    assert floored.title == "2 columns at p ≤ 0.005"
    # Columns with equal p-values are in the order of their findings.
    assert [name for name, _, _ in floored.rows] == ["a", "b"]
    assert floored.rows[0] == ("a", "≤ 0.005", "SMD +0.50 (95 % CI +0.40 to +0.60)")
    assert (significant.title, significant.unfolded) == ("1 column significant at α = 0.05", True)
    assert (not_significant.rows, not_significant.unfolded) == ([("d", "0.4", "")], False)
    assert (ones.title, ones.names_only) == ("7 columns with p > 0.99", True)
