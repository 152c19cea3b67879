import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm

import tellapart as ta
from tellapart.data.reader import read_samples
from tellapart.planning.named_effects import NamedEffects
from tellapart.scan.scan import scan

QUICK = {"n_simulations": 45, "n_permutations": 39, "random_state": 0}


@pytest.fixture(scope="module")
def named():
    return ta.plan_sample_size(effects={"location": 1.0}, n_columns=3, **QUICK)


@pytest.fixture(scope="module")
def clear():
    rng = np.random.default_rng(0)
    return ta.plan_sample_size(rng.normal(size=(30, 3)), rng.normal(size=(60, 3)) + 0.9, **QUICK)


@pytest.fixture(scope="module")
def empty():
    rng = np.random.default_rng(3)
    return ta.plan_sample_size(rng.normal(size=(30, 3)), rng.normal(size=(30, 3)), **QUICK)


def test_rows_for_a_named_effect(named):
    assert 12 < named.n_x < 60
    assert named.n_y == named.n_x
    low, high = named.interval
    assert low <= named.n_x <= high
    assert named.predict(named.n_x).power == pytest.approx(0.8, abs=0.03)
    assert named.verdict.startswith(f"{named.n_x} and {named.n_y} rows are predicted")


def test_power_grows_with_rows(named, clear):
    for plan in (named, clear):
        powers = [guess.power for guess in plan.predictions]
        assert powers == sorted(powers)
        assert all(g.low <= g.power + 0.02 and g.power <= g.high + 0.02 for g in plan.predictions)


def test_a_clear_pilot_keeps_its_ratio(clear):
    assert clear.ratio == 2.0
    assert clear.n_y == 2 * clear.n_x
    assert clear.strength.shows_difference
    low, high = clear.interval
    assert low <= clear.n_x <= high
    assert clear.detectable == {}
    assert "Strength of the difference" in clear.summary()


def test_a_pilot_that_shows_nothing_says_so(empty):
    assert not empty.strength.shows_difference
    assert empty.interval[1] is None
    assert empty.verdict.startswith("This pilot cannot say how many rows are needed")
    assert "A shift of 0.5 SD in one column would take" in empty.summary()
    assert empty.predict(10_000).low == pytest.approx(0.05)


def test_a_plan_is_plain_values_and_a_table(named, clear, empty):
    for plan in (named, clear, empty):
        told = json.loads(json.dumps(plan.to_dict()))
        assert told["n_x"] == plan.n_x
        frame = plan.to_frame()
        assert list(frame.columns) == ["n_x", "n_y", "power", "low", "high"]
        assert len(frame) == len(plan.predictions)


def test_the_same_seed_gives_the_same_plan(named):
    again = ta.plan_sample_size(effects={"location": 1.0}, n_columns=3, n_jobs=2, **QUICK)
    assert again.to_dict() == named.to_dict()


def test_effects_on_rows_of_a_table():
    rng = np.random.default_rng(0)
    table = rng.lognormal(size=(80, 3))
    plan = ta.plan_sample_size(table, effects={"location": 1.0}, ratio=0.5, **QUICK)
    assert plan.n_y == pytest.approx(plan.n_x / 2, abs=1)
    assert "Rows drawn from the 80 of X" in plan.description


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_rows_for_flags_are_those_of_a_test_of_proportions(share):
    """0.5 SD added to 0 and 1 would make values that never occur, which a few rows show."""
    table = pd.DataFrame({"flag": np.arange(100) < 100 * share})
    plan = ta.plan_sample_size(table, effects={"location": 0.5}, **(QUICK | {"n_permutations": 99}))
    raised = share + 0.5 * np.sqrt(share * (1 - share))
    variances = share * (1 - share) + raised * (1 - raised)
    needed = (norm.ppf(0.975) + norm.ppf(0.8)) ** 2 * variances / (raised - share) ** 2
    assert 0.75 * needed < plan.n_x < 1.45 * needed


def test_naming_takes_more_rows_than_a_test():
    rows = {
        target: ta.plan_sample_size(
            effects={"location": 0.9},
            n_columns=6,
            n_differing=3,
            target=target,
            **QUICK,
        )
        for target in ("test", "named")
    }
    assert rows["named"].n_x > 1.3 * rows["test"].n_x
    assert "a probability of 0.8 that what differs is named" in rows["named"].verdict
    assert rows["named"].to_dict()["target"] == "named"


def test_naming_can_be_planned_from_a_pilot():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 3)), rng.normal(size=(30, 3)) + 0.9
    plan = ta.plan_sample_size(x, y, target="named", **(QUICK | {"n_simulations": 30}))
    assert "that some column is named" in plan.verdict


def test_a_split_can_be_planned():
    plan = ta.plan_sample_size(
        effects={"location": 1.5}, n_columns=2, method="split", n_variables=1, **QUICK
    )
    scanned = ta.plan_sample_size(effects={"location": 1.5}, n_columns=2, **QUICK)
    # Half of the rows choose.
    assert plan.n_x > scanned.n_x


def test_rows_with_missing_values_are_left_out_and_told():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 1
    x[:10, 0] = np.nan
    plan = ta.plan_sample_size(x, y, missing="drop-rows", **(QUICK | {"n_simulations": 30}))
    assert plan.pilot_rows == (30, 40)
    assert "10 and 0 rows of the pilot with missing values were left out." in plan.summary()
    with pytest.raises(ta.InputError, match="missing must be one of 'error', 'drop-rows'"):
        ta.plan_sample_size(x, y, missing="pairwise")


def test_progress_is_told():
    stages = set()
    rng = np.random.default_rng(0)
    ta.plan_sample_size(
        rng.normal(size=(20, 2)),
        rng.normal(size=(20, 2)) + 1,
        progress=lambda stage, detail: stages.add(stage),
        **(QUICK | {"n_simulations": 30}),
    )
    assert {"pilot", "strength", "power"} <= stages


@pytest.mark.long
def test_planned_rows_have_the_power():
    plan = ta.plan_sample_size(
        effects={"spread": 2.0}, n_columns=4, n_permutations=99, n_simulations=120, random_state=1
    )
    populations, rejected = NamedEffects({"spread": 2.0}, 4), 0
    for seed in range(150):
        rng = np.random.default_rng([seed, 5])
        samples = read_samples(*populations.draw(plan.n_x, plan.n_y, rng)[:2])
        rejected += scan(samples, n_permutations=99, alpha=1e-9, rng=rng).null.pvalue <= 0.05
    low, high = binomtest(rejected, 150).proportion_ci(0.99)
    assert low - 0.04 < 0.8 < high + 0.04


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "X and Y must be the two samples of a pilot, or effects must be named; got neither"),
        ({"X": np.ones((20, 2))}, "got one sample and no effects"),
        ({"effects": {"location": 1}}, "n_columns must say how many"),
        ({"effects": {"location": 1}, "n_columns": 0}, "n_columns must be an integer"),
        ({"X": np.eye(9), "Y": np.eye(9), "effects": {"location": 1}}, "effects must be left out"),
        ({"X": np.eye(9), "effects": {"location": 1}, "n_columns": 3}, "n_columns must be left"),
        ({"X": np.eye(9), "Y": np.eye(9)}, "at least 10 rows each to plan from"),
        ({"power": 0.04}, "power must be above alpha"),
        ({"power": 1.0}, "power must be a finite number in"),
        ({"target": "columns"}, "target must be one of 'test', 'named'"),
        ({"target": "named", "method": "split"}, "target must be 'test' with method='split'"),
        ({"method": "guess"}, "method must be one of"),
        ({"ratio": 0}, "ratio must be"),
        ({"n_variables": 2}, "n_variables must be left out with method='scan'"),
        ({"alpha": 0.0005}, "n_permutations must be at least 1999"),
        ({"n_simulations": 5}, "n_simulations must be"),
        ({"progress": "yes"}, "progress must be"),
    ],
)
def test_bad_input_is_refused(given, message):
    with pytest.raises(ta.InputError, match=message):
        ta.plan_sample_size(**given)
