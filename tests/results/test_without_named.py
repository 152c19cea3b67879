"""The test again without the named columns, until nothing is found."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass, replace
from functools import cache

import dask.array as da
import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from tellapart.errors import InputError
from tellapart.results.without_named import covering_columns


@dataclass
class Named:
    variables: tuple[str, ...]


def tables(rows: int = 120):
    """Return two samples: two shifted columns, and correlations that all contain x4."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, rows, 7))
    y[:, [0, 1]] += 1.2
    for s in (5, 6):
        y[:, s] = 0.75 * y[:, 4] + 0.6 * y[:, s]
    return x, y


@cache
def result():
    return ta.two_sample_test(*tables(), n_permutations=199, random_state=0)


def test_named_columns_are_removed_until_nothing_is_found() -> None:
    left = result().without_named()
    assert {"x0", "x1", "x4"} <= set(left.removed)
    assert left.complete
    assert left.pvalue == left.steps[-1].pvalue > left.alpha
    first, *rest = left.steps
    assert (first.removed, first.n_columns, first.pvalue) == ((), 7, result().pvalue)
    assert first.findings == result().findings
    for before, step in zip(left.steps, rest, strict=False):
        assert step.n_columns == before.n_columns - len(step.removed)
        assert all(set(finding.variables) & set(step.removed) for finding in before.findings)
    assert set(left.remaining) | set(left.removed) == {f"x{s}" for s in range(7)}


def test_what_remains_is_tested_as_by_itself() -> None:
    left = result().without_named()
    x, y = (pd.DataFrame(values, columns=[f"x{s}" for s in range(7)]) for values in tables())
    columns = list(left.remaining)
    alone = ta.two_sample_test(x[columns], y[columns], n_permutations=199, random_state=1)
    assert alone.pvalue == pytest.approx(left.pvalue, abs=0.15)
    assert not alone.reject


def test_words_and_plain_values() -> None:
    left = result().without_named()
    lines = left.summary().splitlines()
    assert lines[0].startswith(f"Without {len(left.removed)} columns (x")
    assert lines[0].endswith("no difference is detected (α = 0.05).")
    assert len(lines) == 1 + len(left.steps)
    record = json.loads(json.dumps(left.to_dict()))
    assert record["removed"] == list(left.removed)
    assert [step["pvalue"] for step in record["steps"]] == [step.pvalue for step in left.steps]


def test_nothing_is_removed_where_nothing_differs() -> None:
    x, y = np.random.default_rng(3).normal(size=(2, 50, 3))
    left = ta.two_sample_test(x, y, n_permutations=99, random_state=0).without_named()
    assert (left.removed, left.complete, len(left.steps)) == ((), True, 1)
    assert left.summary().startswith("No difference was detected")


def test_all_columns_may_differ() -> None:
    x, y = np.random.default_rng(3).normal(size=(2, 50, 2))
    y += 2.0
    left = ta.two_sample_test(x, y, n_permutations=99, random_state=0).without_named()
    assert (set(left.removed), left.remaining, left.complete) == ({"x0", "x1"}, (), True)
    assert "no column that varies remains" in left.summary()


def test_a_difference_that_is_not_named_ends_the_steps() -> None:
    unnamed = replace(result(), scan=replace(result().scan, findings=()))
    left = unnamed.without_named()
    assert (left.removed, left.complete) == ((), False)
    assert "no finding names its columns" in left.summary()


def test_the_most_steps() -> None:
    left = result().without_named(max_steps=1)
    assert len(left.steps) == 2
    with pytest.raises(InputError, match="max_steps"):
        result().without_named(max_steps=0)


def test_a_split_has_no_findings() -> None:
    split = ta.two_sample_test(*tables(40), method="split", n_permutations=99, random_state=0)
    with pytest.raises(InputError, match="method='scan'"):
        split.without_named()


def test_error_rates_and_smallest_effects_stay() -> None:
    settings = {"n_permutations": 199, "random_state": 0, "families": ["location", "correlation"]}
    test = ta.two_sample_test(*tables(), error_rate="fdr", smallest_effect=0.2, **settings)
    left = test.without_named()
    assert {"x0", "x1"} <= set(left.removed)
    assert left.steps[0].findings == test.findings


def test_designs_stay() -> None:
    rng = np.random.default_rng(0)
    person = rng.normal(size=(60, 4))
    x, y = (person + 0.3 * rng.normal(size=(60, 4)) for _ in range(2))
    y[:, 2] += 0.3
    paired = ta.two_sample_test(x, y, paired=True, n_permutations=199, random_state=0)
    assert paired.without_named().removed == ("x2",)


def test_every_finding_loses_a_column() -> None:
    findings = [Named(("b", "c")), Named(("a",)), Named(("c", "d")), Named(("a", "b", "e"))]
    assert covering_columns(findings) == ("a", "c")
    assert covering_columns([]) == ()


def test_stored_results_hold_rows_in_memory() -> None:
    again = pickle.loads(pickle.dumps(result()))
    assert again.without_named().to_dict() == result().without_named().to_dict()


def test_rows_in_chunks() -> None:
    x, y = (da.from_array(values, chunks=(50, 7)) for values in tables())
    chunked = ta.two_sample_test(x, y, n_permutations=199, random_state=0)
    expected = result().without_named()
    assert chunked.without_named().removed == expected.removed
    assert chunked.without_named().pvalue == expected.pvalue
    stored = pickle.loads(pickle.dumps(chunked))
    with pytest.raises(InputError, match=r"pass X and Y again, result.without_named\(X, Y\)"):
        stored.without_named()
    assert stored.without_named(x, y).removed == expected.removed
    assert stored.without_named(*tables()).removed == expected.removed
    with pytest.raises(InputError, match="together"):
        stored.without_named(x)
    with pytest.raises(InputError, match="columns of the test; x6 is missing"):
        stored.without_named(x[:, :6], y[:, :6])


def test_rows_in_chunks_with_missing_values() -> None:
    x, y = tables()
    x[:5, 0] = x[:9, 3] = np.nan
    settings = {"n_permutations": 199, "random_state": 0}
    held = ta.two_sample_test(x, y, missing="pairwise", **settings)
    in_chunks = [da.from_array(values, chunks=(50, 7)) for values in (x, y)]
    chunked = ta.two_sample_test(*in_chunks, missing="pairwise", **settings)
    assert chunked.without_named().to_dict() == held.without_named().to_dict()
    dropped = ta.two_sample_test(*in_chunks, missing="drop-rows", **settings)
    with pytest.raises(InputError, match="pairwise"):
        dropped.without_named()
