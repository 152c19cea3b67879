"""The populations of the benchmark of truth are what they say, and findings are judged by them."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bench_truth
import store
import truth_tables
from bench_truth import holm, judge_findings, judge_usual, one_run, run, usual_names, verdict
from truth_tables import Category, ColumnTruth, Numbers, flag, l_ratios, normal, simple

SETTINGS = truth_tables.settings()
LARGE = 40


def patients(rows=400):
    rng = np.random.default_rng(3)
    severity = rng.normal(size=rows)
    table = {
        name: np.exp(0.3 * (severity + rng.normal(size=rows))) + k
        for k, name in enumerate(truth_tables.NUMBERS)
    }
    table |= {
        name: (severity + rng.normal(size=rows) > 1).astype(int) for name in truth_tables.FLAGS
    }
    table |= {name: rng.choice(list("uvw"), rows) for name in truth_tables.CATEGORIES}
    return pd.DataFrame(table)


def named(name):
    (setting,) = (one for one in SETTINGS if name in one.name)
    return setting


def finding(kind, variables, effect=0.0, interval=(-1.0, 1.0), values=(0.0, 0.0), measure=""):
    return SimpleNamespace(**{**locals(), "pvalue": 0.01})


def marks_of(setting, findings, x, y):
    marks = {}
    for kind, what, value in judge_findings(setting, findings, x, y):
        marks.setdefault((kind, what), []).append(value)
    return marks


@pytest.mark.parametrize(
    ("population", "frozen"),
    [
        (simple("lognormal", 1.0, 2.0), stats.lognorm(1.0, 1.0, 2.0)),
        (simple("exponential", -1.0, 1.6), stats.expon(-1.0, 1.6)),
        (normal(101_300, 800), stats.norm(101_300, 800)),
    ],
)
def test_moments_are_those_of_the_distribution(population, frozen):
    mean, variance, skewness, kurtosis = (float(value) for value in frozen.stats("mvsk"))
    own = [population.mean, population.sd**2, population.central(3), population.central(4)]
    wanted = [mean, variance, skewness * variance**1.5, (kurtosis + 3) * variance**2]
    np.testing.assert_allclose(own, wanted, rtol=1e-9, atol=1e-6)


def test_mixtures_and_points():
    mixture = Numbers(((0.98, "normal", 0.0, 1.0), (0.02, None, -9999.0, 0.0)))
    assert mixture.mean == pytest.approx(-199.98)
    assert mixture.sd**2 == pytest.approx(0.98 + 0.98 * 0.02 * 9999**2)
    truth = ColumnTruth.of(normal(), mixture)
    assert truth.new == (0.0, 0.02)
    assert all(truth.holds(kind) for kind in ("location", "spread", "shape", "new values"))
    changed = ColumnTruth.of(flag(0.3), flag(0.55))
    assert changed.form == "flag"
    assert changed.is_power("share")
    assert not changed.is_power("location")
    assert np.isnan(ColumnTruth.of(simple("t3"), simple("t3")).kurtosis).all()


def test_l_ratios_are_those_of_the_books():
    assert l_ratios(np.array([8.0, 2.0, 4.0, 1.0])) == pytest.approx((9 / 23, 3 / 23), rel=1e-12)
    assert normal(3, 2).l_ratios() == pytest.approx((0.0, 0.1226), abs=2e-4)
    assert simple("exponential", 5, 2).l_ratios() == pytest.approx((1 / 3, 1 / 6), abs=2e-4)
    assert simple("lognormal").l_ratios() == pytest.approx((0.4625, 0.2938), abs=1e-3)


def test_kinds_hold_where_their_feature_differs():
    shifted = ColumnTruth.of(simple("lognormal", 1.0), simple("lognormal"))
    assert [shifted.holds(kind) for kind in ("location", "spread", "shape")] == [True, False, False]
    scaled = ColumnTruth.of(simple("exponential", 0, 1.6), simple("exponential"))
    assert [scaled.holds(kind) for kind in ("location", "spread", "shape")] == [True, True, False]
    skewed = ColumnTruth.of(simple("exponential", -1), normal())
    assert [skewed.holds(kind) for kind in ("location", "spread", "shape")] == [False, False, True]
    assert skewed.holds("distribution")
    level = ColumnTruth.of(Category({"a": 1.0}), Category({"a": 0.9, "b": 0.1}))
    assert level.new == (0.0, pytest.approx(0.1))
    assert level.holds("share")
    assert level.holds("new values")
    assert level.holds("location") is False


@pytest.mark.parametrize(
    "setting", [*SETTINGS, *truth_tables.real_rows(patients())], ids=lambda setting: setting.name
)
def test_tables_are_drawn_from_the_populations(setting):
    rng = np.random.default_rng(7)
    drawn = [setting.draw(rng) for _ in range(LARGE)]
    units = 8 * LARGE if "clusters" in setting.options else None
    confounded = ["c0", "c1", "c2", "c3"] if "strata" in setting.options else []
    for side in (0, 1):
        sample = pd.concat([tables[side] for tables in drawn], ignore_index=True)
        assert list(sample) == list(setting.columns)
        for name, truth in setting.columns.items():
            own = sample[name]
            rows = units or len(own)
            assert own.isna().mean() == pytest.approx(
                truth.missing[side], abs=5 * np.sqrt(0.25 / rows)
            )
            if truth.form == "category":
                shares = own.value_counts(normalize=True)
                for level, pair in truth.shares.items():
                    assert shares.get(level, 0.0) == pytest.approx(
                        pair[side], abs=4 / np.sqrt(rows)
                    )
                continue
            if name in confounded:
                continue
            mean, sd = truth.mean[side], truth.sd[side]
            assert own.astype(float).mean() == pytest.approx(mean, abs=5 * sd / np.sqrt(rows))
            kurtosis = truth.kurtosis[side]
            error = np.sqrt(max(kurtosis - 1, 0.1) / rows) / 2 if np.isfinite(kurtosis) else 0.3
            assert own.astype(float).std() == pytest.approx(sd, rel=6 * error)
        names = [name for name in setting.numeric if name not in confounded]
        places = [setting.numeric.index(name) for name in names]
        own = sample[names].astype(float).corr().to_numpy()
        wanted = setting.correlation[side][np.ix_(places, places)]
        np.testing.assert_allclose(own, wanted, atol=8 / np.sqrt(units or len(sample)))


def test_there_are_enough_settings_and_every_kind_is_true_and_false_somewhere():
    assert len(SETTINGS) >= 14
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)
    for kind in bench_truth.KINDS:
        assert any(bench_truth.can_be_false(setting, kind) for setting in SETTINGS), kind
        if kind != "distribution":
            assert any(bench_truth.opportunities(setting, kind) for setting in SETTINGS), kind


def test_findings_are_judged():
    setting = named("Behrens")
    x, y = setting.draw(np.random.default_rng(0))
    first, second = x["c0"].std(), y["c0"].std()
    findings = [
        finding("location", ("c0",), 0.5, (0.1, 0.9), (x["c0"].mean(), y["c0"].mean()), "mean"),
        finding("spread", ("c0",), first / second, (2.0, 4.0), (first, second), "SD"),
        finding("spread", ("c9",), 1.4, (1.1, 1.6), (0.0, 0.0), "SD"),
    ]
    marks = marks_of(setting, findings, x, y)
    assert marks["location", "false"] == marks["spread", "false"] == marks["any", "false"] == [1.0]
    assert marks["correlation", "false"] == marks["distribution", "false"] == [0.0]
    assert marks["location", "raw"] == [1.0]
    assert marks["spread", "raw"] == [1.0, 0.0]
    assert marks["spread", "coverage named"] == [1.0, 0.0]
    assert marks["location", "coverage named"] == [0.0]
    assert marks["spread", "bias named"] == pytest.approx([np.log(first / second / 3), np.log(1.4)])
    assert np.mean(marks["spread", "power"]) == 1 / 8
    assert ("location", "power") not in marks


def test_the_smd_is_in_units_of_the_pooled_deviation():
    setting = named("shift 5 SD")
    x, y = setting.draw(np.random.default_rng(0))
    effect = bench_truth.column_effect(setting, "location", "c2", x["c2"], y["c2"])
    assert effect == pytest.approx(5 / np.sqrt(2.5))


def test_levels_and_values_of_proportions():
    setting = named("categories")
    x, y = setting.draw(np.random.default_rng(0))
    values = tuple(float((table["k0"] == "a").mean()) for table in (x, y))
    for measure in ("share of 'a'", "proportion of 'a'", "proportion of a"):
        one = finding("share", ("k0",), values[0] - values[1], (0.1, 0.3), values, measure)
        marks = marks_of(setting, [one], x, y)
        assert marks["share", "raw"] == [1.0]
        assert marks["share", "coverage named"] == [1.0]
        assert marks["share", "bias named"] == pytest.approx([values[0] - values[1] - 0.2])
    setting = named("flags")
    x, y = setting.draw(np.random.default_rng(0))
    values = tuple(float(table["bool changed 0"].mean()) for table in (x, y))
    one = finding("share", ("bool changed 0",), -0.25, (-0.3, -0.2), values, "prevalence")
    marks = marks_of(setting, [one], x, y)
    assert marks["share", "raw"] == marks["share", "coverage named"] == [1.0]


def test_dependence_is_false_where_columns_are_independent():
    sparse, folded = named("sparse"), named("without correlation")
    assert sparse.holds("dependence", ("c0", "c1")) is False
    assert sparse.holds("correlation", ("c0", "c1")) is False
    assert folded.holds("dependence", ("c1", "c0")) is True
    assert folded.holds("correlation", ("c0", "c1")) is False
    assert folded.power_pairs("dependence") == [("c0", "c1"), ("c2", "c3")]
    assert folded.holds("triple", ("c5", "c6", "c7")) is False
    assert len(named("correlations 0").power_pairs("correlation")) == 6


def test_measures_that_pandas_does_not_have_are_not_compared():
    setting = named("lognormal, shift")
    x, y = setting.draw(np.random.default_rng(0))
    one = finding("distribution", ("c0",), values=(0.2, 0.4), measure="proportion up to 1.5")
    assert ("distribution", "raw") not in marks_of(setting, [one], x, y)


def test_correlations_of_levels_are_judged_where_they_can_be():
    setting = named("categories")
    assert setting.holds("correlation", ("k0", "c0")) is False
    x, y = setting.draw(np.random.default_rng(0))
    marks = marks_of(setting, [finding("correlation", ("k0", "c0"))], x, y)
    assert marks["correlation", "false"] == [1.0]
    assert ("correlation", "raw") not in marks
    _, planted = truth_tables.real_rows(patients())
    assert planted.holds("correlation", ("race", "hematocrit")) is None
    assert planted.holds("dependence", ("race", "sodium")) is False


def test_holm_and_usual_tests():
    np.testing.assert_allclose(
        holm(np.array([0.01, np.nan, 0.04, 0.03])), [0.04, 1.0, 0.09, 0.09], rtol=1e-12
    )
    setting = named("shift 5 SD")
    x, y = setting.draw(np.random.default_rng(1))
    usual = usual_names(setting, x, y)
    assert {"c0", "c1", "c2", "c3"} <= usual["location"]
    assert {"c2", "c4"} <= usual["spread"]
    marks = {(kind, what) for kind, what, _ in judge_usual(setting, usual)}
    assert ("location", "usual false") in marks
    for design in ("clusters", "pairs", "strata"):
        setting = named(design + ":")
        x, y = setting.draw(np.random.default_rng(1))
        assert set(usual_names(setting, x, y)) == {"location"}


def test_the_verdict_allows_for_the_error_of_the_runs():
    assert verdict({"false": [0.0] * 95 + [1.0] * 5}) == "holds"
    assert verdict({"false": [0.0] * 93 + [1.0] * 7}) == "false?"
    assert verdict({"false": [0.0] * 50 + [1.0] * 50, "raw": [1.0, 0.0]}) == "false, raw"
    low = [1.0] * 80 + [0.0] * 20
    assert verdict({"coverage named": low}) == "coverage named"
    assert verdict({"coverage named": low, "coverage all": [1.0]}) == "holds"


def test_effects_without_selection(monkeypatch):
    def column_effects(x, y):
        difference = x.mean() - y.mean()
        limits = (difference - 0.1, difference + 0.1)
        return {"location": SimpleNamespace(effect=difference, limits=lambda level: limits)}

    module = SimpleNamespace(column_effects=column_effects)
    monkeypatch.setattr(bench_truth, "_effects", lambda: module)
    x, y = np.array([1.0, 2.0]), np.array([0.0, 1.0])
    effect, (low, high) = bench_truth.effect_without_selection(x, y, "location")
    assert (effect, low, high) == pytest.approx((1.0, 0.9, 1.1))
    assert bench_truth.effect_without_selection(x, y, "spread") is None
    assert bench_truth.effect_without_selection(x[:, None], y[:, None], "correlation") is None
    monkeypatch.setattr(bench_truth, "_effects", lambda: None)
    assert bench_truth.effect_without_selection(x, y, "location") is None


def test_a_run_is_stored_and_goes_on_where_it_ended(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(store, "RESULTS", tmp_path)
    monkeypatch.setattr(bench_truth, "RESULTS", tmp_path)
    settings = [named("8 + 8 rows"), named("10 + 10 rows")]
    rows = run(settings, ["--only", "^8", "--runs", "2"])
    assert {row["kind"] for row in rows} >= {"location", "spread", "any"}
    assert "1 settings are not measured yet" in (tmp_path / "truth.md").read_text(encoding="utf-8")
    assert run(settings, ["--only", "^8", "--runs", "2", "--resume"]) == []
    kept = (tmp_path / "truth.csv").read_text(encoding="utf-8")
    run(settings, ["--only", "^10", "--quick"])
    assert (tmp_path / "truth.csv").read_text(encoding="utf-8") == kept
    assert "2 runs" in capsys.readouterr().out
    assert sorted(one_run(settings[0], 1)[0]) == sorted(one_run(settings[0], 1)[0])
    with pytest.raises(SystemExit):
        run(settings, ["--only", "nothing"])
