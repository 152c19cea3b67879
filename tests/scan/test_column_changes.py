"""What names a column: rare values stand in nobody's way, and each kind of change has its name."""

import numpy as np
import pytest
from pools import make_pool

from tellapart.scan.adjusted import TableUnits, step_down
from tellapart.scan.column_changes import HEAD_START, column_changes
from tellapart.scan.family import COLUMN_KINDS as KINDS


def _adjusted(changes):
    units = TableUnits(changes.largest())
    return units.adjusted(step_down({"columns": units}, 0.05)["columns"])


def _counts(rng, rows, columns, mean):
    depth = rng.lognormal(0, 0.3, rows)[:, np.newaxis]
    mean = np.broadcast_to(mean, (rows, columns)) * depth
    return np.log1p(rng.negative_binomial(2.0, 2.0 / (2.0 + mean)))


def test_markers_of_a_small_group_of_sparse_counts_are_named():
    rng = np.random.default_rng(7)
    mean = rng.lognormal(-2.0, 1.2, 150)
    more = mean.copy()
    more[:6] = 3 * more[:6] + 0.4
    x, y = _counts(rng, 60, 150, more), _counts(rng, 500, 150, mean)
    adjusted = _adjusted(column_changes(make_pool(x, y, n_permutations=199)))
    assert (adjusted[:6] <= 0.05).sum() >= 5
    assert (adjusted[6:] <= 0.05).sum() == 0


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda x, rng: x + 1.0, "location"),
        (lambda x, rng: 2.5 * x, "spread"),
        (lambda x, rng: x / 2.5, "spread"),
        (lambda x, rng: rng.exponential(size=x.shape) - 1, "shape"),
    ],
)
def test_a_change_is_sure_by_its_own_kind(change, kind):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(120, 8)), rng.normal(size=(300, 8))
    x[:, 0] = change(x[:, 0], rng)
    changes = column_changes(make_pool(x, y, n_permutations=99))
    least = np.quantile(changes.largest().max(axis=1), 0.95)
    sure = [
        name for name, score in zip(KINDS, changes.scores[:, 0, 0], strict=True) if score > least
    ]
    assert sure[0] == kind
    assert changes.largest()[0].argmax() == 0


def test_a_sample_without_a_rare_value_is_no_wonder():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=(400, 3))
    y[:, 0], x[:, 0] = 0.0, 0.0
    y[:12, 0] = rng.exponential(size=12) + 1
    scores = column_changes(make_pool(x, y, n_permutations=199)).scores[:, 0, 0]
    assert (scores - [HEAD_START["location"], HEAD_START["spread"], 0] < 1.3).all()


def test_no_kind_sets_nearly_all_of_the_maxima():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(30, 200)), rng.normal(size=(30, 200))
    scores = column_changes(make_pool(x, y, n_permutations=499)).scores
    led = np.bincount(scores.max(axis=2).argmax(axis=0), minlength=len(KINDS)) / scores.shape[1]
    # Without the head start shape, the largest of six measures, leads in seven tenths.
    assert led[KINDS.index("location")] > 0.3
    assert led[KINDS.index("shape")] < 0.6
    assert led.min() > 0.05


def test_a_head_start_is_no_change_of_columns_that_have_one_kind_alone():
    rng = np.random.default_rng(5)
    flags = (rng.random((80, 4)) < 0.3).astype(float)
    scores = column_changes(make_pool(flags[:40], flags[40:], n_permutations=99)).scores
    assert (scores[1:] == 0).all()
    assert (scores[0] >= 0).all()
