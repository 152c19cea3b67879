"""Comparisons adjusted for covariates."""

import numpy as np
import pandas as pd
import pytest
from scipy import special

import tellapart as ta
from tellapart.data.adjustment import fit_adjustment, strata_of
from tellapart.data.design import Design, ExchangeableUnits
from tellapart.effects.estimate import sampling_of
from tellapart.errors import InputError
from tellapart.permutation.conditional import ConditionalScheme
from tellapart.permutation.design_units import draw_design_units

NAMES = list("abc")


def confounded(seed, *, n=300, shift=0.0, curve=False):
    """Return a table whose covariates age and bmi decide both the label and the columns."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=(n, 2))
    lean = w[:, 0] ** 2 - 1 if curve else w[:, 0]
    label = rng.random(n) < special.expit(1.2 * lean - 0.5 * w[:, 1])
    values = lean[:, np.newaxis] * [1.0, -1.0, 0.5] + rng.normal(size=(n, 3))
    values[label, 0] += shift
    table = pd.DataFrame(values, columns=NAMES)
    table["age"], table["bmi"] = 50 + 10 * w[:, 0], 25 + 3 * w[:, 1]
    table["sex"] = rng.choice(["f", "m"], n)
    return table, label


def adjusted(x, y, **options):
    return ta.two_sample_test(x, y, random_state=0, n_permutations=199, **options)


@pytest.fixture(scope="module")
def shifted():
    table, label = confounded(1, shift=1.0)
    table = table.drop(columns="sex")
    return table, label, adjusted(table[label], table[~label], adjust=["age", "bmi"])


@pytest.mark.parametrize("curve", [False, True])
def test_confounding_alone_is_no_difference(curve):
    table, label = confounded(0, curve=curve)
    x, y = table[label].drop(columns="sex"), table[~label].drop(columns="sex")
    assert not adjusted(x, y, adjust=["age", "bmi"]).reject
    assert adjusted(x[NAMES], y[NAMES]).reject


def test_a_shift_beyond_the_covariates_is_named_with_its_adjusted_size(shifted):
    table, label, result = shifted
    (finding,) = result.findings
    assert (finding.kind, finding.variables) == ("location", ("a",))
    # Linear regression on the same covariates, by least squares.
    terms = np.column_stack([label, np.ones(label.size), table[["age", "bmi"]]]).astype(float)
    slope = np.linalg.lstsq(terms, table["a"], rcond=None)[0][0]
    assert finding.values[0] - finding.values[1] == pytest.approx(slope, abs=0.15)
    raw = table["a"][label].mean(), table["a"][~label].mean()
    assert finding.statistics["mean"] == pytest.approx(raw)
    assert "unadjusted SMD" in finding.summary()
    assert "mean, adjusted" in finding.summary()


def test_the_result_says_what_is_assumed(shifted):
    _, _, result = shifted
    text = result.summary()
    assert "'age' and 'bmi'" in text
    assert "asymptotic" in text
    record = result.to_dict()["design"]["adjustment"]
    assert record["covariates"] == ["age", "bmi"]
    assert all(10 < size <= 300 for size in record["effective_sizes"])
    assert 0.5 < record["separation"] < 1
    assert "Adjusted for" in result.to_html()
    assert result.plot("propensity").get_xlabel().startswith("propensity")
    assert "age" not in result.selection.names


def test_tables_of_covariates_are_as_good_as_columns(shifted):
    table, label, result = shifted
    covariates = table[["age", "bmi"]]
    x, y = table[NAMES][label], table[NAMES][~label]
    as_tables = adjusted(x, y, adjust=(covariates[label], covariates[~label]))
    as_arrays = adjusted(x, y, adjust=(covariates[label].to_numpy(), covariates[~label].to_numpy()))
    assert as_tables.pvalue == as_arrays.pvalue == result.pvalue


def test_discrete_covariates_are_exact_strata():
    table, label = confounded(2)
    table["sex"] = np.where(label, table["sex"], "f")
    table.loc[::7, "sex"] = "m"
    table = table.drop(columns=["age", "bmi"])
    result = adjusted(table[label], table[~label], adjust="sex")
    same = adjusted(table[label], table[~label], strata="sex")
    assert result.pvalue == same.pvalue
    assert result.held_out.design.adjustment is None
    assert result.held_out.design.strata == "sex"


def test_strata_and_clusters_go_with_covariates():
    table, label = confounded(3, shift=1.2)
    table = table.drop(columns="sex")
    table["unit"] = np.where(label, 0, 1000) + np.arange(len(table)) // 2
    table["site"] = np.arange(len(table)) % 2
    x, y = table[label], table[~label]
    by_site = adjusted(x.drop(columns="unit"), y.drop(columns="unit"), adjust="age", strata="site")
    by_unit = adjusted(
        x.drop(columns="site"), y.drop(columns="site"), adjust="age", clusters="unit"
    )
    assert by_site.held_out.design.n_blocks == 2
    assert "clusters" in by_unit.held_out.design.describe()
    assert by_site.reject
    assert by_unit.reject


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adjust": "weight"}, "adjust must name columns of X; got 'weight'"),
        ({"adjust": 3}, "adjust must be the names of columns of both tables"),
        ({"adjust": ["age", "age"]}, "each once"),
        ({"adjust": "age", "paired": True}, "adjust and paired do not go together"),
        ({"adjust": "age", "method": "split"}, "adjust must be left out with method='split'"),
        ({"adjust": "age", "strata": "age"}, "adjust must name other columns than strata='age'"),
        ({"adjust": (np.ones((5, 1)), np.ones((5, 1)))}, "adjust must have covariates for each"),
    ],
)  # fmt: skip
def test_what_cannot_be_adjusted_for_is_one_clear_error(options, message):
    table, label = confounded(4)
    with pytest.raises(InputError, match=message):
        adjusted(table[label], table[~label], **options)


def test_no_overlap_is_refused_and_missing_covariates_are_counted():
    table, label = confounded(5)
    table["age"] = np.where(label, 80.0, 20.0) + np.arange(len(table)) % 5
    with pytest.raises(InputError, match="in which the samples overlap"):
        adjusted(table[label], table[~label], adjust="age")
    table, label = confounded(5)
    table.loc[:9, "age"] = np.nan
    with pytest.raises(InputError, match="covariates and the labels"):
        adjusted(table[label], table[~label], adjust="age")
    left = adjusted(table[label], table[~label], adjust="age", missing="drop-rows")
    assert sum(left.n_test) == len(table) - 10


def test_sweeps_draw_labels_with_the_odds_of_the_model():
    # Two units of x among four: the six labellings have probabilities ∝ exp(sum of logits).
    logits = np.array([0.0, 1.0, -0.5, 0.3])
    units = ExchangeableUnits(np.array([1, 1, 0, 0], bool), np.zeros(4, int), np.arange(4))
    drawn = ConditionalScheme(logits).draw(units, 6_000, np.random.default_rng(0))
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    expected = np.exp([logits[i] + logits[j] for i, j in pairs])
    found = np.array([np.mean((drawn[:, i] == 1) & (drawn[:, j] == 1)) for i, j in pairs])
    assert drawn.sum(axis=1).tolist() == [2] * 6_000
    assert np.abs(found - expected / expected.sum()).max() < 0.03


def test_sums_are_centred_under_the_permutations_and_weights_balance():
    table, label = confounded(6, n=200)
    w = table[["age", "bmi"]].to_numpy()
    blocks = np.zeros(label.sum(), int), np.zeros((~label).sum(), int)
    fitted = fit_adjustment(
        (w[label], w[~label]), ("age", "bmi"), ("numeric", "numeric"), blocks, ("X", "Y")
    )
    rows = np.arange(label.sum()), np.arange((~label).sum())
    design = Design(blocks, rows, adjustment=fitted)
    units = draw_design_units(design, 2_000, np.random.default_rng(0))
    features = np.concatenate([w[label], w[~label]])
    noise = np.random.default_rng(1).normal(size=(200, 1)) + features[:, :1] / 10
    sums = units.units.centre(np.column_stack([features, noise]))
    # What the covariates explain is gone; the mean over permutations of what is left is 0.
    assert np.ptp(sums[:, :2], axis=0).max() < 1e-6 * np.abs(features).max()
    order = units.order
    changes = units.units.arranged(order).weights(units.labels) @ sums[order, 2]
    deviation = np.sqrt(np.square(units.units.spread_out(sums[:, 2:])).sum())
    assert abs(changes.mean()) < 4 * deviation / np.sqrt(2_000)
    assert changes.std() == pytest.approx(deviation, rel=0.15)
    # Weights for unadjusted sums give the same as weights of adjusted ones.
    weights = units.units.centred_weights(units.labels[:3])
    whole = units.units.weights(units.labels[:3]) @ units.units.residuals(noise)
    assert weights @ noise == pytest.approx(whole, abs=1e-9)
    x, y = sampling_of(design).row_weights
    balance = x @ fitted.basis[0] - y @ fitted.basis[1]
    assert np.abs(balance).max() < 0.05
    assert (x.sum(), y.sum()) == pytest.approx((1, 1))


def test_comparisons_of_groups_are_adjusted_alike():
    table, label = confounded(7, n=240, shift=1.5)
    table = table.drop(columns=["sex", "bmi"]).assign(arm=np.where(label, "case", "other"))
    result = ta.compare_groups(
        table, "arm", adjust="age", mode="pairwise", random_state=0, n_permutations=99
    )
    (comparison,) = result.comparisons
    assert comparison.reject
    assert "mean, adjusted" in comparison.result.findings[0].summary()
    with pytest.raises(InputError, match="adjust must name other columns than by='arm'"):
        ta.compare_groups(table, "arm", adjust="arm")


def test_many_cells_of_discrete_covariates_are_no_strata():
    rng = np.random.default_rng(0)
    few, many = rng.integers(0, 3, (200, 1)), rng.integers(0, 10, (200, 3))
    assert strata_of(few.astype(float), few.astype(float)) is not None
    assert strata_of(many.astype(float), many.astype(float)) is None


@pytest.mark.long
@pytest.mark.parametrize("curve", [False, True])
def test_level_under_confounding(curve):
    rejected = 0
    for seed in range(200):
        table, label = confounded(1_000 + seed, curve=curve)
        table = table.drop(columns="sex")
        rejected += adjusted(table[label], table[~label], adjust=["age", "bmi"]).reject
    # 200 tables at 5 %: 17 or fewer with probability .98.
    assert rejected <= 17
