"""Findings in one sentence, and in order: most significant first, then the larger effect."""

import math

from each import each
from scanned import make_finding
from tellapart.scan.finding import Finding, magnitude, p_text, sort_findings


@each(
    "kind, effect, interval, values, measure, text",
    [
        (
            "location", -0.7, (-0.84, -0.57), (59.0, 66.0), "mean",
            "age: mean 59 in X, 66 in Y; SMD −0.70 (95 % CI −0.84 to −0.57), p ≤ 0.001",
        ),
        (
            "spread", 0.81, (0.7, 0.93), (8.1, 10.0), "SD",
            "age: SD 8.1 in X, 10 in Y; SD ratio 0.81 (95 % CI 0.70 to 0.93), p ≤ 0.001",
        ),
        (
            "shape", -0.38, (-0.6, -0.1), (-0.01, 0.37), "L-skewness",
            "age: L-skewness −0.01 in X, 0.37 in Y; difference −0.38 (95 % CI −0.60 to −0.10), "
            "p ≤ 0.001",
        ),
        (
            "share", -0.24, (-0.3, -0.18), (0.48, 0.72), "prevalence",
            "age: prevalence 48 % in X, 72 % in Y; difference −24 percentage points (95 % CI −30 "
            "to −18), p ≤ 0.001",
        ),
        (
            "correlation", -0.0016, (-0.0031, -0.0004), (0.9978, 0.9994), "correlation",
            "age: correlation 0.9978 in X, 0.9994 in Y; difference −0.0016 (95 % CI −0.0031 to "
            "−0.0004), p ≤ 0.001",
        ),
    ],
)  # fmt: skip
def test_a_finding_in_one_sentence(kind, effect, interval, values, measure, text):
    found = Finding(kind, ("age",), 0.001, effect, interval, values, measure, floor=0.001)
    assert found.summary() == text


def test_pvalues_at_the_floor_are_upper_bounds():
    assert p_text(1 / 1000, 1 / 1000) == "p ≤ 0.001"
    assert p_text(0.002, 0.001) == "p = 0.002"
    assert p_text(0.001) == "p = 0.001"


def test_findings_are_sorted_by_significance_then_effect():
    shown = [
        make_finding("correlation", ("a", "b"), pvalue=0.001, values=(0.995, 0.998), effect=-0.003),
        make_finding("location", ("late",), pvalue=0.02, effect=3.0),
        make_finding("correlation", ("c", "d"), pvalue=0.001, values=(0.82, 0.41), effect=0.41),
        make_finding("spread", ("s",), pvalue=0.001, effect=0.4, measure="SD"),
        make_finding(
            "share", ("p",), pvalue=0.001, values=(0.02, 0.0), effect=0.02, measure="prevalence"
        ),
        make_finding("location", ("m",), pvalue=0.001, effect=-0.5),
    ]
    order = [finding.variables[0] for finding in sort_findings(shown)]
    assert order == ["s", "m", "c", "p", "a", "late"]


def test_magnitudes_are_on_one_scale():
    assert magnitude(make_finding(effect=-0.5)) == 0.5
    assert magnitude(make_finding("spread", effect=0.5)) == magnitude(
        make_finding("spread", effect=2.0)
    )
    assert magnitude(make_finding("spread", effect=0.0)) == math.inf
    assert magnitude(make_finding(effect=math.nan)) == -1.0
    # Normal samples one SD apart: X exceeds Y with probability Φ(1/√2) = .760, delta .520.
    cliff = make_finding("distribution", measure="probability of superiority", effect=0.5205)
    assert abs(magnitude(cliff) - 1) < 1e-3
    flag = make_finding("share", measure="prevalence", values=(0.6, 0.5), effect=0.1)
    assert abs(magnitude(flag) - 0.2) < 0.005
