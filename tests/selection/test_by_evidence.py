"""The choice by evidence: its proof, its groups, its number, what it says."""

from contextlib import nullcontext
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import nnls

import tellapart as ta
from tellapart.budget import Budget, using_budget
from tellapart.data.samples import Samples
from tellapart.evidence.evidence import gather_evidence
from tellapart.selection.by_evidence import HEURISTIC, best_of, enough_variables
from tellapart.strs import solve
from tellapart.strs.contract import Control


def samples_of(x, y):
    names = tuple(f"x{s}" for s in range(x.shape[1]))
    return Samples(x, y, names, ("numeric",) * x.shape[1])


def mixed_case(seed, n_columns=9):
    """Two shifts, a spread, and a pair whose correlation alone differs."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 120, n_columns))
    y[:, :2] += 0.8
    y[:, 2] *= 1.6
    x[:, 4] = 0.8 * x[:, 3] + 0.6 * x[:, 4]
    return x, y


def slow_best(evidence, d):
    """Visit every set of columns and, for each, every set of the groups inside it."""
    best, count = -np.inf, evidence.n_columns
    for columns in combinations(range(count), d):
        inside = [
            count + g
            for g, group in enumerate(evidence.groups)
            if set(group.columns) <= set(evidence.columns[list(columns)])
        ]
        index = [*columns, *inside]
        root = np.linalg.cholesky(evidence.shared[np.ix_(index, index)])
        target = np.linalg.solve(root, evidence.strengths[index])
        _, rest = nnls(root.T, target)
        best = max(best, float(np.sqrt(target @ target - rest**2)))
    return best


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_best_is_that_of_a_slow_search_over_all_sets(d):
    for seed in range(6):
        evidence = gather_evidence(samples_of(*mixed_case(seed)), d, rng=np.random.default_rng(0))
        found = best_of(evidence, d, Control(gap=1e-6))
        expected = slow_best(evidence, d)
        assert found.value == pytest.approx(expected, rel=1e-6)
        assert expected * (1 - 1e-9) <= found.upper_bound <= found.value * (1 + 1e-5)
        assert best_of(evidence, d, Control(), HEURISTIC).value <= expected * (1 + 1e-9)


def test_shifts_spread_and_pair_are_found_together():
    x, y = mixed_case(1, 40)
    found = ta.select_variables(x, y, 5)
    assert found.support.tolist() == [0, 1, 2, 3, 4]
    reasons = dict(zip(found.variables, found.reasons, strict=True))
    assert reasons["x3"] == "dependence on x4"
    assert reasons["x2"] == "spread"
    assert (found.z >= 0).all()
    assert np.linalg.norm(found.z) == pytest.approx(1.0)
    assert found.kernel == "gaussian"
    assert found.status == "optimal"
    assert "x3" in found.summary()
    assert "optimal among all subsets" in found.certificate


def test_copies_of_one_source_do_not_fill_the_places_of_others():
    rng = np.random.default_rng(0)
    sources = rng.normal(size=(2, 150, 3))
    sources[1] += [1.0, 0.8, 0.6]
    noise = rng.normal(size=(2, 150, 21))
    copies = np.repeat(sources, 3, axis=2) + 0.3 * rng.normal(size=(2, 150, 9))
    x, y = np.concatenate([copies, noise], axis=2)
    found = ta.select_variables(x, y, 3)
    assert sorted(s // 3 for s in found.support) == [0, 1, 2]
    assert all(len(others) == 2 for others in found.substitutes.values())
    assert len(found.substitutes) == 3
    assert "is interchangeable with" in found.summary()
    assert found.to_dict()["substitutes"][found.variables[0]]


def test_few_variables_are_enough_where_few_differ():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 200, 20))
    y[:, 5] += 2
    y[:, 6] += 2
    evidence = gather_evidence(samples_of(x, y), 10, rng=np.random.default_rng(0))
    assert enough_variables(evidence, Control()) == 2
    assert ta.two_sample_test(x, y, n_permutations=99, random_state=0).variables == ("x5", "x6")


@pytest.mark.parametrize("seed", range(4))
def test_the_number_is_the_least_of_all_that_are_enough(seed):
    x, y = mixed_case(seed, n_columns=14)
    evidence = gather_evidence(samples_of(x, y), 10, rng=np.random.default_rng(0))
    values = [best_of(evidence, d, Control(), HEURISTIC).value for d in range(1, 11)]
    least = next(d for d in range(1, 11) if values[d - 1] >= 0.95 * values[-1])
    assert enough_variables(evidence, Control()) == least


def test_a_time_limit_leaves_a_proved_bound():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 60, 60)) @ rng.normal(size=(60, 60))
    y += 0.5
    found = ta.select_variables(x, y, 12, time_limit=1e-6)
    assert found.upper_bound >= found.value
    assert found.status in ("time_limit", "optimal")


def test_the_proof_of_wide_tables_is_for_the_candidates():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 50, 60))
    y[:, 7] += 2
    with using_budget(Budget(evidence_candidates=12)):
        found = ta.select_variables(x, y, 2)
    assert 7 in found.support
    assert found.n_candidates == 12
    assert "of the 12 with the most evidence" in found.certificate


def test_constant_columns_are_left_out():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40, 4))
    x[:, 1] = y[:, 1] = 3.0
    y[:, 2] += 2
    with pytest.warns(ta.ConstantColumnWarning, match="x1"):
        found = ta.select_variables(x, y, 4)
    assert 1 not in found.support
    assert found.constant == ("x1",)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "evidence", "kernel": "linear"}, "objective='evidence'"),
        ({"objective": "evidence", "nonnegative": False}, "objective='evidence'"),
        ({"objective": "ratio", "kernel": "gaussian"}, "objective='ratio' needs the linear kernel"),
        ({"objective": "ratio", "regularization": "cv"}, "regularization must be 'auto' or"),
        ({"solver": "sdp"}, "nonnegative=False"),
        ({"objective": "ratio", "solver": "misdp", "nonnegative": False}, "nor ratios"),
    ],
)
def test_what_does_not_go_together_is_refused(settings, message):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20, 3))
    with pytest.raises(ta.InputError, match=message):
        ta.select_variables(x, y, 1, **settings)


def test_the_ratio_and_signed_weights_stay_within_reach():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 60, 8))
    y[:, 2] += 1
    ratio = ta.select_variables(x, y, 2, objective="ratio")
    assert ratio.objective == "ratio"
    assert ratio.regularization == 3.0
    assert ratio.status == "optimal"
    assert 2 in ratio.support
    assert "ratio criterion" in ratio.summary()
    signed = ta.select_variables(x, y, 8, nonnegative=False, regularization=0.1)
    assert signed.z.min() < 0
    assert signed.kernel == "linear"
    assert ta.select_variables(x, y, 8, regularization=0.1).z.min() >= 0


def test_ctrl_c_keeps_the_best_so_far_and_proves_nothing(monkeypatch):
    evidence = gather_evidence(samples_of(*mixed_case(0)), 3, rng=np.random.default_rng(0))
    assert evidence.groups

    def stopped(problem, **given):
        return replace(solve(problem, **given), interrupted=True)

    monkeypatch.setattr("tellapart.selection.by_evidence.solve", stopped)
    found = best_of(evidence, 3, Control())
    assert found.upper_bound is None
    assert found.groups == ()
    assert np.linalg.norm(found.z) == pytest.approx(1.0)


def test_rows_that_were_drawn_are_told():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 3)), rng.normal(1.0, size=(40, 3))
    assert ta.select_variables(x, y, 2).drawn_rows is None
    with using_budget(Budget(evidence_rows=50)):
        found = ta.select_variables(x, y, 2, random_state=0)
    assert found.drawn_rows == (50, 40)
    assert "the rest by 50 and 40 rows, drawn at random." in found.summary()
    assert found.to_dict()["drawn_rows"] == [50, 40]


def test_the_number_of_variables_does_not_depend_on_the_clock(set_budget, monkeypatch):
    first, second = ta.datasets.demo_tables()
    numbers = []
    monkeypatch.setattr("tellapart.two_sample.runs.proof_after_scan", lambda _: nullcontext())
    for seconds in (10.0, 1e-9):
        set_budget(proof_seconds=seconds)
        result = ta.two_sample_test(first, second, n_permutations=19, random_state=0)
        numbers.append(result.selection.n_variables)
    assert numbers == [6, 6]
