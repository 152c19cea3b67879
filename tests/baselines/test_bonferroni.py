"""Per-variable tests with corrections: against SciPy, by level and by reach."""

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

from tellapart.baselines import Bonferroni
from tellapart.errors import InputError

ALL = [
    ("ks", "holm"),
    ("ks", "bonferroni"),
    ("ks", "max-t"),
    ("mmd", "holm"),
    ("mmd", "bonferroni"),
    ("mmd", "max-t"),
]


def two_samples(m=50, n=60, columns=6, shifts=(), seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(m, columns)), rng.normal(size=(n, columns))
    for column, shift in dict(shifts).items():
        y[:, column] += shift
    return x, y


def quiet(baseline, x, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return baseline.test(x, y)


def test_ks_pvalue_is_scipys_corrected():
    x, y = two_samples(shifts={2: 0.5})
    pvalues = [ks_2samp(x[:, s], y[:, s]).pvalue for s in range(6)]
    result = Bonferroni(correction="bonferroni").test(x, y)
    assert result.pvalue == pytest.approx(min(1.0, 6 * min(pvalues)), rel=1e-12)
    assert result.statistic == pytest.approx(-np.log10(result.pvalue))


@pytest.mark.parametrize(("statistic", "correction"), ALL)
def test_chooses_the_variables_that_differ(statistic, correction):
    x, y = two_samples(shifts={1: 2.0, 4: 2.0})
    baseline = Bonferroni(statistic=statistic, correction=correction, random_state=0)
    result = baseline.test(x, y)
    assert result.variables == ("x1", "x4")
    assert (result.n_train, result.n_test) == ((0, 0), (50, 60))
    assert baseline.select(x, y).support.tolist() == [1, 4]


def test_number_of_variables_may_be_fixed():
    x, y = two_samples(shifts={1: 2.0, 4: 1.0})
    assert Bonferroni(1).select(x, y).variables == ("x1",)
    assert Bonferroni(3).select(x, y).support.size == 3
    null_x, null_y = two_samples(seed=4)
    assert Bonferroni().select(null_x, null_y).support.size == 0
    assert Bonferroni(2).select(null_x, null_y).support.size == 2


def test_ties_of_pvalues_go_to_the_larger_statistic():
    x, y = two_samples(shifts={0: 2.0, 3: 4.0})
    selection = Bonferroni(1, statistic="mmd", n_permutations=199, random_state=0).select(x, y)
    assert selection.variables == ("x3",)


@pytest.mark.parametrize(("statistic", "correction"), ALL)
def test_level_under_the_null(statistic, correction):
    trials = 100
    rejections = sum(
        quiet(
            Bonferroni(
                statistic=statistic, correction=correction, n_permutations=99, random_state=seed
            ),
            *two_samples(m=15, n=18, columns=4, seed=seed),
        ).reject
        for seed in range(trials)
    )
    # Binomial(100, 0.05): more than 14 has probability 1e-4.
    assert rejections <= 14


def test_max_t_reaches_the_level_where_holm_cannot():
    x, y = two_samples(m=40, n=40, columns=100, shifts={7: 2.5})
    by_max = Bonferroni(statistic="mmd", correction="max-t", n_permutations=199, random_state=0)
    result = by_max.test(x, y)
    assert result.pvalue == 1 / 200
    assert result.variables == ("x7",)
    assert result.null_distribution.shape == (199,)


def test_permutations_are_raised_with_a_warning_where_holm_needs_them():
    x, y = two_samples(m=30, n=30, columns=50, shifts={7: 2.5})
    with pytest.warns(UserWarning, match="n_permutations raised from 99 to 1999") as caught:
        result = Bonferroni(statistic="mmd", n_permutations=99, random_state=0).test(x, y)
    assert caught[0].filename == __file__
    assert result.reject
    # The least p-value of 2,000 labellings, times 50.
    assert result.pvalue == 50 / 2000


def test_hopelessly_many_variables_are_told():
    x, y = two_samples(m=5, n=5, columns=20)
    for baseline in (Bonferroni(), Bonferroni(statistic="mmd", random_state=0)):
        with pytest.warns(UserWarning, match="never reached"):
            assert not baseline.test(x, y).reject


def test_constant_columns_are_not_counted():
    x, y = two_samples(columns=3, shifts={0: 0.6})
    padded = [np.hstack([part, np.full((len(part), 50), 3.0)]) for part in (x, y)]
    plain, with_constants = Bonferroni().test(x, y), Bonferroni().test(*padded)
    assert plain.pvalue == with_constants.pvalue
    assert len(with_constants.selection.constant) == 50


def test_units_and_order_of_rows_do_not_matter():
    x, y = two_samples(shifts={2: 0.5})
    for statistic in ("ks", "mmd"):
        baseline = Bonferroni(statistic=statistic, correction="max-t", random_state=0)
        first = baseline.test(x, y)
        scaled = baseline.test(1e6 * x, 1e6 * y)
        assert scaled.pvalue == first.pvalue


def towns(seed=0, n=60, shares=(0.2, 0.2, 0.6)):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame({"age": rng.normal(size=n), "town": rng.choice(list("abc"), n)})
    y = pd.DataFrame({"age": rng.normal(size=n), "town": rng.choice(list("abc"), n, p=shares)})
    return x, y


@pytest.mark.parametrize(("statistic", "correction"), ALL)
def test_categories_of_any_number_of_levels_are_tested(statistic, correction):
    x, y = towns(n=100)
    baseline = Bonferroni(statistic=statistic, correction=correction, random_state=0)
    assert baseline.test(x, y).variables == ("town",)
    # Categories have no order: their names change nothing.
    swap = {"town": {"a": "b", "b": "a"}}
    assert baseline.test(x.replace(swap), y.replace(swap)).pvalue == baseline.test(x, y).pvalue


def test_pvalue_of_categories_is_that_of_all_permutations():
    x, y = pd.DataFrame({"town": list("aabca")}), pd.DataFrame({"town": list("bcccb")})
    pooled = np.array(list("aabcabcccb"))

    def distance(chosen):
        mine, others = pooled[list(chosen)], np.delete(pooled, list(chosen))
        return sum(abs((mine == v).mean() - (others == v).mean()) for v in "abc") / 2

    distances = [distance(chosen) for chosen in combinations(range(10), 5)]
    expected = np.mean(np.array(distances) >= distances[0] - 1e-9)
    assert Bonferroni().test(x, y).pvalue == pytest.approx(expected)


def test_level_of_rare_categories():
    rejections = sum(
        Bonferroni(n_permutations=99, random_state=seed)
        .test(*towns(seed, n=18, shares=(1 / 3, 1 / 3, 1 / 3)))
        .reject
        for seed in range(100)
    )
    # Binomial(100, 0.05): more than 14 has probability 1e-4.
    assert rejections <= 14


def test_held_out_rows_choose_nothing():
    x, y = two_samples(shifts={1: 2.0})
    result = Bonferroni(use="held-out", random_state=0).test(x, y)
    assert (result.n_train, result.n_test) == ((25, 30), (25, 30))
    assert result.variables == ("x1",)
    pvalues = [ks_2samp(result.held_out.x[:, s], result.held_out.y[:, s]).pvalue for s in range(6)]
    assert result.pvalue == pytest.approx(min(1, 6 * min(pvalues)))


def test_threads_change_nothing():
    x, y = two_samples(shifts={1: 0.6})
    for statistic, correction in ALL:
        one, two = (
            quiet(Bonferroni(None, statistic, correction, random_state=0, n_jobs=jobs), x, y)
            for jobs in (1, 2)
        )
        assert one.pvalue == two.pvalue
        assert one.selection.z.tolist() == two.selection.z.tolist()


def test_bad_settings():
    for settings, message in (
        ({"statistic": "t"}, "statistic must be one of"),
        ({"correction": "fdr"}, "correction must be one of"),
        ({"use": "some"}, "use must be one of"),
    ):
        with pytest.raises(InputError, match=message):
            Bonferroni(**settings)
