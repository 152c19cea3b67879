"""Error rates of findings: what they report, and that they hold."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tellapart as ta
from tellapart.errors import InputError
from tellapart.scan.error_rates import ErrorRate


def shifted(seed=0, n=25, columns=150, differ=40):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, columns)), rng.normal(size=(n, columns))
    x[:, :differ] += rng.uniform(0.6, 1.8, size=differ)
    return x, y


@pytest.fixture(scope="module")
def results():
    x, y = shifted()
    return {
        rate: ta.two_sample_test(x, y, error_rate=rate, random_state=0)
        for rate in ("fwer", "fdr", "fdx")
    }


def named(result):
    return {f.variables[0] for f in result.findings if len(f.variables) == 1}


def test_each_rate_reports_what_it_allows(results):
    fwer, fdr, fdx = (named(results[rate]) for rate in ("fwer", "fdr", "fdx"))
    assert fwer < fdx <= fdr
    adjusted = results["fwer"].column_tests.adjusted
    n_first = int((adjusted <= 0.05).sum())
    assert len(fwer) == n_first
    assert len(fdx) == n_first + int(0.1 * n_first / 0.9)
    tests = results["fdr"].column_tests
    q = stats.false_discovery_control(tests.pvalue)
    assert fdr == {name for name, one in zip(tests.names, q, strict=True) if one <= 0.05}


def test_gamma_zero_is_the_familywise_rate():
    x, y = shifted(1)
    plain = ta.two_sample_test(x, y, random_state=0)
    zero = ta.two_sample_test(x, y, error_rate="fdx", false_proportion=0, random_state=0)
    assert named(plain) == named(zero)
    assert [f.pvalue for f in plain.findings] == [f.pvalue for f in zero.findings]


def test_a_finding_says_its_rate(results):
    for rate, result in results.items():
        finding = result.findings[0]
        assert finding.rate == rate
        assert ("q = " in finding.summary()) == (rate == "fdr")
        assert result.scan.to_dict()["error_rate"]["name"] == rate
    assert "false discovery rate is at most 0.05" in results["fdr"].summary()
    assert "Benjamini and Hochberg" in results["fdr"].methods_paragraph()
    assert "exceeds 0.1 with a probability of at most 0.05" in results["fdx"].summary()
    assert "false discovery rate" in results["fdr"].to_html(stability=False)
    assert "false discovery" not in results["fwer"].summary()


def test_kinds_have_qvalues_of_their_own(results):
    result = results["fdr"]
    tests = result.column_tests
    of_mean = {f.variables[0]: f.pvalue for f in result.findings if f.kind == "location"}
    x, y = shifted()
    welch = stats.ttest_ind(x, y, equal_var=False).pvalue
    both = np.maximum(welch, tests.pvalue)
    q = dict(zip(tests.names, stats.false_discovery_control(both), strict=True))
    # The test of means is one for small samples, close to Welch's.
    assert of_mean.keys() == {name for name, p in q.items() if p <= 0.05}
    assert all(0.5 < p / q[name] < 2 for name, p in of_mean.items())


def test_arguments_are_checked():
    x, y = shifted(columns=3, differ=1)
    with pytest.raises(InputError, match="error_rate must be one of"):
        ta.two_sample_test(x, y, error_rate="fcr")
    with pytest.raises(InputError, match="false_proportion"):
        ta.two_sample_test(x, y, error_rate="fdx", false_proportion=1.0)
    with pytest.raises(InputError, match="error_rate must be left out"):
        ta.two_sample_test(x, y, method="split", error_rate="fdr")


def test_augmentation_keeps_the_order():
    rng = np.random.default_rng(0)
    adjusted = np.sort(rng.random(30))
    shuffled = rng.permutation(30)
    raised = ErrorRate("fdx", 0.2).adjust(adjusted[shuffled], adjusted[shuffled], 30)
    alpha = adjusted[7]
    assert (raised <= alpha).sum() == 8 + 2
    assert (raised <= adjusted[shuffled]).all()


def test_groups_share_one_false_discovery_rate():
    rng = np.random.default_rng(2)
    n, columns = 40, 30
    table = pd.DataFrame(rng.normal(size=(3 * n, columns))).add_prefix("g")
    kind = np.repeat(["a", "b", "c"], n)
    table.loc[kind == "a", ["g0", "g1", "g2", "g3", "g4", "g5"]] += 1.2
    table.loc[kind == "b", "g9"] += 0.75
    result = ta.compare_groups(table.assign(kind=kind), "kind", error_rate="fdr", random_state=0)
    tests = [c.result.column_tests for c in result.comparisons]
    q = stats.false_discovery_control(np.concatenate([t.pvalue for t in tests]))
    np.testing.assert_allclose(np.concatenate([t.qvalue for t in tests]), q)
    for comparison, test in zip(result.comparisons, tests, strict=True):
        expected = {n for n, one in zip(test.names, test.qvalue, strict=True) if one <= 0.05}
        if not comparison.result.reject:
            expected = set()
        assert named(comparison.result) == expected
        assert all(f.labels == comparison.result.labels for f in comparison.result.findings)
