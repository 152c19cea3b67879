"""Checks without a planned end: against all rows seen, by bets, until an alarm and from there."""

import datetime
import math
import pickle

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from tellapart.monitor.betting import Bets, Ever

QUICK = {"n_permutations": 99, "random_state": 0}
SPLIT = {"method": "split", "n_variables": 1, "regularization": 0.1, **QUICK}


def normal(n, seed, columns=3):
    return np.random.default_rng(seed).normal(size=(n, columns))


def numbered(low, high):
    return np.arange(float(low), high)[:, None]


def test_a_batch_is_compared_with_the_reference_and_the_batches_since():
    monitor = ta.compare_to_reference(numbered(0, 30), reference_ratio=None, **QUICK)
    rng = np.random.default_rng(0)
    batches = [rng.permutation(30)[:8, None] + 0.25, rng.permutation(30)[:8, None] + 0.5]
    first, second = (monitor.check(batch) for batch in batches)
    assert first.labels[0] == "reference"
    assert second.labels[0] == "earlier rows"
    assert set(first.held_out.x[:, 0]) == set(range(30))
    assert set(second.held_out.x[:, 0]) == {*range(30), *batches[0][:, 0]}


def test_a_split_keeps_rows_on_their_side():
    monitor = ta.compare_to_reference(numbered(0, 40), **SPLIT)
    rng = np.random.default_rng(0)
    train, held_out = set(), set()
    for k in range(4):
        result = monitor.check(rng.permutation(40)[:10, None] + (k + 1) / 8)
        train |= {*result.train.x[:, 0], *result.train.y[:, 0]}
        held_out |= {*result.held_out.x[:, 0], *result.held_out.y[:, 0]}
    assert not train & held_out
    assert len(train | held_out) == 40 + 4 * 10


def test_capital_is_that_of_bets_on_the_pvalues_and_an_alarm_starts_again():
    monitor = ta.compare_to_reference(normal(200, 0), **QUICK)
    results = [monitor.check(normal(40, seed)) for seed in (1, 2)]
    results.append(monitor.check(normal(40, 3) + 0.45))
    results.append(monitor.check(normal(40, 4) + 0.45))
    bets = Bets(Ever(0.05))
    for result in results:
        bets = bets.after(result.pvalue)
        assert result.capital == bets.capital
        assert result.capital_needed == 20
        assert result.alarm == (bets.capital >= 20)
    assert [result.alarm for result in results] == [False, False, False, True]
    # Each level is what the checks before left to be shown.
    assert results[3].alarm_level > results[1].alarm_level
    assert monitor.alarm_level(4) == results[3].alarm_level
    assert monitor.alarm_level() == monitor.alarm_level(5) == Bets(Ever(0.05)).alarm_level
    with pytest.raises(ta.InputError, match=r"number must be an integer in 1..5; got 6"):
        monitor.alarm_level(6)
    again = monitor.check(normal(40, 5))
    assert again.labels[0] == "reference"
    assert again.capital == Bets(Ever(0.05)).after(again.pvalue).capital
    assert [record.number for record in monitor.alarms] == [4]


def test_a_run_length_finds_changes_sooner():
    monitor = ta.compare_to_reference(normal(200, 0), run_length=100, **QUICK)
    quiet = [monitor.check(normal(40, seed)) for seed in range(1, 5)]
    assert not any(result.alarm for result in quiet)
    result = monitor.check(normal(40, 9) + 0.8)
    assert result.alarm
    assert result.capital >= result.capital_needed == 100
    assert "mean number of checks until a false alarm is at least 100" in result.summary()
    assert result.settings["run_length"] == 100


def test_the_smallest_effect_holds_back_alarms_that_nobody_minds():
    reference, shifted = normal(3000, 0), normal(1500, 1) + np.array([0.2, 0, 0])
    plain = ta.compare_to_reference(reference, **QUICK).check(shifted)
    assert plain.alarm
    monitor = ta.compare_to_reference(reference, smallest_effect=0.5, **QUICK)
    small = monitor.check(shifted)
    assert (small.is_evident, small.large_enough, small.alarm) == (True, False, False)
    assert small.pvalue == plain.pvalue
    assert "no alarm: no confidence interval excludes effects below the smallest" in small.summary()
    assert not monitor.history[0].alarm
    large = monitor.check(normal(1500, 2) + np.array([1.0, 0, 0]))
    assert large.alarm
    with pytest.raises(ta.InputError, match="smallest_effect needs the findings"):
        ta.compare_to_reference(reference, smallest_effect=0.5, **SPLIT)


def test_rows_beyond_the_pool_are_let_go():
    monitor = ta.compare_to_reference(normal(60, 0), pool_rows=70, reference_ratio=None, **QUICK)
    sizes = [monitor.check(normal(20, seed)).n_test for seed in range(1, 5)]
    assert sizes == [(60, 20), (70, 20), (70, 20), (70, 20)]
    with pytest.raises(ta.InputError, match="pool_rows must be left out with n_checks"):
        ta.compare_to_reference(normal(60, 0), pool_rows=70, n_checks=3)
    with pytest.raises(ta.InputError, match="n_checks and run_length must not be given together"):
        ta.compare_to_reference(normal(60, 0), run_length=70, n_checks=3)
    with pytest.raises(ta.InputError, match=r"run_length must be a finite number in \(1"):
        ta.compare_to_reference(normal(60, 0), run_length=1)


def frame(n, seed, verbs=("get", "put")):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"bytes": rng.lognormal(size=n), "verb": rng.choice(verbs, size=n)})


def test_labels_that_came_later_are_kept_apart():
    monitor = ta.compare_to_reference(frame(60, 0), **QUICK)
    new = frame(20, 1)
    new.loc[0, "verb"] = "head"
    monitor.check(new)
    result = monitor.check(frame(20, 2, ("get", "put", "put")))
    assert result.held_out.categories["verb"] == ("get", "head", "put")
    counts = np.bincount(result.held_out.x[:, 1].astype(int))
    assert counts.tolist() == [
        sum((table["verb"] == verb).sum() for table in (frame(60, 0), new))
        for verb in ("get", "head", "put")
    ]


def test_missing_values_of_one_batch_leave_the_column_out_from_then():
    monitor = ta.compare_to_reference(frame(60, 0), missing="drop-columns", **QUICK)
    gap = frame(20, 1)
    gap.loc[3, "bytes"] = np.nan
    assert monitor.check(gap).held_out.names == ("verb",)
    assert monitor.check(frame(20, 2)).held_out.names == ("verb",)


def test_history_is_a_table_with_labels_of_any_kind():
    monitor = ta.compare_to_reference(normal(100, 0), **QUICK)
    for day in (1, 2):
        monitor.check(normal(20, day), label=datetime.date(2026, 11, day))
    table = monitor.to_frame()
    assert table["label"].tolist() == ["2026-11-01", "2026-11-02"]
    assert table["number"].tolist() == [1, 2]
    assert table["capital"].tolist() == [record.capital for record in monitor.history]
    assert table["findings"].tolist() == ["", ""]


def test_a_pickle_goes_on():
    batches = [normal(30, seed) for seed in (1, 2, 3)]
    first, second = (ta.compare_to_reference(normal(60, 0), **QUICK) for _ in range(2))
    for batch in batches:
        first.check(batch)
        second = pickle.loads(pickle.dumps(second))
        second.check(batch)
    assert first.history == second.history


@pytest.mark.long
def test_pvalues_are_independent_given_the_rows_seen_and_not_given_one_reference():
    """With an unlucky reference of few rows, all p-values are small together; not so here."""

    def pvalues(run, **settings):
        rng = np.random.default_rng([11, run])
        monitor = ta.compare_to_reference(
            rng.normal(size=(20, 1)), n_permutations=39, random_state=run, **settings
        )
        return [monitor.check(rng.normal(size=(40, 1))).pvalue for _ in range(4)]

    runs = 150
    endless = np.array([pvalues(run) for run in range(runs)])
    fixed = np.array([pvalues(run, n_checks=4) for run in range(runs)])
    between = [(np.corrcoef(table, rowvar=False).sum() - 4) / 12 for table in (endless, fixed)]
    error = 1 / math.sqrt(6 * runs)  # of the mean of six correlations
    assert abs(between[0]) < 4 * error
    assert between[1] > 0.2
    assert abs(endless.mean() - 0.5) < 4 * math.sqrt(1 / 12 / endless.size) + 0.02
