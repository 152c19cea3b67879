"""A finding in one sentence, in the words of its kind."""

import math

import pytest

from tellapart.scan.finding import Finding, p_text

SENTENCES = {
    "location": (
        ("location", -0.7, (-0.84, -0.57), (59.0, 66.25), "mean"),
        "age: mean 59 in X, 66.25 in Y; SMD −0.70 (95 % CI −0.84 to −0.57), p = 0.001",
    ),
    "spread": (
        ("spread", 1.5, (1.2, 1.9), (1.2, 0.8), "SD"),
        "age: SD 1.2 in X, 0.8 in Y; SD ratio 1.50 (95 % CI 1.20 to 1.90), p = 0.001",
    ),
    "constant": (
        ("spread", math.inf, (0.0, math.inf), (1.2, 0.0), "SD"),
        "age: SD 1.2 in X, constant in Y, p = 0.001",
    ),
    "shape": (
        ("shape", -0.14, (-0.2, -0.08), (0.02, 0.16), "L-skewness"),
        "age: L-skewness 0.02 in X, 0.16 in Y; difference −0.14 (95 % CI −0.20 to −0.08), "
        "p = 0.001",
    ),
    "frequent value": (
        ("shape", 0.055, (0.01, 0.1), (0.06, 0.005), "proportion of 333.3"),
        "age: 6.0 % of values equal 333.3 in X, 0.5 % in Y; difference +5.5 percentage points "
        "(95 % CI +1.0 to +10), p = 0.001",
    ),
    "share": (
        ("share", -0.24, (-0.3, -0.18), (0.48, 0.72), "proportion of 'medical'"),
        "age: proportion of 'medical' 48 % in X, 72 % in Y; difference −24 percentage points "
        "(95 % CI −30 to −18), p = 0.001",
    ),
    "missing": (
        ("missing", 0.4, (0.3, 0.5), (0.4, 0.0), "missing"),
        "age: missing in 40 % of X, 0 % of Y; difference +40 percentage points "
        "(95 % CI +30 to +50), p = 0.001",
    ),
    "new values": (
        ("new values", -0.02, (-0.03, -0.01), (0.0, 0.02), "−9999 occurs"),
        "age: −9999 occurs in 2.0 % of Y, never in X; difference −2.0 percentage points "
        "(95 % CI −3.0 to −1.0), p = 0.001",
    ),
    "distribution": (
        ("distribution", 0.24, (0.1, 0.4), (0.62, 0.38), "probability of superiority"),
        "age: values of X exceed those of Y with probability 0.62; Cliff's delta +0.24 "
        "(95 % CI +0.10 to +0.40), p = 0.001",
    ),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_a_finding_is_one_sentence(case):
    (kind, effect, interval, values, measure), sentence = SENTENCES[case]
    assert Finding(kind, ("age",), 0.001, effect, interval, values, measure).summary() == sentence


def test_small_differences_of_large_correlations_are_shown():
    finding = Finding(
        "correlation",
        ("a", "b"),
        0.01,
        -0.0016,
        (-0.0031, -0.0004),
        (0.9978, 0.9994),
        "correlation",
    )
    assert finding.summary() == (
        "a and b: correlation 0.9978 in X, 0.9994 in Y; difference −0.0016 "
        "(95 % CI −0.0031 to −0.0004), p = 0.01"
    )


def test_p_values_at_the_floor_are_bounds():
    finding = Finding("spread", ("a",), 0.001, 1.5, (1.2, 1.9), (1.2, 0.8), "SD", floor=0.001)
    assert finding.summary().endswith("p ≤ 0.001")
    assert p_text(0.002, 0.001) == "p = 0.002"


def test_json_has_no_numbers_that_json_lacks():
    finding = Finding("spread", ("a",), math.nan, math.inf, (0.0, math.inf), (1.0, 0.0), "SD")
    plain = finding.to_dict()
    assert (plain["effect"], plain["interval"], plain["pvalue"]) == (None, [0.0, None], None)
