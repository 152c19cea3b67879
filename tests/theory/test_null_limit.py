import numpy as np
import pytest

from tellapart.errors import InputError
from tellapart.statistics.mmd import mmd2
from tellapart.theory import NullLimit, WeightedChiSquares

M, N, REPEATS = 150, 60, 2000


def gram(u, v):
    return np.exp(-0.5 * np.subtract.outer(u, v) ** 2)


def null_statistics(seed=0):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(REPEATS):
        x, y = rng.normal(size=M), rng.normal(size=N)
        found.append(mmd2(gram(x, x), gram(y, y), gram(x, y)))
    return np.array(found)


@pytest.fixture(scope="module")
def limit():
    rows = np.random.default_rng(1).normal(size=1500)
    return NullLimit.of_gram(gram(rows, rows), M, N)


@pytest.fixture(scope="module")
def statistics():
    return null_statistics()


def test_quantiles_of_unequal_samples_are_those_of_simulation(limit, statistics):
    for probability in (0.5, 0.9, 0.95):
        share = (statistics <= limit.quantile(probability)).mean()
        assert abs(share - probability) < 0.02


def test_variance_is_that_of_simulation(limit, statistics):
    assert limit.variance == pytest.approx(statistics.var(), rel=0.15)


def test_printed_limit_with_standard_normals_would_fail(limit, statistics):
    """n T → Σ λ (Z² − 2) with Z ~ N(0, 1) instead of N(0, 2) shifts it to the left."""
    law = WeightedChiSquares(limit.eigenvalues)
    size = 2 * M * N / (M + N)
    printed = (law.quantile(0.5) - 2 * law.mean) / size
    assert abs((statistics <= printed).mean() - 0.5) > 0.2


def test_pvalue_of_a_quantile(limit):
    assert limit.pvalue(limit.quantile(0.9)) == pytest.approx(0.1, rel=1e-6)


def test_rows_of_the_second_sample_follow_from_the_gram_matrix():
    rows = np.arange(5.0)
    assert NullLimit.of_gram(gram(rows, rows), 2).n_y == 3


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="gram must be square"):
        NullLimit.of_gram(np.ones((3, 4)), 2)
    with pytest.raises(InputError, match="n_x must be an integer"):
        NullLimit(np.ones(2), 1, 5)
