"""Missing values in a scan: their pattern is compared, and values by the rows that have them."""

import numpy as np
import pytest
from pools import run_family
from scipy import stats

from tellapart.data.reader import read_samples
from tellapart.permutation.labels import draw_bins
from tellapart.scan import scan as scan_module
from tellapart.scan.column_changes import column_changes
from tellapart.scan.pool import each_pair
from tellapart.scan.scan import scan
from tellapart.scan.scores import score_rows


def gappy(seed=0, rows=60, columns=4, share=0.2):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, columns))
    return np.where(rng.random(values.shape) < share, np.nan, values)


def make_pool(x, y, missing="pairwise", n_permutations=20):
    rng = np.random.default_rng(0)
    rows = read_samples(x, y, missing=missing)
    labels = draw_bins(rows.n_x, rows.n_y, n_permutations, rng, rows.n_columns)
    return scan_module.make_pool(rows, labels, rng)


def run(x, y, missing="pairwise", seed=0, n_permutations=199):
    return scan(
        read_samples(x, y, missing=missing),
        n_permutations=n_permutations,
        alpha=0.05,
        rng=np.random.default_rng(seed),
    )


def test_statistics_follow_their_definitions():
    x, y = gappy(0), gappy(1, 50)
    found = run_family(*make_pool(x, y), "missing")
    of_x, of_y = np.isnan(x), np.isnan(y)
    pooled = np.concatenate([of_x, of_y])
    share = pooled.mean(axis=0)
    scaled = (of_x.mean(axis=0) - of_y.mean(axis=0)) ** 2 / (share * (1 - share))
    counts = of_x.sum(axis=1), of_y.sum(axis=1)
    middle = pooled.sum(axis=1).mean()
    uneven = ((counts[0] - middle) ** 2).mean() - ((counts[1] - middle) ** 2).mean()
    changes = np.cov(of_x.T, bias=True) - np.cov(of_y.T, bias=True)
    deviation = np.sqrt(share * (1 - share))
    changes = (changes / np.outer(deviation, deviation))[np.triu_indices(4, 1)]
    expected = [
        scaled.max(),
        scaled.sum(),
        (counts[0].mean() - counts[1].mean()) ** 2,
        uneven**2,
        (changes**2).max(),
    ]
    np.testing.assert_allclose(found.statistics[0], expected, rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("rows", [60, 3000])
def test_means_are_those_of_the_values_that_are_there(rows):
    x, y = gappy(2, rows), gappy(3, rows)
    pool, _ = make_pool(x, y, n_permutations=3)
    scores = pool.sums.of("clipped")
    mean_x, _ = pool.means(scores)
    units = pool.tables.units
    own = np.clip((x / 2 - units.centre / 2) / units.half_spread, -3.5, 3.5)
    np.testing.assert_allclose(
        mean_x[0], np.nanmean((own - units.mean) * units.scale, axis=0), atol=2e-5
    )
    cosine, sine = pool.sums.waves(1, 2 * np.pi / 10.5)
    for wave, function in ((cosine, np.cos), (sine, np.sin)):
        expected = np.nanmean(function(2 * np.pi / 10.5 * (own - units.mean) * units.scale), axis=0)
        np.testing.assert_allclose(pool.means(wave)[0][0], expected, atol=3e-3)


def test_correlations_are_those_of_rows_that_have_both():
    x, y = gappy(4, 80), gappy(5, 70)
    pool, planned = make_pool(x, y, n_permutations=1)
    product = planned.correlations
    first, second = product.columns
    found = {}

    def receive(rows, block, changes):
        for q, value in zip(range(block.start, block.stop), changes[0], strict=True):
            if rows.start == 0:
                found[int(first[q]), int(second[q])] = float(value)

    each_pair(pool, product, receive)
    values = score_rows(pool.tables, np.asfortranarray(np.vstack([x, y])))
    u = np.where(values.present > 0, values.normal, np.nan).astype(float)
    sides = []
    for part in (u[:80], u[80:]):
        a, b = part[:, 0], part[:, 1]
        both = np.nanmean(a * b) - np.nanmean(a) * np.nanmean(b)
        sides.append((both / (np.nanstd(a) * np.nanstd(b)), int(np.isfinite(a * b).sum())))
    (r_x, k_x), (r_y, k_y) = sides
    noise = np.sqrt((1 / 80 + 1 / 70) / (1 / k_x + 1 / k_y))
    assert found[0, 1] == pytest.approx((r_x - r_y) / (1 - r_x * r_y) * noise, abs=1e-4)


def test_without_gaps_nothing_is_asked_for():
    rng = np.random.default_rng(0)
    found = run(rng.normal(size=(40, 3)), rng.normal(size=(40, 3)))
    assert "missing" not in found.families


@pytest.mark.parametrize("missing", ["pairwise", "drop-rows", "drop-columns"])
def test_gaps_in_one_sample_are_named(missing):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(120, 4)), rng.normal(size=(120, 4))
    x[rng.random(120) < 0.4, 1] = np.nan
    found = run(x, y, missing)
    assert found.null.pvalue == 0.005
    (one,) = found.findings
    assert (one.kind, one.variables) == ("missing", ("x1",))
    assert one.values == pytest.approx((np.isnan(x[:, 1]).mean(), 0.0))
    assert one.interval[0] < one.effect < one.interval[1]
    assert "x1: missing" in one.summary()
    assert found.variable_pvalues.get("x1", 0.005) == 0.005


def test_a_column_missing_in_all_of_one_sample_is_a_finding():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(60, 3)), rng.normal(size=(60, 3))
    x[:, 0] = np.nan
    found = run(x, y)
    assert [(f.kind, f.values) for f in found.findings] == [("missing", (1.0, 0.0))]


def test_effects_are_those_of_the_values_that_are_there():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(300, 2)), rng.normal(size=(300, 2))
    x[:, 0] += 1.0
    x[rng.random(300) < 0.6, 0] = np.nan
    one = next(f for f in run(x, y).findings if f.kind == "location")
    assert one.values == pytest.approx((np.nanmean(x[:, 0]), y[:, 0].mean()), abs=0.05)
    assert one.effect == pytest.approx(1.0, abs=0.2)


def test_columns_of_nothing_in_a_sample_do_not_change():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(50, 3)), rng.normal(size=(50, 3))
    x[:, 2] = np.nan
    pool, _ = make_pool(x, y)
    assert np.all(pool.differences("normal")[0, 2] == 0)
    assert np.isfinite(column_changes(pool).largest()[0]).all()


@pytest.mark.parametrize("nulls", [30, pytest.param(150, marks=pytest.mark.long)])
@pytest.mark.parametrize("missing", ["pairwise", "drop-rows"])
def test_the_level_is_kept(missing, nulls):
    rejected = 0
    for seed in range(nulls):
        x, y = gappy(seed, 40, 4), gappy(seed + 1000, 30, 4)
        rejected += run(x, y, missing, seed, 99).null.pvalue <= 0.05
    assert rejected <= stats.binom.isf(1e-4, nulls, 0.05)
