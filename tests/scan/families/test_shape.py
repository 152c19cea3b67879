"""The score of whole rows, and that rounding is no statistic."""

import numpy as np
import pandas as pd
import pytest
from pools import plan_pool, run_family


def _flag(rng):
    return (rng.random((600, 1)) < 0.1).astype(float)


def _levels(rng):
    return pd.DataFrame({"level": rng.choice(list("abc"), 600)})


def _one_hot(rng):
    return np.eye(3)[rng.integers(0, 3, 600)]


def _complement(rng):
    flag = (rng.random(600) < 0.3).astype(float)
    return np.column_stack([flag, 1 - flag])


def _signs(rng):
    """Rows of one length up to the rounding of its terms."""
    return rng.permuted(np.repeat([[-1.0], [1.0]], 300, axis=0) * np.ones(5), axis=0)


@pytest.mark.parametrize("table", [_flag, _levels, _one_hot, _complement, _signs])
def test_a_length_that_the_columns_determine_is_no_score(table):
    pooled = table(np.random.default_rng(0))
    pool, planned = plan_pool(pooled[:300], pooled[300:], n_permutations=50)
    assert not planned.plans["shape"].row_score.normal_scores.any()
    assert (run_family(pool, planned, "shape").statistics[:, -1] == 0).all()


def test_lengths_of_rows_are_scored_where_columns_leave_them_free():
    rng = np.random.default_rng(0)
    made = plan_pool(3 * rng.normal(size=(100, 4)), rng.normal(size=(100, 4)))
    scale = run_family(*made, "shape").statistics[:, -1]
    assert scale[0] > scale[1:].max()
