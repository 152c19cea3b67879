"""Adjusted p-values: maxima, step down, and classes that share one level."""

import numpy as np

from tellapart.scan.adjusted import TableUnits, step_down


def _adjusted(table, alpha=0.05, others=()):
    classes = {"columns": TableUnits(table)} | {n: TableUnits(t) for n, t in others}
    return classes["columns"].adjusted(step_down(classes, alpha)["columns"])


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
    assert (adjusted > 0).all()
    assert (adjusted <= 1).all()


def test_what_was_named_no_longer_stands_in_the_way():
    rng = np.random.default_rng(3)
    table = rng.exponential(size=(999, 4))
    # The first unit is strong under every permutation, so only without it can the second be named.
    table[:, 0] += 9.0
    table[0, 0], table[0, 1] = 60.0, 10.0
    adjusted = _adjusted(table)
    assert adjusted[0] <= 0.002
    assert adjusted[1] <= 0.01
    with_it = np.mean(table.max(axis=1) >= table[0, 1])
    assert with_it > 0.05


def test_another_class_makes_pvalues_larger_in_proportion_to_its_weight():
    rng = np.random.default_rng(4)
    table = rng.exponential(size=(1999, 10))
    table[0, 0] = 7.5
    alone = _adjusted(table)[0]
    shared = _adjusted(table, others=[("pairs", rng.exponential(size=(1999, 1)))])[0]
    assert alone < shared < 3 * alone


def test_the_chance_of_any_false_name_is_the_level():
    rng = np.random.default_rng(5)
    false = 0
    for _ in range(400):
        table = rng.exponential(size=(100, 8))
        false += _adjusted(table, 0.1, [("pairs", rng.exponential(size=(100, 1)))]).min() <= 0.1
    assert 0.05 < false / 400 < 0.16


def test_no_more_false_names_beside_units_that_differ_in_every_class():
    """With a unit of every class far off at the true labels and 59 permutations."""
    rng = np.random.default_rng(5)
    runs, false = 1500, 0
    for _ in range(runs):
        tables = {
            name: rng.exponential(size=(60, size))
            for name, size in (("columns", 10), ("pairs", 45), ("triples", 120))
        }
        for table in tables.values():
            table[0, 0] = 60.0
        classes = {name: TableUnits(table) for name, table in tables.items()}
        named = step_down(classes, 0.05)
        pvalues = [classes[name].adjusted(named[name]) for name in tables]
        assert all(own[0] <= 0.05 for own in pvalues)
        false += min(own[1:].min() for own in pvalues) <= 0.05
    # 99.9 % of the counts of a level of exactly 0.05 are below.
    assert false / runs <= 0.067


def test_what_one_class_names_no_longer_stands_in_the_way_of_another():
    rng = np.random.default_rng(6)
    columns, pairs = rng.exponential(size=(200, 2)), rng.exponential(size=(200, 5))
    # One unit is strong under every permutation, most so at the true labels.
    columns[:, 0] += 9 * (np.arange(200) < 30)
    columns[0, 0], pairs[0, 1] = 40.0, 8.0
    classes = {"columns": TableUnits(columns), "pairs": TableUnits(pairs)}
    named = step_down(classes, 0.05)
    assert classes["columns"].adjusted(named["columns"])[0] <= 0.01
    assert classes["pairs"].adjusted(named["pairs"])[1] <= 0.05
