"""A finding in one sentence: its interval is told in the words of the change."""

from each import each
from tellapart.scan.finding import Finding


@each(
    "kind, effect, interval, values, measure, told",
    [
        (
            "location", -0.7, (-0.84, -0.57), (59.0, 66.0), "mean",
            "age: lower in X by 0.70 spreads (0.57 to 0.84), p = 0.001",
        ),
        (
            "location", 0.7, (0.57, 0.84), (66.0, 59.0), "mean",
            "age: higher in X by 0.70 spreads (0.57 to 0.84), p = 0.001",
        ),
        (
            "shape", -1.38, (-1.6, -1.1), (-0.01, 1.37), "skewness",
            "age: skewness -0.01 in X, 1.37 in Y (difference -1.60 to -1.10), p = 0.001",
        ),
    ],
)  # fmt: skip
def test_a_finding_says_how_much_in_the_words_of_its_kind(
    kind, effect, interval, values, measure, told
):
    assert Finding(kind, ("age",), 0.001, effect, interval, values, measure).summary() == told


def test_shares_are_told_in_percent():
    finding = Finding(
        "share", ("ward",), 0.001, -0.24, (-0.3, -0.18), (0.48, 0.72), "share of 'medical'"
    )
    assert finding.summary() == (
        "ward: share of 'medical' 48 % in X, 72 % in Y (difference -30 % to -18 %), p = 0.001"
    )


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
        "a and b: correlation 0.9978 in X, 0.9994 in Y (difference -0.0031 to -0.0004), p = 0.01"
    )
