"""What labels leave alone is made once, and only of all rows and columns."""

from dataclasses import replace

import numpy as np

from tellapart.data.samples import Samples, SharedRows
from tellapart.kernels.bandwidth import median_bandwidths
from tellapart.threads import in_threads


def samples():
    values = np.random.default_rng(0).normal(size=(9, 3))
    return Samples(values[:4], values[4:], ("a", "b", "c"), ("numeric",) * 3)


def test_made_once_by_whoever_comes_first():
    whole, made = samples(), []
    shared = SharedRows(whole)

    def make(rows):
        made.append(rows)
        return len(made)

    assert in_threads(lambda _: shared.once("number", make), range(8), 4) == [1] * 8
    assert made == [whole]
    assert shared.once("another", make) == 2


def test_some_rows_or_columns_share_nothing():
    own = samples()
    whole = replace(own, shared=SharedRows(own))
    assert whole.rows(np.arange(3), np.arange(2)).shared is None
    assert whole.columns([0, 2]).shared is None


def test_bandwidths_are_those_of_all_rows():
    own = samples()
    turned = replace(own, x=own.y, y=own.x, shared=SharedRows(own))
    first, again = median_bandwidths(turned), median_bandwidths(turned)
    assert first[0] is again[0]
    assert np.array_equal(first[0], median_bandwidths(own)[0])
