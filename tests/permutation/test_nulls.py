"""From statistics to a p-value and a threshold that never disagree."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tellapart.permutation.pvalues import _largest_count, null_of

ALPHAS = st.one_of(
    st.sampled_from([0.001, 0.01, 0.05, 0.07, 0.1, 1 / 3, 0.999]), st.floats(1e-3, 0.999)
)
# Values with ties, and without.
VALUES = st.one_of(st.integers(0, 3).map(lambda k: k / 10), st.floats(-5, 5))


def test_printed_rule_would_exceed_the_level():
    """[E7] Of 101 exchangeable statistics at most 5 % may be rejected; #/N_p ≤ α allows 6."""
    values = np.arange(101.0)
    ours = printed = 0
    for observed in values:
        others = values[values != observed]
        ours += null_of(np.r_[observed, others], 1e-12, 0.05, exact=False).pvalue <= 0.05
        printed += np.mean(others >= observed) <= 0.05
    assert ours == 5
    assert printed == 6


@given(
    st.lists(VALUES, min_size=2, max_size=100),
    st.sampled_from([0.0, 1e-12, 0.3]),
    ALPHAS,
    st.booleans(),
)
def test_threshold_agrees_with_pvalue(values, tolerance, alpha, exact):
    statistics = np.array(values)
    null = null_of(statistics, tolerance, alpha, exact=exact)
    assert (null.pvalue <= alpha) == (null.statistic > null.threshold)
    assert null.pvalue == np.mean(statistics + tolerance >= statistics[0])
    assert null.n_permutations == len(values) - (not exact)


@given(st.integers(2, 1000), ALPHAS)
def test_largest_count(count, alpha):
    k = _largest_count(count, alpha)
    assert k / count <= alpha
    assert k == count - 1 or (k + 1) / count > alpha


def test_the_largest_statistic_of_many_is_rejected():
    for exact in (True, False):
        null = null_of(np.arange(100.0)[::-1], 1e-12, 0.05, exact=exact)
        assert null.pvalue == 0.01
        assert null.statistic > null.threshold
