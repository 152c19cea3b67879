"""Every experiment runs at tiny sizes: all methods, rows on file, figures drawn from them."""

import pytest

from reproduction import mnist, power, recovery, table1
from reproduction.methods import METHODS
from reproduction.registry import EXPERIMENTS
from reproduction.runner import reproduce
from reproduction.store import Scale
from tellapart.datasets import CASES

QUICK = Scale(quick=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def run(folder):
    """Run an experiment once, whoever asks; return its rows and files."""
    done = {}

    def once(name):
        if name not in done:
            paths = reproduce(EXPERIMENTS[name], folder, QUICK)
            done[name] = EXPERIMENTS[name].store(folder).rows(), paths
        return done[name]

    return once


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_runs_and_draws(run, name):
    rows, paths = run(name)
    planned = list(EXPERIMENTS[name].plan(QUICK))
    on_file = {tuple(row[key] for key in EXPERIMENTS[name].keys) for row in rows}
    assert on_file == {tuple(keys.values()) for keys in planned}
    assert len(paths) >= 3
    for path in paths:
        assert path.stat().st_size > 0
    assert any(path.suffix == ".png" for path in paths)


def test_full_plans_hold_each_trial_once():
    for experiment in EXPERIMENTS.values():
        planned = [tuple(keys.values()) for keys in experiment.plan(Scale())]
        assert len(planned) == len(set(planned)) > 0
        assert all(len(keys) == len(experiment.keys) for keys in planned)


def test_power_has_a_pvalue_of_every_method(run):
    rows, _ = run("power-n")
    assert {row["method"] for row in rows} == set(METHODS)
    assert all(0 < float(row["pvalue"]) <= 1 for row in rows)


def test_figures_of_power_share_their_rows(run, folder):
    run("power-n")
    before = power.SAMPLE_SIZE.store(folder).rows()
    run("power-d")
    assert power.DIMENSION.store(folder).rows() == before


def test_recovery_counts_what_was_chosen(run):
    rows, _ = run("recovery")
    for row in rows:
        d, true, wrong, missed = int(row["d"]), 2, float(row["FDP"]), float(row["NDP"])
        # At most d are chosen, the share 1 − FDP of them right.
        assert 0 <= wrong <= 1
        assert 1 - d * (1 - wrong) / true - 1e-9 <= missed <= 1
    assert set(recovery.methods(QUICK)) == {row["method"] for row in rows}


def test_table1_finds_no_value_above_the_proved_bound(run):
    rows, _ = run("table1")
    assert all(below >= -1e-4 for below, _ in table1.shortfalls(rows).values())
    assert [line["case"] for line in table1.summary(rows, "corrected")] == [CASES[0]]


def test_mnist_enumerates_the_permutations(run):
    rows, _ = run("mnist")
    null = [row for row in rows if (row["pair"], row["panel"]) == ("0/6", "null")]
    assert len(null) == 252
    assert list(mnist.powers(rows, "digits")) == ["0/6"]


def test_healthcare_names_the_variables_of_each_method(run):
    rows, _ = run("healthcare")
    for row in rows:
        chosen = row["variables"].split()
        standard = METHODS[row["method"]].family == "standard" or "standard" in row["method"]
        assert len(chosen) == 0 if standard else 1 <= len(chosen) <= 5
        assert 0 <= int(row["hits"]) <= int(row["draws"])
