"""Repeated checks against one reference: valid p-values, one ruler, alarms over the sequence."""

import html
import math
import pickle
from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import tellapart as ta
from tellapart.budget import Budget, using_budget
from tellapart.data.samples import Samples
from tellapart.kernels import Linear
from tellapart.permutation.mmd import permutation_test

QUICK = {"method": "split", "n_variables": 1, "regularization": 0.1, "random_state": 0}


def normal(n, seed, columns=4):
    return np.random.default_rng(seed).normal(size=(n, columns))


def table(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "bytes": rng.lognormal(size=n),
            "verb": rng.choice(["get", "put", "post"], size=n),
            "cached": rng.random(n) < 0.5,
        }
    )


def test_finds_the_batch_that_differs_and_says_by_what():
    monitor = ta.compare_to_reference(normal(600, 0), method="split", n_checks=3, random_state=0)
    same = monitor.check(normal(150, 1), label="Monday")
    other = monitor.check(normal(150, 2) * [1, 1, 3, 1], label="Tuesday")
    assert not same.alarm
    assert other.alarm
    assert other.reject
    assert other.selection.names[np.argmax(other.selection.z)] == "x2"
    assert isinstance(other, ta.TestResult)
    assert [r.label for r in monitor.history] == ["Monday", "Tuesday"]
    assert monitor.history[1] == other.record
    assert monitor.history[1].n_rows == 150
    assert len(pd.DataFrame(monitor.history)) == 2
    assert repr(monitor) == "<ReferenceMonitor: 600 rows, 4 columns, 2 checks, 1 alarms>"


def test_result_is_told_like_any_other(tmp_path):
    monitor = ta.compare_to_reference(normal(200, 0), n_permutations=99, **QUICK)
    result = monitor.check(normal(80, 1) + np.array([0, 2, 0, 0]), label="May <1>")
    assert "May <1> differs from the reference" in result.summary()
    assert "Check 1 against this reference: alarm (e-value 2" in result.summary()
    assert "an alarm needs 20, so that the probability of any false alarm" in result.summary()
    told = result.to_dict()
    assert told["check"]["alarm"] is True
    assert told["check"]["number"] == 1
    assert '"alarm_level"' in result.to_json(tmp_path / "check.json")
    page = result.to_html()
    call = "compare_to_reference(reference, method='split', n_variables=1, regularization=0.1"
    assert call in html.unescape(page)
    assert "May <1>" not in page
    assert repr(result) == "<CheckResult 1: p = 0.0009461, alarm>"
    assert result.witness(normal(3, 2)).shape == (3,)


def test_same_seed_same_answers_and_a_pickle_goes_on():
    batches = [normal(60, seed) for seed in (1, 2, 3)]
    first = ta.compare_to_reference(normal(300, 0), **QUICK)
    second = ta.compare_to_reference(normal(300, 0), **QUICK)
    once = [first.check(batch).pvalue for batch in batches]
    twice = [second.check(batches[0]).pvalue]
    second = pickle.loads(pickle.dumps(second))
    twice += [second.check(batch).pvalue for batch in batches[1:]]
    assert once == twice
    assert first.history == second.history


def test_a_generator_or_no_seed_draws_one_that_is_told():
    for seed in (None, np.random.default_rng(4)):
        settings = QUICK | {"random_state": seed}
        result = ta.compare_to_reference(normal(50, 0), **settings).check(normal(40, 1))
        told = result.settings["random_state"]
        again = ta.compare_to_reference(normal(50, 0), **(QUICK | {"random_state": told}))
        assert again.check(normal(40, 1)).pvalue == result.pvalue


def test_keeps_a_copy_of_the_reference():
    reference = normal(100, 0)
    monitor = ta.compare_to_reference(reference, **QUICK)
    expected = ta.compare_to_reference(reference, **QUICK).check(normal(50, 1)).pvalue
    reference += 100.0
    assert monitor.check(normal(50, 1)).pvalue == expected


def test_reference_rows_never_change_sides():
    reference = np.arange(80.0)[:, None] + normal(80, 0, 1) / 10
    monitor = ta.compare_to_reference(reference, reference_ratio=2, **QUICK)
    train, held_out = set(), set()
    for seed in range(5):
        result = monitor.check(normal(20, seed, 1))
        assert result.n_train == (20, 10)
        assert result.n_test == (20, 10)
        train |= set(result.train.x[:, 0])
        held_out |= set(result.held_out.x[:, 0])
    assert not train & held_out
    assert len(train | held_out) > 60  # drawn afresh for every check


def test_all_rows_serve_without_a_ratio():
    monitor = ta.compare_to_reference(normal(300, 0), reference_ratio=None, **QUICK)
    result = monitor.check(normal(8, 1))
    assert result.n_train == (150, 4)
    assert result.n_test == (150, 4)
    assert result.settings["reference_ratio"] is None


def test_one_ruler_for_all_batches():
    monitor = ta.compare_to_reference(normal(200, 0), **QUICK)
    small, large = monitor.check(normal(40, 1)), monitor.check(1000 * normal(40, 2))
    assert small.kernel.scalars == large.kernel.scalars
    x = small.train.x
    train = Samples(x[:50], x[50:], small.train.names, small.train.kinds)
    assert Linear().fit(train).scalars == small.kernel.scalars


def test_gives_the_answer_of_the_plain_steps():
    """The p-value is that of a permutation test with the result's own kernel, z and rows."""
    result = ta.compare_to_reference(normal(200, 0), **QUICK).check(normal(60, 1))
    null = permutation_test(
        result.held_out,
        result.kernel,
        result.selection.z,
        n_permutations=4999,
        alpha=0.05,
        rng=np.random.default_rng(1),
    )
    assert null.statistic == pytest.approx(result.statistic, rel=1e-12)
    assert null.pvalue == pytest.approx(result.pvalue, abs=0.08)


def test_a_column_that_was_constant_and_now_varies_is_found():
    reference = normal(200, 0)
    reference[:, 2] = 5.0
    batch = normal(60, 1)
    batch[:, 2] = np.where(np.arange(60) % 2, 5.0, 6.0)
    monitor = ta.compare_to_reference(reference, **QUICK)
    assert monitor.check(batch).variables == ("x2",)
    with pytest.warns(ta.ConstantColumnWarning, match="x2"):
        still = monitor.check(
            np.column_stack([normal(60, 2)[:, :2], np.full(60, 5.0), batch[:, 3]])
        )
    assert "x2" not in still.variables


@pytest.mark.parametrize("library", [pd.DataFrame, lambda frame: pl.from_pandas(frame)])
def test_columns_match_by_name_and_new_categories_count(library):
    monitor = ta.compare_to_reference(library(table(300, 0)), **QUICK)
    assert monitor.names == ("bytes", "verb", "cached")
    batch = table(100, 1)[["cached", "verb", "bytes"]]
    assert not monitor.check(library(batch)).alarm
    batch["verb"] = np.where(np.arange(100) % 3 > 0, "brew", "get")
    result = monitor.check(library(batch))
    assert result.alarm
    assert result.variables == ("verb",)
    assert "brew" in result.held_out.categories["verb"]


def test_sparse_references_give_the_same_answer():
    reference, batch = (np.maximum(normal(n, n) - 0.5, 0.0) for n in (200, 60))
    dense = ta.compare_to_reference(reference, **QUICK).check(batch)
    monitor = ta.compare_to_reference(sparse.csr_array(reference), **QUICK)
    thin = pickle.loads(pickle.dumps(monitor)).check(sparse.csr_array(batch))
    assert thin.pvalue == dense.pvalue
    assert thin.statistic == pytest.approx(dense.statistic)


def test_text_among_numbers_is_counted_once():
    frame = pd.DataFrame({"load": [*map(str, range(30)), *["n/a"] * 10]})
    message = "'load' of reference must hold numbers; got text in 10 of 40 values"
    with pytest.raises(ta.InputError, match=message):
        ta.compare_to_reference(frame, method="split")


def test_missing_values_follow_the_policy():
    reference, batch = table(200, 0), table(60, 1)
    reference.loc[:9, "bytes"] = np.nan
    batch.loc[3, "bytes"] = np.nan
    with pytest.raises(ta.InputError, match=r"^reference must .* 'bytes' \(10 in reference\)"):
        ta.compare_to_reference(reference, method="split")
    rows = ta.compare_to_reference(reference, missing="drop-rows", **QUICK)
    assert rows.n_rows == 190
    assert rows.check(batch).held_out.dropped_rows == (10, 1)
    columns = ta.compare_to_reference(reference, missing="drop-columns", **QUICK)
    assert columns.names == ("verb", "cached")
    assert columns.check(batch).held_out.dropped_columns == ("bytes",)


def test_levels_of_a_plan_add_up_to_alpha():
    planned = ta.compare_to_reference(normal(20, 0), alpha=0.1, n_checks=8, **QUICK)
    assert [planned.alarm_level(k) for k in (1, 8)] == [0.1 / 8, 0.1 / 8]
    with pytest.raises(ta.InputError, match=r"number must be an integer in 1..8; got 9"):
        planned.alarm_level(9)


def test_more_permutations_only_where_they_decide():
    monitor = ta.compare_to_reference(normal(200, 0), n_permutations=99, n_checks=50, **QUICK)
    plain = monitor.check(normal(60, 1))
    clear = monitor.check(normal(60, 2) + 3)
    assert plain.null_distribution.size == 99
    assert not plain.alarm
    assert clear.null_distribution.size >= 1000 - 1
    assert clear.pvalue <= clear.alarm_level == 0.001
    assert clear.alarm
    assert clear.reject == (clear.statistic > clear.threshold)


def test_says_so_when_no_number_of_permutations_reaches_the_level():
    monitor = ta.compare_to_reference(normal(200, 0), n_permutations=99, n_checks=50, **QUICK)
    warned = pytest.warns(UserWarning, match=r"needs 1\d{3} permutations, more than the 199")
    with warned, using_budget(Budget(refined_permutations=199)):
        result = monitor.check(normal(60, 2) + 3)
    assert result.pvalue == 1 / 200
    assert not result.alarm


def test_checks_end_where_the_plan_does():
    monitor = ta.compare_to_reference(normal(40, 0), n_checks=1, **QUICK)
    monitor.check(normal(20, 1))
    with pytest.raises(ta.InputError, match="n_checks = 1 checks were planned and made"):
        monitor.check(normal(20, 2))


def test_a_refused_batch_is_no_check():
    monitor = ta.compare_to_reference(normal(40, 0), **QUICK)
    with pytest.raises(ta.InputError, match="reference and batch must have the same number"):
        monitor.check(normal(20, 1, columns=3))
    with pytest.raises(ta.InputError, match=r"batch must have at least 4 rows.*got 3"):
        monitor.check(normal(3, 1))
    with pytest.raises(ta.InputError, match="batch must have at least 2 rows; got 1"):
        monitor.check(normal(1, 1))
    with pytest.raises(ta.InputError, match=r"infinite values in column 'x1' .1 in batch"):
        monitor.check(np.where(np.arange(80).reshape(20, 4) == 1, np.inf, 0.5))
    with pytest.raises(ta.InputError, match="label must be a text, a number or a date; got None"):
        monitor.check(normal(20, 1), label=None)
    with pytest.raises(ta.InputError, match="progress"):
        monitor.check(normal(20, 1), progress="yes")
    assert monitor.history == ()
    named = ta.compare_to_reference(table(40, 0), **QUICK)
    with pytest.raises(ta.InputError, match="only in reference: 'verb'; only in batch: 'Verb'"):
        named.check(table(40, 1).rename(columns={"verb": "Verb"}))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_variables": 5}, r"n_variables must be an integer in 1..4; got 5"),
        ({"kernel": "nonsense"}, "kernel must be"),
        ({"regularization": -1}, "regularization"),
        ({"alpha": 0}, "alpha"),
        ({"n_permutations": 9}, "n_permutations must be at least 19"),
        ({"n_checks": 0}, "n_checks must be an integer of at least 1"),
        ({"reference_ratio": 0.5}, "reference_ratio"),
        ({"random_state": "x"}, "random_state"),
        ({"missing": "ignore"}, "missing must be one of"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ta.InputError, match=message):
        ta.compare_to_reference(normal(40, 0), **settings)


def test_a_bad_reference_is_named():
    with pytest.raises(ta.InputError, match=r"^reference must be a 2-dimensional array"):
        ta.compare_to_reference(None, method="split")
    with pytest.raises(ta.InputError, match=r"^reference must have at least 4 rows.*got 3"):
        ta.compare_to_reference(normal(3, 0), method="split")
    with pytest.raises(ta.InputError, match=r"^reference must have at least one column"):
        ta.compare_to_reference(np.empty((9, 0)), method="split")


def test_tunes_and_shows_progress():
    seen = []
    monitor = ta.compare_to_reference(
        normal(100, 0), method="split", n_permutations=99, random_state=0
    )
    result = monitor.check(normal(60, 1), progress=lambda stage, detail: seen.append(stage))
    assert {"tune", "select", "test"} <= set(seen)
    assert result.tuning.numbers


def test_checks_hold_their_level_and_so_does_the_sequence():
    """Under H₀, a share of at most α of the checks rejects, and of the sequences alarms."""
    runs, checks, rejections, alarms, refined = 60, 4, 0, 0, 0
    for run in range(runs):
        rng = np.random.default_rng([7, run])
        monitor = ta.compare_to_reference(
            rng.normal(size=(60, 3)),
            method="split",
            n_variables=1,
            regularization=0.0,
            n_permutations=9,  # too few for the alarm level of 0.05: some checks draw more
            alpha=0.2,
            n_checks=checks,
            random_state=run,
        )
        results = [monitor.check(rng.normal(size=(16, 3))) for _ in range(checks)]
        refined += sum(result.null_distribution.size > 9 for result in results)
        rejections += sum(result.reject for result in results)
        alarms += any(result.alarm for result in results)
    # Clustered within a reference, so the binomial error of `runs` trials is the honest one.
    error = math.sqrt(0.2 * 0.8 / runs)
    assert rejections / (runs * checks) < 0.2 + 3 * error
    assert alarms / runs < 0.2 + 3 * error
    assert rejections > 0
    assert refined > 0


def test_result_keeps_every_field_of_a_test_result():
    result = ta.compare_to_reference(normal(40, 0), **QUICK).check(normal(20, 1))
    plain = ta.TestResult(
        **{f.name: getattr(result, f.name) for f in fields(ta.TestResult) if f.init}
    )
    assert plain.verdict.partition("(")[2] == result.verdict.partition("(")[2]
