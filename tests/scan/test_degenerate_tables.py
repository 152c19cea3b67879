"""P(p ≤ α) ≤ α on tables in which statistics may be constant but for rounding."""

import numpy as np
import pytest
from scipy import stats

from null_tables import DEGENERATE, scan_pair
from tellapart.errors import InputError

ALPHA = 0.05
PERMUTATIONS = 99
# Rows that are put into bins take longer.
LARGE = ("1,000 + 1,000", "1,500 + 1,500", "1,100 + 1,000")


def rejections(name, nulls, seed):
    """Return how many nulls are rejected, by the scan and by each family of it, and are named."""
    count = {}
    for number in range(nulls):
        rng = np.random.default_rng([seed, number])
        tables = DEGENERATE[name](rng)
        try:
            found = scan_pair(*tables, PERMUTATIONS, rng, ALPHA)
        except InputError as refusal:
            # A flag may be drawn without a single yes: what is refused is not rejected.
            if "must have a column that varies" not in str(refusal):
                raise
            continue
        named = min(found.variable_pvalues.values()) <= ALPHA or bool(found.findings)
        rejected = {"scan": found.null.pvalue <= ALPHA, "names": named} | {
            family: p <= ALPHA for family, p in found.families.items()
        }
        for what, decision in rejected.items():
            count[what] = count.get(what, 0) + decision
    return count


def assert_level(name, nulls, seed, error):
    count = rejections(name, nulls, seed)
    most = stats.binom.isf(error, nulls, ALPHA)
    assert {what: k for what, k in count.items() if k > most} == {}


@pytest.mark.filterwarnings("ignore::tellapart.errors.ConstantColumnWarning")
@pytest.mark.parametrize("name", DEGENERATE)
def test_a_few_nulls_are_rarely_rejected(name):
    assert_level(name, 8 if name.endswith(LARGE) else 20, seed=1, error=1e-6)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::tellapart.errors.ConstantColumnWarning")
@pytest.mark.parametrize("name", DEGENERATE)
def test_level_of_1000_nulls(name):
    # One of some 200 rates may lie beyond its bound once in 200 runs.
    assert_level(name, 1_000, seed=2, error=2.5e-5)
