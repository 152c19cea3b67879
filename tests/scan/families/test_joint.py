"""Local differences: waves, scores and kernels against their definitions; names and regions."""

import numpy as np
import pandas as pd
import pytest
from pools import is_x, plan_pool, run_family
from scipy.special import ndtr

import tellapart as ta
from tellapart.data.reader import read_samples
from tellapart.permutation.labels import draw_bins
from tellapart.scan import scan
from tellapart.scan.families.joint import (
    Waves,
    frequencies,
    joined,
    joint_weight,
    kernel_forms,
    wave_scores,
)
from tellapart.scan.scores import score_rows


def blobs(rng, n, *, turned, noise_columns=0):
    """Nine clusters on a grid; within each, two columns are correlated where `turned`."""
    centres = rng.integers(0, 3, size=(n, 2)) * 10.0
    points = rng.normal(size=(n, 2))
    if turned:
        points[:, 1] = 0.9 * points[:, 0] + np.sqrt(1 - 0.9**2) * points[:, 1]
    noise = rng.normal(size=(n, noise_columns))
    return np.hstack([noise, centres + points])


@pytest.fixture(scope="module", params=[(40, 50), (1200, 900)], ids=["rows", "bins"])
def pool_and_plan(request):
    rng = np.random.default_rng(1)
    m, n = request.param
    X, Y = blobs(rng, m, turned=False, noise_columns=1), blobs(rng, n, turned=True, noise_columns=1)
    pool, planned = plan_pool(X, Y, 6)
    return X, Y, pool, planned.plans["joint"], planned


def cosines(F, k):
    return np.sqrt(2) * np.cos(np.pi * k * F)


def test_frequencies_are_as_many_as_the_ball_has():
    assert frequencies(1, 28).shape == (28, 1)
    pairs = frequencies(2, 16)
    assert (np.square(pairs).sum(axis=1) <= 256).all()
    assert len(pairs) == sum(i * i + j * j <= 256 for i in range(1, 17) for j in range(1, 17))


def test_waves_are_means_of_products_of_cosines(pool_and_plan):
    X, Y, pool, plan, _ = pool_and_plan
    waves = plan.waves
    assert [len(one) for one in waves.sets] == [1, 1, 1, 2, 2, 2, 3]
    mean_x, mean_y = pool.means(pool.sums.feature(waves))
    F = ndtr(_normal_scores(pool, X, Y))
    for e in (0, 3):
        label = is_x(pool, e)
        for q in (0, 4, 6):
            columns, every = waves.sets[q], waves.frequencies(len(waves.sets[q]))
            product = np.prod(
                [cosines(F[:, [c]], every[:, i]) for i, c in enumerate(columns)], axis=0
            )
            here = slice(waves.starts[q], waves.starts[q + 1])
            np.testing.assert_allclose(mean_x[e, here], product[label].mean(axis=0), atol=2e-4)
            np.testing.assert_allclose(mean_y[e, here], product[~label].mean(axis=0), atol=2e-4)


def _normal_scores(pool, X, Y):
    return score_rows(pool.tables, np.concatenate([X, Y])).normal


def test_scores_are_cube_roots_of_weighted_squares(pool_and_plan):
    X, Y, pool, plan, _ = pool_and_plan
    scores, bandwidths = wave_scores(pool, plan)
    waves, e, q = plan.waves, 2, 5
    label, F = is_x(pool, e), ndtr(_normal_scores(pool, X, Y))
    a, b = waves.sets[q]
    every = waves.frequencies(2)
    first, second = cosines(F[:, [a]], every[:, 0]), cosines(F[:, [b]], every[:, 1])
    covariance = [
        (first[side] * second[side]).mean(axis=0)
        - first[side].mean(axis=0) * second[side].mean(axis=0)
        for side in (label, ~label)
    ]
    squares = np.square(covariance[0] - covariance[1]) / (1 / len(X) + 1 / len(Y))
    variances = plan.variances[waves.starts[q] : waves.starts[q + 1]]
    expected = []
    for h in waves.bandwidths(2):
        weights = np.exp(-((np.pi * h) ** 2) * np.square(every).sum(axis=1))
        mean, variance = weights @ variances, 2 * weights**2 @ variances**2
        share = variance / (9 * mean**2)
        expected.append(((weights @ squares / mean) ** (1 / 3) - (1 - share)) / np.sqrt(share))
    assert scores[e, q] == pytest.approx(max(expected), abs=0.02)
    assert bandwidths[q] in waves.bandwidths(2)


def test_forms_are_mmd_of_all_columns(pool_and_plan):
    X, Y, pool, plan, _ = pool_and_plan
    forms = kernel_forms(pool, plan)
    points = plan.rows.of(np.concatenate([X, Y])).astype(float)
    squares = np.square(points[:, np.newaxis] - points).sum(axis=2)
    label = is_x(pool, 1)
    w = np.where(label, 1 / label.sum(), -1 / (~label).sum())
    kernel = np.exp(-squares / (2 * plan.bandwidths[0] ** 2))
    if plan.rows.per_bin * pool.labels.n_bins >= len(points):
        assert forms[0][1] == pytest.approx(w @ kernel @ w, rel=1e-3)
    assert len(forms) == 2
    assert min(map(np.min, forms)) >= 0


def test_every_permutation_has_its_statistics(pool_and_plan):
    _, _, pool, _, planned = pool_and_plan
    result = run_family(pool, planned, "joint")
    assert result.statistics.shape == (pool.count, 5)
    assert (result.statistics >= 0).all()
    (candidates,) = result.candidates
    assert candidates.sets[-1] == (0, 1, 2)
    assert candidates.scores.shape == (pool.count, len(candidates.sets))


def test_triples_are_joined_from_pairs():
    parent = np.array([0, 1, 2, 3, 3])
    assert joined([(0, 1), (1, 2), (3, 4)], parent) == [(0, 1, 2)]
    assert joined([(0, 3), (0, 4)], parent) == []


def test_the_family_counts_more_the_fewer_columns_there_are():
    weights = [joint_weight(count) for count in (1, 2, 5, 10, 50)]
    assert weights == sorted(weights, reverse=True)


def test_turned_clusters_among_noise_are_found_named_and_selected():
    rng = np.random.default_rng(5)
    X = blobs(rng, 250, turned=False, noise_columns=12)
    Y = blobs(rng, 250, turned=True, noise_columns=12)
    result = ta.two_sample_test(X, Y, n_permutations=199, random_state=0)
    assert result.reject
    assert [(one.kind, one.variables) for one in result.findings] == [("joint", ("x12", "x13"))]
    assert result.variables == ("x12", "x13")
    assert "pairs" in result.scan.notes["joint"]


@pytest.fixture(scope="module")
def local_finding():
    """The waves of a column are opposite at two sites: it has none over both together."""
    rng = np.random.default_rng(2)
    tables = []
    for amplitude in (0.8, 0.0):
        site = rng.choice(["u", "v"], 3000)
        values = rng.random(3000)
        wave = np.where(site == "u", 1, -1) * amplitude * np.cos(8 * np.pi * values)
        kept = np.flatnonzero(rng.random(3000) < (1 + wave) / 2)[:600]
        tables.append(pd.DataFrame({"a": values[kept], "site": site[kept]}))
    return *tables, ta.two_sample_test(*tables, n_permutations=199, random_state=0)


def test_regions_hold_the_rows_that_they_say(local_finding):
    X, Y, result = local_finding
    (finding,) = (one for one in result.findings if one.kind == "joint")
    assert finding.regions
    for region in finding.regions:
        for table, proportion in zip((X, Y), region.values, strict=True):
            inside = pd.Series(True, index=table.index)
            for name, values in region.ranges.items():
                of_column = table[name]
                inside &= (
                    of_column.eq(values) if isinstance(values, str) else of_column.between(*values)
                )
            assert inside.mean() == pytest.approx(proportion)
        low, high = region.interval
        assert low <= region.values[0] - region.values[1] <= high
    assert finding.values == finding.regions[0].values
    assert finding.to_dict()["regions"][0]["ranges"].keys() == finding.regions[0].ranges.keys()
    assert "of X, " in finding.summary()


@pytest.mark.parametrize(
    "design",
    [
        {"paired": True},
        {"strata": (np.arange(300) % 3, np.arange(300) % 3)},
        {"clusters": (np.arange(300) // 2, 1000 + np.arange(300) // 2)},
    ],
    ids=["paired", "strata", "clusters"],
)
def test_local_differences_show_under_designs(design):
    rng = np.random.default_rng(3)
    X, Y = blobs(rng, 300, turned=False), blobs(rng, 300, turned=True)
    result = ta.two_sample_test(X, Y, n_permutations=99, random_state=0, **design)
    assert result.families["joint"] == pytest.approx(0.01)


def test_missing_values_leave_local_differences():
    rng = np.random.default_rng(4)
    X, Y = blobs(rng, 300, turned=False), blobs(rng, 300, turned=True)
    for table in (X, Y):
        table[rng.random(table.shape) < 0.1] = np.nan
    result = ta.two_sample_test(X, Y, missing="pairwise", n_permutations=99, random_state=0)
    assert result.families["joint"] == pytest.approx(0.01)


def test_waves_of_missing_values_count_nothing():
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    X[:5, 0] = np.nan
    pool, planned = plan_pool_with_gaps(X, Y)
    waves = planned.plans["joint"].waves
    assert isinstance(waves, Waves)
    counts = pool.counts(pool.sums.feature(waves).present)
    here = waves.starts[waves.sets.index((0, 1))]
    assert counts[0][0, here] == 25
    assert counts[1][0, here] == 30


def plan_pool_with_gaps(X, Y):
    samples = read_samples(X, Y, missing="pairwise")
    rng = np.random.default_rng(0)
    return scan.make_pool(samples, draw_bins(30, 30, 5, rng), rng)


@pytest.mark.long
@pytest.mark.parametrize("columns", [1, 2, 4, 12])
def test_the_level_holds(columns):
    rng = np.random.default_rng(columns)
    rejected = 0
    for _ in range(200):
        X, Y = np.exp(rng.normal(size=(2, 40, columns)))
        rejected += ta.two_sample_test(
            X, Y, families="joint", n_permutations=99, random_state=int(rng.integers(2**31))
        ).reject
    assert rejected <= 20
