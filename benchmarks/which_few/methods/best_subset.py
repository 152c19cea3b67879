"""Best subset of logistic regression by splicing (abess)."""

from __future__ import annotations

import numpy as np

from which_few.methods.base import method
from which_few.table import IntArray, Table, encode


@method("abess", "abess.LogisticRegression(support_size=d), levels as groups", ("abess",))
def select(X: Table, Y: Table, d: int, seed: int) -> IntArray:  # noqa: ARG001
    """Select the d columns, or groups of levels, of the best logistic regression."""
    from abess import LogisticRegression

    data = encode(X, Y)
    varying = np.flatnonzero(np.ptp(data.values, axis=0) > 0)  # abess refuses constant columns
    kept = np.intersect1d(_without_first_levels(data.owner), varying)
    owner = data.owner[kept]
    grouped = len(kept) > len(np.unique(owner))
    model = LogisticRegression(support_size=[d], group=owner if grouped else None)
    model.fit(data.standardised[:, kept], data.labels)
    return data.first(kept[np.flatnonzero(model.coef_.ravel())], d)


def _without_first_levels(owner: IntArray) -> IntArray:
    """Return all columns but the first level of each category: its levels add up to one."""
    _, first, count = np.unique(owner, return_index=True, return_counts=True)
    return np.setdiff1d(np.arange(len(owner)), first[count > 1])
