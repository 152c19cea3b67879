"""Weights of rows: what is permuted, what is weighted, and what is refused."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tellapart as ta
from tellapart.data.design_labels import DesignArguments
from tellapart.data.reader import read_samples
from tellapart.effects.columns import Column, column_effects, distribution, weighted_quantiles
from tellapart.effects.estimate import sampling_of
from tellapart.effects.groups import pair_effects
from tellapart.errors import InputError
from tellapart.permutation.design_units import draw_labels
from tellapart.report.methods import write_methods
from tellapart.scan.features import Product, Requests
from tellapart.scan.scores import score_rows
from tellapart.scan.sums import sum_bins
from tellapart.scan.tables import PooledSample, tables_of


def tables(seed: int = 0, n_x: int = 70, n_y: int = 90) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two tables with a column of weights that is related to the first column."""
    rng = np.random.default_rng(seed)
    sides = []
    for n in (n_x, n_y):
        a = rng.normal(size=n)
        side = pd.DataFrame(
            {"a": a, "b": 0.5 * a + rng.normal(size=n), "c": rng.exponential(size=n)}
        )
        side["f"] = rng.choice(["u", "v", "w"], n)
        side["g"] = (rng.random(n) < 0.4).astype(float)
        side["w"] = np.exp(0.5 * a) * rng.uniform(0.5, 2, n)
        sides.append(side)
    return sides[0], sides[1]


X, Y = tables()


@pytest.fixture(scope="module")
def weighted() -> ta.TestResult:
    """The answer with a column of weights, and a shift."""
    shifted = Y.assign(b=Y["b"] + 1.2)
    return ta.two_sample_test(X, shifted, weights="w", n_permutations=199, random_state=0)


def test_equal_weights_are_none() -> None:
    """Any equal weights give the answer without, but for the settings."""
    plain, given = (X.drop(columns="w"), Y.drop(columns="w")), []
    for weights in (None, (np.full(70, 2.5), np.full(90, 2.5))):
        result = ta.two_sample_test(*plain, weights=weights, n_permutations=99, random_state=3)
        found = json.loads(result.to_json())
        del found["seconds"], found["settings"], found["selection"]["seconds"]
        given.append(json.dumps(found))
    assert given[0] == given[1]


def test_scale_does_not_matter() -> None:
    """Weights times a power of two give the same answer, a column as arrays do."""
    asked = {"n_permutations": 99, "random_state": 1, "families": ["location", "shape"]}
    named = ta.two_sample_test(X, Y, weights="w", **asked)
    rest = X.drop(columns="w"), Y.drop(columns="w")
    given = ta.two_sample_test(*rest, weights=(8 * X["w"], 8 * Y["w"].to_numpy()), **asked)
    assert named.statistic == given.statistic
    assert named.null_distribution.tolist() == given.null_distribution.tolist()
    assert "w" not in named.columns_table()["column"].tolist()


def test_numbers_are_those_of_numpy(weighted: ta.TestResult) -> None:
    """Means, SDs, proportions and effective sizes, by formulas of NumPy."""
    sides = X, Y.assign(b=Y["b"] + 1.2)
    table = weighted.columns_table().set_index("column")
    for side, name in zip(sides, ("first", "second"), strict=True):
        w = side["w"].to_numpy()
        for column in ("a", "b", "c"):
            mean = np.average(side[column], weights=w)
            deviation = math.sqrt(float(np.cov(side[column], aweights=w)))
            assert table.loc[column, f"mean_{name}"] == pytest.approx(mean, rel=1e-12)
            assert table.loc[column, f"sd_{name}"] == pytest.approx(deviation, rel=1e-12)
    sizes = [side["w"].sum() ** 2 / np.square(side["w"]).sum() for side in sides]
    assert weighted.effective_sizes == pytest.approx(sizes)
    assert weighted.to_dict()["design"]["effective_sizes"] == pytest.approx(sizes)
    assert f"Effective sample sizes: {sizes[0]:.1f} and {sizes[1]:.1f} (Kish)" in weighted.summary()
    assert "Design: rows permuted with their weights of 'w'." in weighted.summary()
    shares = weighted.column_data.proportions("f")[0]
    expected = X.groupby("f")["w"].sum() / X["w"].sum()
    assert shares == pytest.approx(expected.to_numpy())
    assert (
        f"u {np.count_nonzero(X['f'] == 'u')} ({100 * shares[0]:.1f} %)"
        in table.loc["f", "levels_first"]
    )
    g = weighted.column_data.proportions("g")[1]
    assert g[1] == pytest.approx(np.average(Y["g"], weights=Y["w"]))
    count = int(X["g"].sum())
    one = str(weighted.table_one())
    assert f"{count} ({100 * np.average(X['g'], weights=X['w']):.1f})" in one
    assert [finding.variables for finding in weighted.findings] == [("b",)]


def test_standard_errors_are_linearised(weighted: ta.TestResult) -> None:
    """The error of every mean is that of weighted least squares, √(Σ w²(x − x̄)²/(1 − w)), HC2."""
    sides = X, Y.assign(b=Y["b"] + 1.2)
    table = weighted.columns_table().set_index("column")
    for column in ("a", "b", "c"):
        means, variances = [], []
        for side in sides:
            w = (side["w"] / side["w"].sum()).to_numpy()
            values = side[column].to_numpy()
            means.append(w @ values)
            variances.append(np.sum((w * (values - means[-1])) ** 2 / (1 - w)))
        t = (means[0] - means[1]) / math.sqrt(sum(variances))
        assert table.loc[column, "statistic"] == pytest.approx(t, rel=1e-9)


def sampled() -> tuple[np.ndarray, np.ndarray, object]:
    """Return the values of both samples and how they were drawn."""
    samples = read_samples(X, Y, design=DesignArguments(weights="w"))
    x, y = (side[["a", "b"]].to_numpy() for side in (X, Y))
    return x, y, sampling_of(samples.design)


def test_correlations_and_superiority() -> None:
    """Correlations are those of NumPy, the probability of superiority that of all pairs."""
    x, y, sampling = sampled()
    found = pair_effects(x, y, sampling)["correlation"].values
    for side, table, value in ((x, X, found[0]), (y, Y, found[1])):
        both = np.cov(side.T, aweights=table["w"])
        assert value == pytest.approx(both[0, 1] / math.sqrt(both[0, 0] * both[1, 1]))
    superior = distribution(Column.of(x[:, 0], y[:, 0], sampling))[0]
    pairs = np.sign(x[:, :1] - y[:, 0]) / 2 + 0.5
    weights = np.outer(X["w"], Y["w"])
    assert superior.values[0] == pytest.approx((pairs * weights).sum() / weights.sum())


def test_quantiles() -> None:
    """Integer weights are those of repeated rows."""
    rng = np.random.default_rng(2)
    values, counts = rng.normal(size=30), rng.integers(1, 4, 30)
    repeated = np.repeat(values, counts)
    median = weighted_quantiles(values, counts / counts.sum(), (0.5,))[0]
    assert median == pytest.approx(np.median(repeated))


def test_effect_and_interval_of_equal_rows() -> None:
    """With nearly equal weights effects are nearly those of independent rows."""
    x, y = X["a"].to_numpy(), Y["a"].to_numpy() + 0.5
    rng = np.random.default_rng(3)
    weights = [1 + 1e-9 * rng.random(n) for n in (70, 90)]
    samples = read_samples(x[:, None], y[:, None], design=DesignArguments(weights=weights))
    near = column_effects(x, y, sampling_of(samples.design))
    plain = column_effects(x, y)
    for kind in ("location", "spread"):
        assert near[kind].effect == pytest.approx(plain[kind].effect, rel=1e-6)
    assert near["location"].interval == pytest.approx(plain["location"].interval, abs=0.03)
    welch = stats.ttest_ind(x, y, equal_var=False).pvalue
    assert near["location"].pvalue == pytest.approx(welch, rel=1e-4)


@pytest.mark.parametrize("clustered", [False, True])
def test_sums_over_units_are_weighted(clustered: bool) -> None:
    """Sums of scores, squares and products over units are those of weighted rows."""
    asked = DesignArguments(
        weights="w",
        clusters=(np.arange(70) // 5, 100 + np.arange(90) // 4) if clustered else None,
    )
    numbers = X[["a", "b", "c", "w"]], Y[["a", "b", "c", "w"]]
    samples = read_samples(*numbers, design=asked)
    labels = draw_labels(samples, 19, np.random.default_rng(0))
    pooled = PooledSample.of(samples)
    found = tables_of(samples, pooled)
    product = Product(("normal", "normal"), (np.array([0]), np.array([1])))
    sums = sum_bins(samples, found, labels, Requests.of([product]))
    scores = score_rows(found, np.concatenate([samples.x, samples.y]))
    w = np.concatenate([X["w"], Y["w"]])
    w = w * w.size / w.sum()
    unit = np.concatenate(labels.units.of_rows)
    rows = [
        scores.normal[:, 0],
        scores.clipped[:, 1] ** 2,
        scores.normal[:, 0] * scores.normal[:, 1],
    ]
    given = [
        sums.of("normal").stacked()[:, 0],
        sums.squares("clipped").stacked()[:, 1],
        sums.feature(product).stacked()[:, 0],
    ]
    for own, stacked in zip(rows, given, strict=True):
        assert stacked == pytest.approx(np.bincount(unit, w * own), rel=1e-4, abs=1e-5)
    of_x = labels.counts[0]
    assert of_x[0] == pytest.approx(w[:70].sum(), rel=1e-5)
    assert of_x[7] == pytest.approx(labels.labels[7] @ labels.arranged_units.counts, rel=1e-5)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("v", "weights must be a column of X; got 'v'"),
        (([1.0] * 70, [1.0] * 89), "weights must have one weight for each of the 90 rows of Y"),
        (
            ([1.0] * 69 + [-1.0], [1.0] * 90),
            "finite numbers of at least 0, one for each row; got -1",
        ),
        (([1.0] * 69 + [math.nan], [1.0] * 90), "finite numbers of at least 0"),
        (([1.0] * 69 + ["many"], [1.0] * 90), "finite numbers of at least 0"),
        (([0.0] * 70, [0.0] * 90), "weights must not all be 0"),
        (([0.0] * 69 + [1.0], [1.0] * 90), "at least 2 rows of each sample; got 1 in X"),
        ([1.0, 2.0, 3.0], "weights must be the name of a column of both tables, or a pair"),
        (3, "weights must be the name of a column of both tables, or a pair"),
    ],
)
def test_refused_weights(weights: object, message: str) -> None:
    """What is wrong with weights is said in one line."""
    with pytest.raises(InputError, match=message):
        ta.two_sample_test(X, Y, weights=weights)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"method": "split"}, "weights need method='scan'"),
        ({"kernel": "gaussian"}, "weights need method='scan' with kernel"),
        ({"missing": "pairwise"}, "clusters, adjust or weights; got 'pairwise'"),
    ],
)
def test_what_has_no_weighted_form(asked: dict[str, object], message: str) -> None:
    """Nothing is silently unweighted."""
    with pytest.raises(InputError, match=message):
        ta.two_sample_test(X, Y, weights="w", **asked)


def test_rows_of_weight_0_are_left_out() -> None:
    """They are counted in a warning; 0 and 1 are the test of some rows."""
    weights = np.ones(70), np.ones(90)
    weights[0][:5] = 0
    plain = X.drop(columns="w"), Y.drop(columns="w")
    with pytest.warns(UserWarning, match="5 rows of X and 0 of Y have weight 0"):
        some = ta.two_sample_test(*plain, weights=weights, n_permutations=99, random_state=0)
    same = ta.two_sample_test(plain[0][5:], plain[1], n_permutations=99, random_state=0)
    assert some.statistic == same.statistic
    assert some.n_test == (65, 90)


def test_warns_of_unlike_weights() -> None:
    """Weights that are larger in one sample are named."""
    with pytest.warns(UserWarning, match="the weights differ between X and Y"):
        read_samples(X, Y.assign(w=10 * Y["w"]), design=DesignArguments(weights="w"))


def test_page_and_methods(weighted: ta.TestResult) -> None:
    """Effective sizes and the assumption are in the report."""
    page = weighted.to_html()
    assert "Effective sample sizes" in page
    assert "one mechanism in both samples" in write_methods(weighted)
