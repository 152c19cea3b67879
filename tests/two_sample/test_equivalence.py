"""Equivalence tests, `assert_similar`, and findings that exceed a smallest effect."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tellapart as ta
from tellapart.errors import InputError


def wilson(count, n, z):
    share = count / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return middle - half, middle + half


def newcombe(x, y, confidence):
    z = stats.norm.ppf((1 + confidence) / 2)
    (p, q), ((a, b), (c, d)) = (
        (x.mean(), y.mean()),
        (wilson(side.sum(), side.size, z) for side in (x, y)),
    )
    return p - q - math.hypot(p - a, d - q), p - q + math.hypot(b - p, q - c)


def welch_tost(x, y, margin):
    """Return the p-value of two one-sided Welch tests, with the margin in units of the data."""
    error = math.sqrt(x.var(ddof=1) / x.size + y.var(ddof=1) / y.size)
    degrees = stats.ttest_ind(x, y, equal_var=False).df
    difference = x.mean() - y.mean()
    lower = stats.t.sf((difference + margin) / error, degrees)
    upper = stats.t.cdf((difference - margin) / error, degrees)
    return max(lower, upper)


def test_one_proportion_is_newcombes_interval_against_the_margin():
    rng = np.random.default_rng(0)
    x, y = ((rng.random(n) < 0.4).astype(float) for n in (300, 250))
    result = ta.equivalence_test(x[:, None], y[:, None], margin={"share": 0.15})
    own = result.kinds["share"]
    assert (own.low[0], own.high[0]) == pytest.approx(newcombe(x, y, 0.9))
    # The p-value is the α at which the interval touches the margin.
    touching = newcombe(x, y, 1 - 2 * result.pvalue)
    assert max(-touching[0], touching[1]) == pytest.approx(0.15, abs=1e-6)
    # One effect needs no adjustment.
    assert (own.simultaneous_low[0], own.simultaneous_high[0]) == pytest.approx(
        newcombe(x, y, 0.95), abs=0.004
    )


def test_one_mean_agrees_with_two_one_sided_welch_tests():
    # The margin is in standard deviations, whose error counts too: little in large samples.
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=1500), rng.normal(0.05, 1, 1200)
    pooled = math.sqrt((1499 * x.var(ddof=1) + 1199 * y.var(ddof=1)) / 2698)
    for margin in (0.15, 0.2, 0.22):
        result = ta.equivalence_test(x[:, None], y[:, None], margin={"location": margin})
        assert result.pvalue == pytest.approx(welch_tost(x, y, margin * pooled), rel=0.05)


def test_pairs_agree_with_two_one_sided_paired_tests():
    rng = np.random.default_rng(2)
    x = rng.normal(size=600)
    y = x + 0.5 * rng.normal(size=600)
    result = ta.equivalence_test(x[:, None], y[:, None], margin={"location": 0.06}, paired=True)
    pooled = math.sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2)
    upper = stats.ttest_1samp(x - y, 0.06 * pooled, alternative="less").pvalue
    lower = stats.ttest_1samp(x - y, -0.06 * pooled, alternative="greater").pvalue
    assert result.pvalue == pytest.approx(max(upper, lower), rel=0.1)


def test_all_effects_must_be_within_and_one_beyond_suffices():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(500, 3)), rng.normal(size=(500, 3))
    alike = ta.equivalence_test(x, y, margin=0.35)
    assert alike.verdict == "alike within the margin"
    assert alike.pvalue == max(own.pvalues.max() for own in alike.kinds.values()) <= 0.05
    for own in alike.kinds.values():
        edge = 1 / own.margins if own.kind == "spread" else -own.margins
        assert (own.low > edge).all()
        assert (own.high < own.margins).all()
    shifted = ta.equivalence_test(x + np.array([0, 0, 1]), y, margin=0.35)
    assert shifted.verdict == "different"
    assert shifted.exceeding == (("location", 2),)
    assert "x2: SMD +" in shifted.summary()
    unknown = ta.equivalence_test(x[:20], y[:20], margin=0.35)
    assert unknown.verdict == "undecided"
    assert len(unknown.undecided) == 9
    assert "Undecided" in unknown.summary()


def test_decisions_follow_from_intervals_and_pvalues():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(80, 6)), rng.normal(size=(90, 6))
    x[:, 0] += 1.2
    x[:, 1] *= 2.5
    frame = ta.equivalence_test(x, y, margin=0.4).to_frame()
    ratio = frame["kind"] == "spread"
    low_edge = np.where(ratio, 1 / frame["margin"], -frame["margin"])
    within = (frame["low"] > low_edge) & (frame["high"] < frame["margin"])
    beyond = (frame["simultaneous_low"] > frame["margin"]) | (frame["simultaneous_high"] < low_edge)
    assert ((frame["pvalue"] <= 0.05) == within).all()
    assert ((frame["decision"] == "different") == beyond).all()
    assert (frame["pvalue_beyond"][beyond] <= 0.06).all()
    assert (frame["pvalue_beyond"][~beyond] >= 0.04).all()
    assert beyond.sum() == 2


def test_margins_by_kind_and_column():
    rng = np.random.default_rng(5)
    x = pd.DataFrame(rng.normal(size=(300, 2)), columns=["age", "weight"])
    y = pd.DataFrame(rng.normal((0.6, 0), size=(300, 2)), columns=["age", "weight"])
    margin = {"location": 0.3, "age": {"location": 1.0}}
    result = ta.equivalence_test(x, y, margin=margin)
    assert result.kinds["location"].margins.tolist() == [1.0, 0.3]
    assert set(result.kinds) == {"location"}
    assert result.verdict == "alike within the margin"
    assert ta.equivalence_test(x, y, margin={"location": 0.3}).verdict == "different"
    assert result.to_dict()["margin"] == margin
    assert json.loads(result.to_json())["effects"][0]["decision"] == "alike within the margin"


@pytest.mark.parametrize(
    ("margin", "message"),
    [
        (0, r"margin must be a finite number in \(0, inf\)"),
        ("wide", "margin must be a number"),
        ({"location": -1}, r"margin\['location'\] must be a finite number"),
        ({"spread": 1}, r"margin\['spread'\] must be a ratio"),
        ({"wieght": {"location": 1}}, "got 'wieght'"),
        ({"share": 0.1}, "margin must have kinds of effects that the columns have"),
    ],
)
def test_wrong_margins_are_refused(margin, message):
    x = np.random.default_rng(6).normal(size=(30, 2))
    with pytest.raises(InputError, match=message):
        ta.equivalence_test(x, x[::-1], margin=margin)


def test_data_in_chunks_are_judged_by_drawn_rows(tmp_path):
    rng = np.random.default_rng(7)
    for name in "ab":
        pd.DataFrame(rng.normal(size=(400, 2)), columns=["u", "v"]).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    x, y = (ta.open_dataset(tmp_path / f"{name}.csv") for name in "ab")
    result = ta.equivalence_test(x, y, margin=0.4)
    assert result.verdict == "alike within the margin"
    assert result.rows == (400, 400)
    assert result.drawn_from is None


def test_assert_similar_says_what_exceeds():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(200, 3)), rng.normal(size=(200, 3))
    ta.assert_similar(x, y, smallest_effect=0.3)
    with pytest.raises(AssertionError) as caught:
        ta.assert_similar(x, y * [1, 1, 3], smallest_effect=0.3, labels=("old", "new"))
    text = str(caught.value)
    assert text.startswith("old and new differ by more than the smallest effect of interest: x2:")
    assert "SD ratio 0.3" in text
    assert "simultaneous 95 % CI" in text
    assert "\n" not in text
    with pytest.raises(AssertionError, match="not shown to be alike"):
        ta.assert_similar(x[:20], y[:20], smallest_effect=0.3, strict=True)
    ta.assert_similar(x[:20], y[:20], smallest_effect=0.3)
    with pytest.raises(InputError, match="smallest_effect must"):
        ta.assert_similar(x, y, smallest_effect=None)


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(3000, 3)), rng.normal(size=(3000, 3))
    y[:, 0] += 0.15
    y[:, 1] += 0.6
    return x, y


def compared(tables, **options):
    return ta.two_sample_test(*tables, random_state=0, n_permutations=99, n_variables=1, **options)


def test_findings_are_those_that_exceed_the_smallest_effect(large):
    every, some = compared(large), compared(large, smallest_effect=0.3)
    assert {finding.variables for finding in every.findings} == {("x0",), ("x1",)}
    assert [finding.variables for finding in some.findings] == [("x1",)]
    assert every.pvalue == some.pvalue
    (finding,) = some.findings
    assert finding.smallest_effect == 0.3
    assert abs(finding.simultaneous[1]) > 0.3
    assert finding.summary().endswith("p ≤ 0.01 (H₀: |SMD| ≤ 0.30)")
    assert finding.to_dict()["smallest_effect"] == 0.3
    assert some.settings["smallest_effect"] == 0.3
    assert "smallest_effect=0.3" in some.to_html(stability=False)


def test_differences_that_do_not_matter_are_said_not_to(large):
    result = compared(large, smallest_effect={"location": 1.0, "distribution": 0.7})
    assert result.reject
    assert not result.findings
    text = result.summary()
    assert "but by less than you care for: no effect exceeds the smallest effect" in text
    assert "With 95 % confidence no mean differs by more than 0.64 SD (x1)" in text
    assert "by less than you care for" in result.to_html(stability=False)
    assert "smallest effect of interest" in result.methods_paragraph()


def test_kinds_and_columns_have_sizes_of_their_own(large):
    x, y = large
    y = y * [1, 1, 1.6]
    result = compared((x, y), smallest_effect={"location": 0.3, "x1": {"location": 0.9}})
    assert [(finding.kind, finding.variables) for finding in result.findings] == [
        ("spread", ("x2",))
    ]
    assert math.isnan(result.findings[0].smallest_effect)


def test_smallest_effects_are_checked(large):
    with pytest.raises(InputError, match="got 'x9'"):
        compared(large, smallest_effect={"x9": 0.2})
    with pytest.raises(InputError, match="smallest_effect must be left out with method='split'"):
        compared(large, smallest_effect=0.2, method="split")


def test_groups_take_a_smallest_effect():
    rng = np.random.default_rng(10)
    group = np.repeat(["a", "b"], 1500)
    values = rng.normal(size=(3000, 2))
    values[group == "b", 0] += 0.3
    found = ta.compare_groups(values, group, random_state=0, n_permutations=99)
    assert found.comparisons[0].difference == "One mean differs (x0)."
    less = ta.compare_groups(values, group, random_state=0, n_permutations=99, smallest_effect=1.0)
    assert less.comparisons[0].reject
    assert less.comparisons[0].difference.startswith("No effect exceeds the smallest effect")


def test_limits_are_shown_where_nothing_was_found():
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(120, 3)), rng.normal(size=(100, 3))
    result = compared((x, y))
    assert not result.reject
    limits = result.limits
    frame = limits.to_frame()
    for kind, own in limits.kinds.items():
        part = frame[frame["kind"] == kind]
        far = np.maximum(part["low"].abs(), part["high"].abs())
        if kind == "spread":
            far = np.maximum(1 / part["low"], part["high"])
        assert own.bound == pytest.approx(far.max())
        assert ", ".join(own.attained_by) == part["variables"][far.idxmax()]
    assert limits.summary() in result.summary()
    assert limits.summary() in result.to_html(stability=False).replace("\u00a0", " ")
    assert "absence of evidence" not in result.summary()
    smd = (x.mean(axis=0) - y.mean(axis=0)) / np.sqrt(
        (119 * x.var(axis=0, ddof=1) + 99 * y.var(axis=0, ddof=1)) / 218
    )
    assert limits.kinds["location"].effects == pytest.approx(smd * (1 - 3 / (4 * 218 - 1)))
    ratio = x.std(axis=0, ddof=1) / y.std(axis=0, ddof=1)
    assert limits.kinds["spread"].effects == pytest.approx(ratio)
    record = limits.to_dict()
    assert record["kinds"]["location"]["bound"] == limits.kinds["location"].bound
    assert limits is result.limits
    bounds = result.to_dict()["limits"]
    assert bounds["confidence"] == 0.95
    assert bounds["spread"]["bound"] == limits.kinds["spread"].bound
