"""The next best choice that is found: no better than the best, and what brute force finds."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import tellapart as ta
from tellapart.data.reader import read_samples
from tellapart.evidence.evidence import gather_evidence
from tellapart.selection.alternatives import RunnerUp
from tellapart.selection.by_evidence import EXACT, best_of, find_runner_up
from tellapart.strs.contract import Control
from tellapart.strs.problem import SparseRatio


def samples(seed, n_columns=8):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(300, 1))
    values = 0.7 * common + rng.normal(size=(300, n_columns))
    values[:140, :5] += rng.normal(0.4, 0.2, 5)
    return values[:140], values[140:]


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_second_best_of_all_supports(seed):
    data = read_samples(*samples(seed))
    evidence = gather_evidence(data, 3, rng=np.random.default_rng(0))
    best = best_of(evidence, 3, Control(gap=1e-9), EXACT)
    settled, found = find_runner_up(data.names, evidence, best, 3)
    assert settled is best
    count = evidence.n_columns
    values = {}
    for support in combinations(range(count), 3):
        part = np.ix_(support, support)
        problem = SparseRatio(evidence.shared[part], evidence.strengths[list(support)], 3, True)
        values[support] = ta.strs.solve(problem).value
    del values[tuple(np.flatnonzero(best.z).tolist())]
    assert not evidence.groups
    assert found.share == pytest.approx(max(values.values()) / best.value, abs=1e-4)
    assert found.share == max(found.without.values()) <= 1
    assert set(found.left_out) <= set(found.without)
    assert not set(found.variables) & set(found.left_out)


@pytest.mark.parametrize("seed", range(2))
def test_a_better_choice_that_is_found_is_returned(monkeypatch, seed):
    expected = ta.select_variables(*samples(seed), 3)

    def ends_early(problem, solver, **settings):
        """Return the weakest variable, as if time had run out, beside a bound that holds."""
        found = ta.strs.solve(problem, solver=solver, **settings)
        if solver != EXACT:
            return found
        z = np.zeros(problem.n_columns)
        z[np.argmin(problem.a)] = 1.0
        return replace(found, z=z, support=np.flatnonzero(z), value=problem.value(z))

    monkeypatch.setattr("tellapart.selection.by_evidence.solve", ends_early)
    selection = ta.select_variables(*samples(seed), 3)
    assert selection.variables == expected.variables
    assert selection.value == pytest.approx(expected.value, rel=1e-3)
    assert selection.value <= selection.upper_bound
    assert np.flatnonzero(selection.z).tolist() == selection.support.tolist()
    assert set(selection.runner_up.without) == set(selection.variables)
    assert selection.runner_up.share <= 1
    assert selection.status == "optimal"


def test_it_is_described_and_stored():
    selection = ta.select_variables(*samples(0), 3)
    (line,) = [line for line in selection.summary().splitlines() if "Runner-up" in line]
    assert line.startswith("Runner-up subset (proved): ")
    assert "% of the criterion" in line
    stored = json.loads(json.dumps(selection.to_dict()))["runner_up"]
    assert stored["variables"] == list(selection.runner_up.variables)
    assert stored["proved"] is True
    assert set(stored["without"]) == set(selection.variables)


def test_a_page_and_a_test_show_it():
    result = ta.two_sample_test(*samples(0), n_permutations=99, random_state=0)
    text = result.selection.runner_up.description()
    assert text in result.summary()
    assert text in result.to_html(stability=False)


def test_where_there_is_no_other():
    x, y = samples(0)
    assert ta.select_variables(x[:, :1], y[:, :1], 1).runner_up is None
    assert ta.select_variables(x, y, 2, kernel="linear").runner_up is None
    every = ta.select_variables(x, y, 8).runner_up
    assert every.taken_in == ()
    assert "the same without" in every.description()


def test_shares_that_are_nearly_all():
    near = dict.fromkeys("abc", 0.99951)
    text = RunnerUp(("d", "b", "c"), 0.99951, ("a",), ("d",), near).description()
    assert "d instead of a, with 99.95 % of the criterion" in text
    assert text.endswith("; dropping any one of the 3 costs at most 1 %")
    some = RunnerUp(("d", "b", "c"), 0.995, ("a",), ("d",), {**near, "c": 0.9}).description()
    assert "; dropping any one of 2 of the 3 costs" in some
