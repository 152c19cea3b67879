"""Findings in words: sizes with their units, some of every scale, families with their reasons."""

import math

import pytest

from scanned import make_finding
from tellapart.report.findings import (
    FAMILY_WORDS,
    KIND_WORDS,
    describe_finding,
    group_findings,
    pick_findings,
    scale_of,
)
from tellapart.scan.finding import KINDS
from tellapart.scan.scan import WEIGHTS


def test_every_kind_and_family_has_words():
    assert set(KIND_WORDS) == set(KINDS)
    assert set(FAMILY_WORDS) == set(WEIGHTS)


@pytest.mark.parametrize(
    ("kind", "measure", "size", "interval"),
    [
        ("location", "mean", "+0.50 spreads", "+0.40 to +0.60"),
        ("spread", "spread", "0.50 times", "0.40 to 0.60"),
        ("share", "share of 'a'", "+50 points", "+40 to +60"),
        ("shape", "share of the value 0", "+50 points", "+40 to +60"),
        ("shape", "skewness", "+0.50", "+0.40 to +0.60"),
        ("correlation", "correlation", "+0.50", "+0.40 to +0.60"),
    ],
)
def test_sizes_have_their_units(kind, measure, size, interval):
    row = describe_finding(make_finding(kind, measure=measure))
    assert (row.size, row.interval, row.pvalue) == (size, interval, "0.01")


def test_unknown_and_infinite_sizes_are_said():
    wild = describe_finding(make_finding("spread", effect=math.inf, interval=(1.0, math.nan)))
    assert (wild.size, wild.interval) == ("unbounded times", "1.00 to not known")


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
    assert scale_of(found[1]).ratio
