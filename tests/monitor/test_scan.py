"""Checks by scans: all rows of the batch, rows of the reference drawn afresh, findings told."""

import math
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest

import tellapart as ta
from tellapart.budget import Budget, using_budget
from tellapart.effects.values import DISTANCE
from tellapart.monitor import refinement
from tellapart.monitor.check_result import reversed_finding
from tellapart.scan.finding import Finding


def normal(n, seed, columns=4):
    return np.random.default_rng(seed).normal(size=(n, columns))


def test_a_scan_compares_all_rows_and_says_what_differs():
    monitor = ta.compare_to_reference(normal(600, 0), n_checks=3, random_state=0)
    same = monitor.check(normal(50, 1), label="Monday")
    other = monitor.check(normal(50, 2) + np.array([0, 0, 2, 0]), label="Tuesday")
    assert not same.alarm
    assert same.n_train == (0, 0)
    assert same.n_test == (500, 50)
    assert other.alarm
    assert [(f.kind, f.variables) for f in other.findings] == [("location", ("x2",))]
    record = monitor.history[1]
    # A check speaks of the batch, compared with the reference.
    (text,) = record.findings
    assert re.match(r"x2: mean 2\.\d+ in Tuesday, .* in reference; SMD \+2", text)
    assert (record.n_rows, monitor.history[0].findings) == (50, ())
    texts = [one["text"] for one in other.to_dict()["check"]["findings"]]
    assert texts == list(record.findings)
    assert "One mean differs (x2)." in other.summary()
    assert text in other.summary()
    assert "Check 2 against this reference: alarm" in other.summary()


def test_a_scan_draws_rows_of_the_reference_afresh():
    reference = np.arange(300.0)[:, None]
    monitor = ta.compare_to_reference(reference, reference_ratio=2, random_state=0)
    drawn = [set(monitor.check(normal(20, seed, 1)).held_out.x[:, 0]) for seed in range(3)]
    assert [len(rows) for rows in drawn] == [40, 40, 40]
    assert drawn[0] != drawn[1]
    everything = ta.compare_to_reference(reference, reference_ratio=None, random_state=0)
    assert everything.check(normal(20, 0, 1)).n_test == (300, 20)


def test_a_scan_is_the_two_sample_test_of_its_rows():
    result = ta.compare_to_reference(normal(60, 0), random_state=0).check(normal(40, 1))
    again = ta.two_sample_test(result.held_out.x, result.held_out.y, random_state=1)
    assert again.statistic == pytest.approx(result.statistic, abs=0.5)
    assert again.pvalue == pytest.approx(result.pvalue, abs=0.08)


def test_scans_go_on_after_a_pickle():
    batches = [normal(30, seed) for seed in (1, 2)]
    first = ta.compare_to_reference(normal(60, 0), random_state=3)
    second = ta.compare_to_reference(normal(60, 0), random_state=3)
    once = [first.check(batch).pvalue for batch in batches]
    twice = [second.check(batches[0]).pvalue]
    twice.append(pickle.loads(pickle.dumps(second)).check(batches[1]).pvalue)
    assert once == twice


def test_two_rows_are_enough_for_a_scan():
    monitor = ta.compare_to_reference(normal(2, 0), random_state=0)
    with pytest.warns(UserWarning, match=r"2 and 2 rows have so few permutations .* use more rows"):
        assert monitor.check(normal(2, 1)).pvalue > 0.05
    with pytest.raises(ta.InputError, match="at least 2 rows; got 1"):
        ta.compare_to_reference(normal(1, 0))


def test_a_scan_draws_more_permutations_only_where_they_decide():
    settings = {"n_permutations": 99, "n_checks": 20, "random_state": 0}
    monitor = ta.compare_to_reference(normal(80, 0), **settings)
    plain = monitor.check(normal(40, 1))
    clear = monitor.check(normal(40, 2) + 3)
    assert plain.null_distribution.size == 99
    assert clear.null_distribution.size >= 400 - 1
    assert clear.pvalue <= clear.alarm_level
    assert clear.reject == (clear.statistic > clear.threshold)
    assert clear.scan.null.pvalue == clear.pvalue
    # The findings are those of the first run, with their own p-values.
    assert {finding.pvalue for finding in clear.findings} <= {0.01, 0.02, 0.03, 0.04, 0.05}
    each = refinement._bytes_per_permutation(clear.held_out)
    warned = pytest.warns(UserWarning, match=r"needs 40\d permutations, more than the 199")
    with warned, using_budget(Budget(refined_scan_bytes=200 * each)):
        bounded = monitor.check(normal(40, 2) + 3)
    assert (bounded.pvalue, bounded.alarm) == (1 / 200, False)


def test_a_second_scan_that_sees_less_changes_nothing(monkeypatch):
    result = ta.two_sample_test(normal(40, 0), normal(40, 1) + 3, n_permutations=99, random_state=0)
    blind = replace(result.scan, null=replace(result.scan.null, pvalue=0.4))
    monkeypatch.setattr(refinement, "scan", lambda *args, **settings: blind)
    assert refinement.refine_pvalue(result, 0.001, np.random.default_rng(0)) is result


@pytest.mark.parametrize("runs", [15, pytest.param(60, marks=pytest.mark.long)])
def test_scans_hold_their_level_and_so_does_the_sequence(runs):
    checks, rejections, alarms, refined = 3, 0, 0, 0
    for run in range(runs):
        rng = np.random.default_rng([9, run])
        settings = {"n_permutations": 9, "alpha": 0.2, "n_checks": checks, "random_state": run}
        monitor = ta.compare_to_reference(rng.normal(size=(60, 3)), **settings)
        results = [monitor.check(rng.normal(size=(16, 3))) for _ in range(checks)]
        refined += sum(result.null_distribution.size > 9 for result in results)
        rejections += sum(result.reject for result in results)
        alarms += any(result.alarm for result in results)
    error = math.sqrt(0.2 * 0.8 / runs)
    assert rejections / (runs * checks) < 0.2 + 3 * error
    assert alarms / runs < 0.2 + 3 * error
    assert rejections > 0
    assert refined > 0


def test_a_distance_has_no_direction():
    size = {"effect": 0.3, "interval": (0.2, 0.4), "values": (0.3, 0.0), "measure": DISTANCE}
    found = Finding("distribution", ("tail",), 0.01, **size, labels=("reference", "May"))
    assert reversed_finding(found).summary() == found.summary()
    assert "distance +0.30 (95 % CI +0.20 to +0.40)" in found.summary()


def test_selected_variables_of_a_check_are_described_as_the_findings_are():
    rng = np.random.default_rng(0)
    reference, batch = rng.normal(size=(300, 4)), rng.normal(size=(200, 4))
    batch[:, 1] += 1
    check = ta.compare_to_reference(reference, random_state=0).check(batch, label="week 41")
    (line,) = [line for line in check.summary().splitlines() if line.startswith("  x1: ")]
    (again,) = [line for line in check.summary().splitlines() if line.startswith("  x1  ")]
    assert "in week 41, " in line
    assert line.split("; ")[1].split(" (")[0] in again
