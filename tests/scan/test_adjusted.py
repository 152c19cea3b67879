"""Adjusted p-values: maxima, step down, and classes that share one level."""

import numpy as np

from tellapart.scan.adjusted import Maxima, step_down


def _adjusted(table, alpha=0.05, others=()):
    largest = {"columns": table.max(axis=1)}
    largest |= {name: values for name, values in others}
    return step_down(Maxima(largest), "columns", table, alpha)


def test_the_strongest_unit_has_the_p_value_of_the_maximum():
    table = np.random.default_rng(0).exponential(size=(999, 20))
    best = int(table[0].argmax())
    expected = np.mean(table.max(axis=1) >= table[0, best] - 1e-12)
    assert abs(_adjusted(table)[best] - expected) < 0.002


def test_order_of_scores_is_the_order_of_pvalues():
    table = np.random.default_rng(0).exponential(size=(300, 15))
    adjusted = _adjusted(table)
    order = np.argsort(-table[0])
    assert (np.diff(adjusted[order]) >= 0).all()
    assert (adjusted > 0).all() and (adjusted <= 1).all()


def test_what_was_named_no_longer_stands_in_the_way():
    rng = np.random.default_rng(3)
    table = rng.exponential(size=(999, 4))
    # The first unit is strong under every permutation, so only without it can the second be named.
    table[:, 0] += 9.0
    table[0, 0], table[0, 1] = 60.0, 10.0
    adjusted = _adjusted(table)
    assert adjusted[0] <= 0.002 and adjusted[1] <= 0.01
    kept = Maxima({"columns": table.max(axis=1)}).adjusted(
        "columns", table[0, 1:2], table.max(axis=1)
    )
    assert kept[0] > 0.05


def test_another_class_makes_pvalues_larger_in_proportion_to_its_weight():
    rng = np.random.default_rng(4)
    table = rng.exponential(size=(1999, 10))
    table[0, 0] = 7.5
    alone = _adjusted(table)[0]
    shared = _adjusted(table, others=[("pairs", rng.exponential(size=1999))])[0]
    assert alone < shared < 3 * alone


def test_the_chance_of_any_false_name_is_the_level():
    rng = np.random.default_rng(5)
    false = 0
    for _ in range(400):
        table = rng.exponential(size=(100, 8))
        false += _adjusted(table, 0.1, [("pairs", rng.exponential(size=100))]).min() <= 0.1
    assert 0.05 < false / 400 < 0.16
