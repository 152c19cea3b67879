"""The scan under a design: its level, what it sees, and how large it says it is."""

import numpy as np
import pytest
from scipy import stats

from designs import NULLS, RATIOS, UNBALANCED, unbalanced
from tellapart.data.design_labels import DesignArguments
from tellapart.data.reader import read_samples
from tellapart.permutation.design import permute_units
from tellapart.scan.scan import scan


def run(x, y, asked, n_permutations=99, seed=0):
    samples = read_samples(x, y, design=DesignArguments(**asked))
    rng = np.random.default_rng(seed)
    return scan(samples, n_permutations=n_permutations, alpha=0.05, rng=rng)


def assert_level(draw, nulls, seed, error, levels=(0.05,)):
    """Assert that no more of the nulls are rejected than a valid test does but for this error."""
    pvalues = []
    for i in range(nulls):
        x, y, asked = draw(np.random.default_rng([seed, i]))
        pvalues.append(run(x, y, asked, 39, i).null.pvalue)
    for level in levels:
        rejected = int(np.sum(np.array(pvalues) <= level))
        assert rejected <= stats.binom.isf(error, nulls, level)


@pytest.mark.parametrize("name", NULLS)
def test_no_design_alarms_more_often_than_its_level(name):
    assert_level(NULLS[name], 30, 21, 1e-6, (0.05, 0.2, 0.5))


@pytest.mark.parametrize(
    ("nulls", "error"), [(3, 2e-4), pytest.param(6, 1e-6, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("design", UNBALANCED)
def test_units_of_the_smaller_sample_may_be_few_among_many(design, nulls, error):
    """505 units against 15,150, which are permuted in bins: p-values are not small together."""
    pvalues = []
    for i in range(nulls):
        x, y, asked = unbalanced(design, 15_655, 30)(np.random.default_rng([22, i]))
        pvalues.append(run(x, y, asked, 99, i).null.pvalue)
    assert stats.combine_pvalues(pvalues, method="fisher").pvalue > error


@pytest.mark.long
@pytest.mark.parametrize("name", NULLS)
def test_level_of_1000_nulls_of_each_design(name):
    assert_level(NULLS[name], 1_000, 23, 1e-4, (0.05, 0.2, 0.5))


@pytest.mark.long
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("design", UNBALANCED)
def test_level_at_unbalanced_ratios(design, ratio):
    """100 units, 1,000 nulls; and as many as are permuted in bins, 100 nulls."""
    assert_level(unbalanced(design, 100, ratio), 1_000, 24, 1e-4)
    assert_level(unbalanced(design, 510 * (1 + ratio), ratio), 100, 25, 1e-4)


def _unbalanced(name, rng):
    """Return 600 units of X and 12,000 of Y, and how they were sampled."""
    if name == "strata":
        site = [rng.integers(0, 4, n) for n in (600, 12_000)]
        level = rng.normal(size=(4, 3))
        x, y = (level[of] + rng.normal(size=(of.size, 3)) for of in site)
        return x, y, {"strata": tuple(site)}
    if name == "clusters":
        of = [np.repeat(np.arange(n), rng.integers(1, 4, n)) for n in (600, 12_000)]
        x, y = (rng.normal(size=(u[-1] + 1, 3))[u] + rng.normal(size=(u.size, 3)) for u in of)
        return x, y, {"clusters": (of[0], of[1] + 600)}
    people, key = rng.normal(size=(600, 3)), (np.arange(600), np.repeat(np.arange(600), 20))
    x, y = (people[of] + rng.normal(size=(of.size, 3)) for of in key)
    return x, y, {"strata": key}


@pytest.mark.parametrize("name", ["strata", "clusters", "matched sets"])
def test_many_units_of_unbalanced_designs_keep_the_level(name):
    """Bins of unequal numbers of units are not exchangeable: three of three were rejected."""
    found = [run(*_unbalanced(name, np.random.default_rng(i)), 39, i) for i in range(3)]
    assert sum(one.null.pvalue <= 0.05 for one in found) <= 1


def test_strata_with_kept_labels_still_find_a_shift():
    x, y, asked = _unbalanced("strata", np.random.default_rng(0))
    x[:, 1] += 0.25
    found = run(x, y, asked, 99)
    assert found.null.pvalue == 0.01
    finding = found.findings[0]
    assert finding.variables == ("x1",)
    low, high = finding.interval
    assert low < finding.effect < high
    assert 0.1 < low < high < 0.35


def test_few_pairs_are_all_swapped():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, 2))
    found = run(x, x + [1.0, 0.0] + 0.01 * rng.normal(size=(6, 2)), {"paired": True})
    assert found.null.exact
    assert found.null.n_permutations == 64
    assert found.null.pvalue == 2 / 64


def test_a_tiny_shift_of_closely_agreeing_pairs_is_found_among_noisy_columns():
    rng = np.random.default_rng(3)
    people = rng.normal(size=(50, 8))
    noise = np.array([0.05] + [1.0] * 7)
    x, y = (people + noise * rng.normal(size=people.shape) for _ in range(2))
    y[:, 0] += 0.07
    found = run(x, y, {"paired": True}, 199)
    assert found.null.pvalue == 1 / 200
    assert [f.variables for f in found.findings] == [("x0",)]
    low, high = found.findings[0].interval
    assert low < found.findings[0].effect < high < 0


def test_strata_neither_hide_nor_fake_a_shift():
    """Sites differ the other way round: the raw means of column 0 are as good as equal."""
    rng = np.random.default_rng(5)
    site_x, site_y = np.repeat([0, 1], [60, 20]), np.repeat([0, 1], [20, 60])
    level = np.array([[0.0, 0.0], [2.0, 3.0]])
    x = level[site_x] + rng.normal(size=(80, 2)) + [1.0, 0.0]
    y = level[site_y] + rng.normal(size=(80, 2))
    assert abs(x[:, 0].mean() - y[:, 0].mean()) < 0.2
    found = run(x, y, {"strata": (site_x, site_y)}, 199)
    assert [f.variables for f in found.findings] == [("x0",)]
    finding = found.findings[0]
    # The shift within sites is 1, about 0.75 of the pooled spread of the column.
    first, second = finding.values
    assert first - second == pytest.approx(1.0, abs=0.35)
    low, high = finding.interval
    assert 0 < low < finding.effect < high
    ignored = run(x, y, {}, 199)
    assert ("x1",) in [f.variables for f in ignored.findings]


def test_dependence_within_pairs_is_seen():
    rng = np.random.default_rng(8)
    people = rng.normal(size=(150, 3))
    x, y = (people + rng.normal(size=people.shape) for _ in range(2))
    joint = rng.normal(size=150)
    y[:, 0], y[:, 1] = people[:, 0] + joint, people[:, 1] + joint
    found = run(x, y, {"paired": True}, 199)
    assert ("x0", "x1") in [f.variables for f in found.findings]


def test_bins_of_pairs_find_what_pairs_find():
    rng = np.random.default_rng(2)
    people = 3 * rng.normal(size=(2_000, 3))
    x, y = (people + 0.2 * rng.normal(size=people.shape) for _ in range(2))
    y[:, 2] += 0.04
    found = run(x, y, {"paired": True})
    assert found.rows_per_bin == 8
    assert [f.variables for f in found.findings] == [("x2",)]


def test_more_columns_than_units():
    rng = np.random.default_rng(4)
    people = rng.normal(size=(20, 60))
    x, y = (people + 0.3 * rng.normal(size=people.shape) for _ in range(2))
    assert run(x, y + 0.15, {"paired": True}).families["location"] == 0.01


def test_permuted_labels_through_the_scan_are_those_of_the_design(monkeypatch):
    """The statistics depend on labels as the permutations give them, the true ones included."""
    x, y, asked = NULLS["clusters in strata"](np.random.default_rng(0))
    seen = []

    def spy(units, count, rng):
        seen.append(units)
        return permute_units(units, count, rng)

    monkeypatch.setattr("tellapart.permutation.design_units.permute_units", spy)
    found = run(x, y, asked)
    assert seen[0].shapes.tolist() == [[7, 3, 5], [3, 7, 5]]
    assert found.null.null_distribution.size == 99


def test_a_cluster_of_copies_counts_once():
    rng = np.random.default_rng(3)
    # Twenty clusters, whose rows are copies: how many there are must say nothing.
    means = rng.normal(size=(20, 3)) + np.where(np.arange(20) < 10, 1.5, 0.0)[:, np.newaxis]
    pvalues = []
    for copies in (np.ones(20, dtype=int), rng.integers(1, 60, 20)):
        own = np.repeat(np.arange(20), copies)
        of_x = own < 10
        asked = DesignArguments(clusters=(own[of_x], own[~of_x]))
        samples = read_samples(means[own[of_x]], means[own[~of_x]], design=asked)
        drawn = np.random.default_rng(0)
        pvalues.append(scan(samples, n_permutations=999, alpha=0.05, rng=drawn).null.pvalue)
    assert max(pvalues) <= 0.01
