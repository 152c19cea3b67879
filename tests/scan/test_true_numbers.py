"""What stands beside the p-value: kinds under error control, raw numbers, possible sizes."""

import math

import numpy as np
import pandas as pd
import pytest

import tellapart as ta


def kinds_of(result):
    return {(finding.kind, finding.variables) for finding in result.findings}


def runs(make, count, **settings):
    """Yield results of so many tables."""
    for seed in range(count):
        X, Y = make(np.random.default_rng(seed))
        yield ta.two_sample_test(
            X, Y, n_permutations=199, n_variables=1, random_state=seed, **settings
        )


def unequal_spreads(rng):
    """Equal means, 20 + 200 rows, SD three times as large in the smaller sample."""
    X, Y = rng.normal(size=(20, 10)), rng.normal(size=(200, 10))
    X[:, :8] *= 3
    return X, Y


def test_no_mean_differs_where_only_spreads_do():
    results = list(runs(unequal_spreads, 25))
    with_means = sum(any(f.kind == "location" for f in r.findings) for r in results)
    assert with_means <= 4  # 15 of 25 by a statistic that is not studentised
    named = [f for r in results for f in r.findings if f.kind == "spread"]
    assert len(named) > 0.8 * 8 * len(results)
    assert all(int(f.variables[0][1:]) < 8 for f in named)


def test_a_shift_of_skewed_columns_is_no_change_of_spread():
    def shifted(rng):
        X, Y = rng.lognormal(size=(300, 5)), rng.lognormal(size=(300, 5))
        X[:, :2] += 1
        return X, Y

    every = [f for r in runs(shifted, 10) for f in r.findings if len(f.variables) == 1]
    assert not any(f.kind == "spread" for f in every)  # 7 of 10 runs by winsorised values
    assert sum(f.kind == "location" for f in every) >= 18


def test_large_shifts_do_not_hide_a_change_of_spread():
    def moved(rng):
        X, Y = rng.normal(size=(200, 5)), rng.normal(size=(200, 5))
        X[:, 0] = 2 * X[:, 0] + 10
        return X, Y

    for result in runs(moved, 5):
        assert {("location", ("x0",)), ("spread", ("x0",))} <= kinds_of(result)


def test_values_are_those_of_pandas_on_the_same_rows():
    """Outliers, gaps, flags and other units: what is printed is what pandas computes."""
    rng = np.random.default_rng(0)
    n, m = 400, 300

    def table(rows, later):
        frame = pd.DataFrame(
            {
                "delay": np.where(
                    rng.random(rows) < 0.05, 600, rng.exponential(5 + 90 * later, rows)
                ),
                "pressure": rng.normal(1013, 8, rows) * (100 if later else 1),
                "flag": (rng.random(rows) < (0.04 + 0.2 * later)).astype(float),
                "mark": rng.random(rows) < (0.3 + 0.3 * later),
                "noise": rng.normal(size=rows),
            }
        )
        frame.loc[rng.random(rows) < 0.1, "delay"] = np.nan
        return frame

    X, Y = table(n, 0), table(m, 1)
    result = ta.two_sample_test(X, Y, missing="pairwise", random_state=0)
    found = {(f.kind, f.variables[0]): f for f in result.findings if len(f.variables) == 1}
    for column in ("delay", "pressure"):
        mean = found["location", column]
        assert mean.values == pytest.approx((X[column].mean(), Y[column].mean()), rel=1e-12)
        assert mean.statistics["SD"] == pytest.approx((X[column].std(), Y[column].std()))
        assert mean.statistics["median"] == pytest.approx((X[column].median(), Y[column].median()))
    assert mean.rows == (n, m)
    assert found["location", "delay"].rows == (X["delay"].count(), Y["delay"].count())
    ratio = found["spread", "pressure"]
    assert ratio.values == pytest.approx((X["pressure"].std(), Y["pressure"].std()), rel=1e-12)
    for column in ("flag", "mark"):
        share = found["share", column]
        assert share.measure == "prevalence"
        assert share.values == pytest.approx((X[column].mean(), Y[column].mean()), rel=1e-12)
    # The page and the JSON of the same result say the same.
    summaries = {summary.name: summary for summary in result.page_data(stability=False).described}
    assert summaries["delay"].x.mean == found["location", "delay"].values[0]


def test_every_size_is_possible():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(150, 8)), rng.normal(size=(120, 8))
    Y[:, 0] = 2.5  # constant in Y
    X[:, 1], Y[:, 1] = 0.0, 1.0  # constants that differ
    X[:, 2] = 1e9 + X[:, 2] * 1e-8  # rounding
    Y[:, 2] = 1e9
    X[:, 4] = X[:, 3] + 1e-9 * X[:, 4]
    result = ta.two_sample_test(X, Y, random_state=0)
    assert result.reject
    for finding in result.findings:
        assert "nan" not in finding.summary()
        if finding.kind == "correlation":
            assert all(-1 <= value <= 1 for value in finding.values)
        if finding.kind == "share":
            assert all(0 <= value <= 1 for value in finding.values)
        low, high = finding.interval
        if math.isfinite(finding.effect) and math.isfinite(low):
            assert low <= finding.effect <= high
    constant = next(f for f in result.findings if (f.kind, f.variables) == ("spread", ("x0",)))
    assert "constant in Y" in constant.summary()


def test_intervals_of_findings_agree_with_their_p_values():
    rng = np.random.default_rng(2)
    X, Y = rng.gamma(2, size=(200, 12)), rng.gamma(2, size=(150, 12))
    X[:, :4] += rng.uniform(0.2, 0.6, 4)
    X[:, 4:8] *= 1.4
    X[rng.random(200) < 0.15, 8] = 0.0
    result = ta.two_sample_test(X, Y, random_state=0)
    assert len(result.findings) >= 5
    for finding in result.findings:
        low, high = finding.interval
        null = finding.scale.neutral
        assert not low <= null <= high
        inner, outer = finding.interval, finding.simultaneous
        assert outer[0] <= inner[0]
        assert outer[1] >= inner[1]


def test_simultaneous_intervals_hold_after_selection():
    """Weak shifts in 30 columns: of those that are named the plain interval is too optimistic."""
    covered = []
    for result in runs(
        lambda rng: (rng.normal(size=(40, 30)) + 0.4, rng.normal(size=(40, 30))), 12
    ):
        covered += [
            (f.interval[0] <= 0.4 <= f.interval[1], f.simultaneous[0] <= 0.4 <= f.simultaneous[1])
            for f in result.findings
            if f.kind == "location"
        ]
    plain, simultaneous = np.mean(covered, axis=0)
    assert len(covered) >= 8
    assert plain < simultaneous
    assert simultaneous >= 0.95


def test_a_mean_that_differs_is_mentioned_first():
    """Genes that are higher and of another spread: people say higher."""
    rng = np.random.default_rng(3)
    X, Y = (
        rng.poisson(1, size=(100, 20)).astype(float),
        rng.poisson(1, size=(120, 20)).astype(float),
    )
    X[:, :3] = rng.poisson(9, size=(100, 3))
    result = ta.two_sample_test(X, Y, random_state=0)
    for name in ("x0", "x1", "x2"):
        assert result.selection.changes[name].kind == "location"
