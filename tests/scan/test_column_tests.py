"""Unadjusted p-values of columns, continued below 1/(B + 1), and their q-values."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tellapart as ta
from tellapart.permutation.pvalues import benjamini_hochberg
from tellapart.scan.column_tests import Unadjusted


def test_qvalues_are_those_of_scipy():
    p = np.random.default_rng(0).beta(0.4, 1, size=50)
    np.testing.assert_allclose(benjamini_hochberg(p), stats.false_discovery_control(p))
    with_others = stats.false_discovery_control([*p, *np.ones(30)])[:50]
    np.testing.assert_allclose(benjamini_hochberg(p, 80), with_others)
    assert benjamini_hochberg([]).size == 0


def test_ranks_count_ties_against_rejection():
    table = np.array([[2.0, 0.0], [2.0, 0.0], [3.0, 0.0], [1.0, 0.0]])
    known = Unadjusted.of(table, 10.0, exact=False)
    assert known.pvalue.tolist() == [0.75, 1.0]
    assert not known.approximate.any()


def test_a_tail_goes_on_where_ranks_end():
    z = np.random.default_rng(1).normal(size=(1000, 40))
    z[0] = np.linspace(3.8, 6.5, 40)
    known = Unadjusted.of(z**2 / 2, 100.0, exact=False)
    truth = 2 * stats.norm.sf(z[0])
    assert known.approximate.mean() > 0.9
    ratio = np.log10(known.pvalue[known.approximate] / truth[known.approximate])
    assert abs(ratio.mean()) < 0.4
    assert np.abs(ratio).max() < 1.3


def test_no_tail_where_it_does_not_fit_or_nothing_lies_beyond():
    rng = np.random.default_rng(2)
    heavy = rng.pareto(0.5, size=(1000, 1)) + 1
    heavy[0] = heavy.max() * 2
    one = np.full((1000, 1), 0.5)
    one[0] = 3.0
    for table in (heavy, one):
        known = Unadjusted.of(table, 100.0, exact=False)
        assert known.pvalue.tolist() == [0.001]
        assert not known.approximate.any()
    z = rng.normal(size=(1000, 1)) ** 2 / 2
    z[0] = 40.0
    assert Unadjusted.of(z, np.log(20_000), exact=False).pvalue[0] == pytest.approx(5e-5)
    assert Unadjusted.of(z, np.log(1000), exact=True).pvalue[0] == 0.001


def test_columns_are_tested_by_their_own_permutations():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 30)), rng.normal(size=(50, 30))
    x[:, 7] += 1.5
    result = ta.two_sample_test(x, y, random_state=0)
    tests = result.column_tests
    assert tests.names == tuple(f"x{k}" for k in range(30))
    assert tests.adjusted.tolist() == list(result.variable_pvalues.values())
    np.testing.assert_allclose(tests.qvalue, stats.false_discovery_control(tests.pvalue))
    assert tests.approximate.tolist() == [k == 7 for k in range(30)]
    truth = stats.ttest_ind(x, y).pvalue
    assert 0.01 * truth[7] < tests.pvalue[7] < 1000 * truth[7]
    assert (tests.pvalue <= tests.adjusted).all()
    stored = json.loads(result.to_json())["scan"]["column_tests"]
    assert stored == json.loads(json.dumps(tests.to_dict()))
    assert ta.two_sample_test(x, y, method="split", n_permutations=19).column_tests is None


def test_missing_values_and_constants_have_a_place():
    rng = np.random.default_rng(4)
    x, y = (pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc")) for _ in range(2))
    x["k"] = y["k"] = 1.0
    x.loc[rng.random(80) < 0.5, "b"] = np.nan
    tests = ta.two_sample_test(x, y, missing="pairwise", random_state=0).column_tests
    assert dict(zip(tests.names, tests.qvalue <= 0.05, strict=True)) == {
        "a": False, "b": True, "c": False, "k": False,
    }  # fmt: skip
    assert tests.pvalue[3] == tests.qvalue[3] == 1.0


def test_unadjusted_pvalues_are_uniform_without_a_difference():
    rng = np.random.default_rng(5)
    x, y = rng.standard_t(3, size=(30, 300)), rng.standard_t(3, size=(45, 300))
    tests = ta.two_sample_test(x, y, n_permutations=199, random_state=0).column_tests
    assert stats.kstest(tests.pvalue, "uniform").pvalue > 0.01
