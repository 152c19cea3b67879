"""Baselines under a design: their permutations are those that the study allows."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

from tellapart.baselines import (
    L1MMD,
    Bonferroni,
    ProjectedWasserstein,
    SparseLogisticRegression,
    StandardMMD,
)
from tellapart.baselines.base import Permuting, permutation_null, permuted_means
from tellapart.baselines.bonferroni import ks_statistic
from tellapart.baselines.projected_wasserstein import permuted_distances
from tellapart.data.design_labels import DesignArguments
from tellapart.data.reader import read_samples
from tellapart.permutation.forms import by_rows, permute_samples

LITTER = np.repeat(np.arange(8), [1, 4, 2, 3, 1, 2, 5, 2])


def litters(seed=0):
    """Return rows of eight litters, each like itself."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(8, 2))[LITTER] + 0.3 * rng.normal(size=(LITTER.size, 2))


def before_and_after(n=80, seed=0, shift=0.5):
    rng = np.random.default_rng(seed)
    people = pd.DataFrame(5 * rng.normal(size=(n, 3)), columns=list("abc"))
    before, after = (people + 0.3 * rng.normal(size=people.shape) for _ in range(2))
    after["b"] += shift
    return before, after


def wasserstein_of(samples, how):
    scores = np.concatenate([samples.x, samples.y])[:, 0]
    return permutation_null(
        samples, lambda labels: permuted_distances(scores, labels, 2), how, tolerance=1e-12
    ).pvalue


def means_of(samples, how):
    scores = np.concatenate([samples.x, samples.y])[:, 0]
    return permuted_means(samples, scores, how, tolerance=1e-12).pvalue


def baseline_of(baseline):
    def pvalue(samples, how):
        return baseline.fit(samples, how.rng).test(samples, how).pvalue

    return pvalue


@pytest.mark.parametrize(
    "pvalue",
    [
        pytest.param(wasserstein_of, id="Wasserstein"),
        pytest.param(means_of, id="means"),
        pytest.param(baseline_of(StandardMMD()), id="MMD"),
        pytest.param(baseline_of(Bonferroni(correction="max-t", n_variables=1)), id="ks max-t"),
        pytest.param(
            baseline_of(Bonferroni(statistic="mmd", correction="max-t", n_variables=1)),
            id="mmd max-t",
        ),
    ],
)
@pytest.mark.parametrize("design", ["clusters", "clusters in strata"])
def test_levels_are_exact_over_all_labels_that_a_design_allows(pvalue, design):
    values, strata = litters(), LITTER // 4
    chosen = list(combinations(range(8), 3))
    if design == "clusters in strata":
        two = list(combinations(range(4), 2))
        chosen = [(*a, *(4 + i for i in b)) for a, b in product(two, combinations(range(4), 1))]
    pvalues = []
    for of_x in chosen:
        x = np.isin(LITTER, of_x)
        asked = DesignArguments(
            clusters=(LITTER[x], LITTER[~x]),
            strata=(strata[x], strata[~x]) if design == "clusters in strata" else None,
        )
        samples = read_samples(values[x], values[~x], design=asked)
        how = Permuting(n_permutations=999, alpha=0.1, rng=np.random.default_rng(0))
        pvalues.append(pvalue(samples, how))
    # Every p-value is a rank among all of them: the k-th smallest is at least k/count.
    count = len(chosen)
    assert min(pvalues) < 0.2
    np.testing.assert_array_less(np.arange(1, count + 1) / count, np.sort(pvalues) + 1e-9)


def test_clusters_divide_by_the_rows_that_each_permutation_gives():
    values, x = litters()[:, 0], LITTER < 3
    asked = DesignArguments(clusters=(LITTER[x], LITTER[~x]))
    samples = read_samples(values[x, None], values[~x, None], design=asked)
    bins = permute_samples(samples, 999, np.random.default_rng(0))
    pooled = np.concatenate([samples.x, samples.y])[:, 0]
    found = by_rows(ks_statistic)(0, pooled, bins)
    rows = np.concatenate([bins.of_rows(labels) for _, labels in bins.blocks()])
    assert np.unique(rows.sum(axis=1)).size > 3
    expected = [ks_2samp(pooled[row == 1], pooled[row == 0]).statistic for row in rows]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    means = np.concatenate([bins.weights(e) @ bins.sums(pooled) for _, e in bins.blocks()])
    np.testing.assert_allclose(
        means, [pooled[row == 1].mean() - pooled[row == 0].mean() for row in rows], atol=1e-12
    )


@pytest.mark.parametrize(
    "baseline",
    [
        StandardMMD("linear", n_permutations=99, random_state=0),
        L1MMD(n_variables=1, max_iterations=20, n_permutations=99, random_state=0),
        ProjectedWasserstein(n_variables=1, n_starts=5, n_permutations=99, random_state=0),
        SparseLogisticRegression(n_variables=1, n_permutations=99, random_state=0),
        Bonferroni(n_permutations=99, random_state=0),
        Bonferroni(statistic="mmd", correction="max-t", n_permutations=99, random_state=0),
    ],
    ids=lambda baseline: baseline.call(),
)
def test_baselines_swap_pairs_and_say_so(baseline):
    before, after = before_and_after()
    who = np.arange(len(before))
    result = baseline.test(before.assign(who=who), after.assign(who=who)[::-1], paired="who")
    assert "pairs swapped (matched by 'who')" in result.summary()
    assert result.settings["paired"] == "who"
    assert result.n_test[0] == result.n_test[1]
    assert "who" not in result.held_out.names


@pytest.mark.parametrize("correction", ["holm", "max-t"])
def test_variables_by_pairs_show_what_rows_hide(correction):
    before, after = before_and_after(shift=1.0)
    test = Bonferroni(correction=correction, random_state=0)
    assert not test.test(before, after).reject
    result = test.test(before, after, paired=True)
    assert (result.reject, result.variables) == (True, ("b",))


def test_few_pairs_are_warned_of():
    before, after = before_and_after(n=4)
    with pytest.warns(UserWarning, match=r"4 pairs swapped\).*below 0.125"):
        StandardMMD().test(before, after, paired=True)
