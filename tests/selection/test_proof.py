"""A proof after a scan takes about as long as the scan, and goes on where it stopped."""

import pickle
from contextlib import nullcontext

import numpy as np
import pytest

import tellapart as ta
from tellapart.budget import Budget, current_budget, using_budget
from tellapart.data.reader import read_samples
from tellapart.errors import InputError
from tellapart.two_sample import runs
from tellapart.two_sample.settings import Limits, TestSettings
from tellapart.two_sample.two_sample_test import run_test

KINDS = [
    {},
    {"kernel": "linear", "regularization": 0.1, "n_variables": 5},
    {"method": "split", "regularization": 0.5, "n_variables": 4},
]


@pytest.fixture(scope="module")
def tables():
    X, Y, _ = ta.datasets.make_case("mean-shift", 60, n_features=80, random_state=0)
    return X, Y


@pytest.fixture
def no_time(monkeypatch):
    """Give proofs no time."""
    monkeypatch.setattr(runs, "proof_after_scan", lambda _: nullcontext())
    with using_budget(Budget(proof_seconds=1e-9)):
        yield


def compared(tables, **options):
    given = {"n_variables": 8, "n_permutations": 19, "random_state": 0}
    return ta.two_sample_test(*tables, **{**given, **options})


@pytest.mark.parametrize(("seconds", "expected"), [(0.2, 1.0), (7.5, 7.5)])
def test_a_proof_may_take_as_long_as_the_scan_or_a_second(tables, monkeypatch, seconds, expected):
    moments = iter([0.0, 100.0, 100.0 + seconds])
    taken = []
    whole = runs.select_after_scan

    def select(*args, **options):
        taken.append(current_budget().proof_seconds)
        return whole(*args, **options)

    monkeypatch.setattr(runs, "select_after_scan", select)
    settings = TestSettings(n_variables=2, n_permutations=19, random_state=0)
    limits = Limits.begin(None, None, moments.__next__)
    run_test(read_samples(*tables), settings, limits=limits)
    assert taken == [pytest.approx(expected)]


@pytest.mark.parametrize("options", KINDS)
def test_a_proof_goes_on_where_it_stopped(tables, no_time, options):
    stopped = compared(tables, **options)
    assert stopped.selection.status == "time_limit"
    longer = stopped.prove(time_limit=60)
    before, after = stopped.selection, longer.selection
    assert after.status == "optimal"
    assert after.proof is None
    assert after.gap <= 1e-4
    if before.upper_bound is not None:
        assert after.upper_bound <= before.upper_bound
        assert "or result.prove(time_limit=60), may prove more" in before.certificate
    assert after.value >= before.value
    assert after.seconds > before.seconds
    assert set(after.changes) == set(after.variables)
    assert (longer.pvalue, longer.findings) == (stopped.pvalue, stopped.findings)
    assert longer.prove() is not stopped
    if options.get("method") == "split":
        assert longer.variables == stopped.variables
    else:
        with using_budget(Budget(proof_seconds=60.0)):
            at_once = compared(tables, **options)
        assert longer.variables == at_once.variables
        assert after.value == pytest.approx(at_once.selection.value, rel=1e-9)


def test_a_proof_of_many_sets_of_groups_goes_on(no_time):
    rng = np.random.default_rng(3)
    X, Y = (rng.normal(size=(400, 60)) + 0.7 * rng.normal(size=(400, 1)) for _ in range(2))
    Y[:, :20] += rng.normal(0.4, 0.05, size=20)
    for s in (40, 42):
        Y[:, s] = 0.9 * Y[:, s + 1] + 0.3 * Y[:, s]
    stopped = compared((X, Y))
    assert stopped.selection.groups
    assert stopped.selection.status == "time_limit"
    longer = stopped.prove(time_limit=60)
    assert longer.selection.status == "optimal"
    assert longer.selection.upper_bound <= stopped.selection.upper_bound


def test_a_choice_does_not_depend_on_the_clock(tables, no_time):
    short = compared(tables, n_variables=None)
    with using_budget(Budget(proof_seconds=60.0)):
        long = compared(tables, n_variables=None)
    assert short.selection.n_variables == long.selection.n_variables
    assert short.variables == long.variables


def test_a_better_choice_that_is_met_is_described(tables, no_time, monkeypatch):
    # A choice that swaps did not improve.
    by_evidence = "tellapart.selection.by_evidence"
    monkeypatch.setattr(
        f"{by_evidence}._no_worse_than_swaps", lambda _evidence, best, _number: best
    )
    monkeypatch.setattr(
        f"{by_evidence}.find_runner_up", lambda _names, _evidence, best, _d: (best, None)
    )
    monkeypatch.setattr("tellapart.strs.incumbent.Incumbent.improve", lambda *_: 0)
    stopped = compared(tables)
    monkeypatch.undo()
    longer = stopped.prove(time_limit=60)
    assert longer.selection.value > stopped.selection.value
    assert longer.selection.status == "optimal"
    assert set(longer.selection.changes) == set(longer.variables) != set(stopped.variables)
    assert longer.selection.runner_up is not None
    assert np.isfinite(longer.witness(tables[0][:3])).all()


def test_results_with_an_open_proof_can_be_pickled(tables, no_time):
    stopped = pickle.loads(pickle.dumps(compared(tables)))
    assert stopped.prove(time_limit=60).selection.status == "optimal"


def test_the_proof_of_a_gaussian_kernel_goes_on(tables, no_time):
    few = [table[:, :6] for table in tables]
    kernel = ta.kernels.Gaussian("median")
    stopped = compared(few, kernel=kernel, regularization=1.0, n_variables=2)
    assert stopped.selection.upper_bound is None
    assert "may prove more" in stopped.selection.certificate
    longer = pickle.loads(pickle.dumps(stopped)).prove(time_limit=60)
    assert longer.selection.status == "optimal"
    assert longer.variables == stopped.variables
    assert stopped.selection.upper_bound is None


def test_what_cannot_be_proved_says_so(tables):
    by_gaussian = compared(tables, kernel="gaussian", regularization=1.0, n_variables=1)
    with pytest.raises(InputError, match="gaussian kernel, λ = 1 with solver 'annealing' has no"):
        by_gaussian.prove()
    with pytest.raises(InputError, match="at most 30 columns and 3 variables"):
        by_gaussian.prove()
    baseline = ta.baselines.Bonferroni(n_permutations=19).test(*tables)
    with pytest.raises(InputError, match=r"\(Holm\) selects without one"):
        baseline.prove()
    with pytest.raises(InputError, match="time_limit"):
        by_gaussian.prove(time_limit=0)
    proved = compared(tables, n_variables=1)
    assert proved.prove().selection is proved.selection
