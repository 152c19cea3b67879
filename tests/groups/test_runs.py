"""Comparisons side by side: the same answers and notes, within memory."""

import warnings

import numpy as np
import pytest

import tellapart as ta
from tellapart.budget import Budget, using_budget
from tellapart.data.grouping import read_grouped
from tellapart.errors import InputError
from tellapart.groups import runs as groups_run
from tellapart.groups.runs import _at_once, comparison_seed
from tellapart.scan import tables
from tellapart.two_sample.settings import TestSettings

KINDS = np.repeat(["a", "b", "c", "d"], [12, 12, 12, 3])


def values():
    x = np.random.default_rng(2).normal(size=(39, 60))
    x[:12, 7] += 4
    return x


def told(result):
    return [
        (c.group, c.pvalue, c.variables, c.weights, c.notes, c.difference)
        for c in result.comparisons
    ]


def test_side_by_side_changes_nothing():
    one, two = (
        ta.compare_groups(values(), KINDS, random_state=0, n_permutations=199, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    assert told(one) == told(two)
    assert one.comparisons[0].variables[0] == "x7"


def test_tables_of_rows_that_all_comparisons_divide_are_made_once(monkeypatch):
    made = []
    make = tables.make_tables

    def counted(values, *rest, **settings):
        made.append(values.shape)
        return make(values, *rest, **settings)

    monkeypatch.setattr(tables, "make_tables", counted)
    ta.compare_groups(values(), KINDS, random_state=0, n_permutations=99)
    assert made.count((39, 60)) == 1
    made.clear()
    ta.compare_groups(values(), KINDS, mode="pairwise", random_state=0, n_permutations=199)
    assert made.count((24, 60)) == 3


def test_a_comparison_of_few_columns_is_the_test_of_two_samples():
    x = values()[:, 5:10]
    result = ta.compare_groups(x, KINDS, random_state=0, n_permutations=199)
    for c in result.comparisons:
        single = ta.two_sample_test(
            x[c.group == KINDS],
            x[c.group != KINDS],
            random_state=comparison_seed(0, c.group, "rest"),
            n_permutations=199,
        )
        assert c.pvalue == single.pvalue
        assert set(c.variables) == set(single.variables)
        assert c.result.selection.z == pytest.approx(single.selection.z, abs=1e-9)


def test_progress_is_told_of_every_comparison():
    seen = []
    ta.compare_groups(
        values()[:, :4],
        KINDS,
        random_state=0,
        n_permutations=99,
        n_jobs=2,
        progress=lambda _, detail: seen.append(detail.split(":")[0]),
    )
    assert set(seen) == {f"{n} of 4, {kind} and rest" for n, kind in enumerate("abcd", 1)}


def test_warnings_and_failures_stay_with_their_comparison(monkeypatch):
    run_test = groups_run.run_test

    def some_warn(samples, settings, names, limits):
        warnings.warn(f"of {names[0]}", UserWarning, stacklevel=1)
        if names[0].endswith("b"):
            raise InputError("no such rows")
        if names[0].endswith("c"):
            warnings.warn("not for users", DeprecationWarning, stacklevel=1)
        return run_test(samples, settings, names, limits)

    monkeypatch.setattr(groups_run, "run_test", some_warn)
    with pytest.warns(DeprecationWarning, match="not for users"):
        result = ta.compare_groups(
            values()[:, :4], KINDS, random_state=0, n_permutations=99, n_jobs=2
        )
    assert [(c.group, c.notes[0][-1]) for c in result.comparisons] == [
        ("a", "a"),
        ("c", "c"),
        ("d", "d"),
    ]
    assert [(s.group, s.reason) for s in result.skipped] == [("b", "no such rows")]


def test_how_many_at_once():
    grouped = read_grouped(values(), KINDS)
    assert _at_once(grouped, 4, TestSettings(n_jobs=3)) == 3
    assert _at_once(grouped, 2, TestSettings(n_jobs=3)) == 2
    assert _at_once(grouped, 4, TestSettings(n_jobs=3, time_limit=60.0)) == 1
    with using_budget(Budget(group_bytes=1)):
        assert _at_once(grouped, 4, TestSettings(n_jobs=3)) == 1
