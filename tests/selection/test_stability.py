"""Stability: the choice repeated on halves of the training rows, and on nothing else."""

import itertools
import json
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from designs import NULLS
from tellapart.data.design_labels import DesignArguments
from tellapart.data.reader import read_samples
from tellapart.data.samples import Samples
from tellapart.errors import ConstantColumnWarning, InputError
from tellapart.kernels import Gaussian, Linear
from tellapart.selection import stability


def run(X, Y, **more):
    settings = {
        "method": "split",
        "n_variables": 2,
        "regularization": 0.1,
        "n_permutations": 99,
        "random_state": 0,
    }
    return ta.two_sample_test(X, Y, **(settings | more))


def make_result(shift=(2.0, 2.0, 0.0, 0.0), n=80, **more):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(n, 4)), rng.normal(size=(n + 21, 4)) + shift
    return run(X, Y, **more)


@pytest.fixture(scope="module")
def result():
    return make_result()


def test_clear_signals_are_always_chosen_again(result):
    found = result.stability(20)
    assert found.chosen == {"x0": 20, "x1": 20}
    assert found.others == {}
    assert found.frequency("x0") == 1.0
    assert found.frequency("x3") == 0.0
    assert found.n_resamples == found.asked == 20
    assert found.halves
    # 40 and 51 training rows.
    assert found.n_rows == (20, 26)


def test_every_resample_chooses_as_many(result):
    found = make_result((0.3, 0.3, 0.2, 0.0), nonnegative=False).stability(31)
    assert found.counts.sum() == 2 * 31
    assert set(found.chosen) | set(found.others) <= set(found.names)
    assert not set(found.chosen) & set(found.others)
    assert list(found.others.values()) == sorted(found.others.values(), reverse=True)


def test_a_stand_in_takes_turns():
    """Two columns that say the same: one is chosen, its twin is the first runner-up."""
    rng = np.random.default_rng(0)

    def table(n, mean):
        signal = rng.normal(mean, size=n)
        twin = signal + rng.normal(scale=0.05, size=n)
        return pd.DataFrame({"signal": signal, "twin": twin, "noise": rng.normal(size=n)})

    found = run(table(120, 0.0), table(120, 1.0), n_variables=1).stability(40)
    (chosen, count), (other, rest) = *found.chosen.items(), *found.others.items()
    assert {chosen, other} == {"signal", "twin"}
    assert count + rest == 40
    assert 0 < rest < 40


def test_halves_come_in_pairs_that_share_no_row(result, monkeypatch):
    seen = []
    original = stability.choose

    def watching(samples, *arguments, **more):
        seen.append(samples)
        return original(samples, *arguments, **more)

    monkeypatch.setattr(stability, "choose", watching)
    result.stability(3, random_state=5)
    first, second, third = seen
    for side in ("x", "y"):
        whole = np.sort(getattr(result.train, side), axis=0)
        both = np.vstack([getattr(first, side), getattr(second, side)])
        np.testing.assert_array_equal(np.sort(both, axis=0), whole)
    assert not np.array_equal(third.x, first.x)


def measure(result, n_resamples, **more):
    return stability.measure_stability(
        result.train,
        result.kernel,
        result.selection.support,
        n_variables=2,
        regularization=0.1,
        n_resamples=n_resamples,
        **more,
    )


def test_many_rows_are_cut(result):
    found = measure(result, 4, most_rows=10)
    assert found.n_rows == (10, 10)
    assert not found.halves


def test_the_answer_is_kept_and_repeats(result):
    assert result.stability(6) is result.stability(6)
    assert result.stability(6, random_state=1) is not result.stability(6)
    generator = [result.stability(6, random_state=np.random.default_rng(3)) for _ in range(2)]
    assert generator[0] is not generator[1]
    np.testing.assert_array_equal(generator[0].counts, generator[1].counts)
    again = replace(result, alpha=0.1)
    np.testing.assert_array_equal(again.stability(6).counts, result.stability(6).counts)


def test_no_resample_is_begun_after_the_time_limit(result):
    ticks = itertools.count()
    # One reading before the first resample, then one before each: the seconds 1, 2 and 3.
    found = measure(result, 1000, time_limit=2.5, clock=lambda: next(ticks))
    assert (found.n_resamples, found.asked) == (2, 1000)
    late = measure(result, 1000, time_limit=0.5, clock=lambda: next(ticks))
    assert late.n_resamples == 1
    np.testing.assert_array_equal(found.counts, measure(result, 2).counts)


@pytest.mark.parametrize("name", NULLS)
def test_no_unit_of_a_design_is_in_both_halves(name):
    x, y, asked = NULLS[name](np.random.default_rng(0))
    samples = read_samples(x, y, design=DesignArguments(**asked))
    # Values say which row it is.
    numbered = replace(samples, x=_numbered(samples.x, 0), y=_numbered(samples.y, 1_000))
    first, second = stability._halves(numbered, 2, 10_000, np.random.default_rng(1))
    for side, size in ((0, samples.n_x), (1, samples.n_y)):
        units = samples.design.units[side]
        rows = [(half.x if side == 0 else half.y)[:, 0].astype(int) for half in (first, second)]
        one, other = (units[own - 1_000 * side] for own in rows)
        assert np.intersect1d(one, other).size == 0
        assert 0.25 * size <= one.size <= 0.75 * size


def _numbered(values, first):
    return np.arange(first, first + values.shape[0], dtype=float)[:, np.newaxis] + 0 * values


def test_a_page_goes_by_rows_columns_and_kernel():
    """50 resamples where a choice takes milliseconds, 10 where it takes seconds, never a clock."""

    def plan(n_rows, n_columns, kernel):
        names, kinds = tuple(map(str, range(n_columns))), ("numeric",) * n_columns
        values = np.broadcast_to(np.zeros((1, n_columns)), (n_rows, n_columns))
        return stability.plan_resamples(Samples(values, values, names, kinds), kernel)

    rows = np.random.default_rng(0).normal(size=(4, 1))
    few = Samples(rows, rows + 1, ("a",), ("numeric",))
    linear, gaussian = Linear().fit(few), Gaussian().fit(few)
    assert plan(1_000, 100, linear) == (50, 20_000)
    assert plan(10_000, 100, linear) == (10, 20_000)
    assert plan(200, 10, gaussian) == (50, 500)
    assert plan(1_000, 10, gaussian) == plan(100_000, 10, gaussian) == (12, 500)
    assert plan(100_000, 5_000, gaussian) == (10, 500)


def test_constant_columns_are_not_complained_of_again():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), rng.normal(1.0, size=(40, 3))
    X[:, 1] = Y[:, 1] = 7.0
    with pytest.warns(ConstantColumnWarning):
        result = run(X, Y, n_variables=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = result.stability(4)
    assert found.chosen
    assert set(found.chosen) <= {"x0", "x2"}


@pytest.mark.parametrize("kernel", ["quadratic", "gaussian"])
@pytest.mark.parametrize("regularization", [0.0, 0.1])
def test_rare_flags_may_all_be_constant_in_a_resample(kernel, regularization):
    """A handful of rows carry the flags: some halves of the training rows have none of them."""
    rng = np.random.default_rng(3)
    X, Y = np.zeros((40, 3)), np.zeros((40, 3))
    for column in range(3):
        X[rng.permutation(40)[:2], column] = 1.0
        Y[rng.permutation(40)[:1], column] = 1.0
    result = run(X, Y, kernel=kernel, n_variables=1, regularization=regularization)
    parts = list(stability._halves(result.train, 20, 10_000, np.random.default_rng(0)))
    assert any(not part.x.any() and not part.y.any() for part in parts)
    found = result.stability(20)
    assert found.counts.sum() == found.n_resamples == 20


def test_without_regularization():
    assert make_result(regularization=0.0).stability(4).chosen == {"x0": 4, "x1": 4}


def test_weights_of_at_least_0(result):
    found = measure(result, 6, nonnegative=True)
    assert found.chosen == {"x0": 6, "x1": 6}


def test_it_survives_pickling(result):
    copy = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(copy.stability(8).counts, result.stability(8).counts)


def test_words_and_json(result):
    found = make_result((0.3, 0.3, 0.2, 0.0)).stability(10)
    lines = found.summary().splitlines()
    assert lines[0] == "Selection frequency in 10 resamples:"
    assert len(lines) == 1 + len(found.chosen) + len(found.others)
    assert json.loads(json.dumps(found.to_dict()))["chosen"] == found.chosen
    assert repr(found) == "<Stability of 2 variables over 10 resamples>"


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"n_resamples": 0}, "n_resamples"),
        ({"n_resamples": 2.5}, "n_resamples"),
        ({"time_limit": -1}, "time_limit"),
        ({"random_state": "x"}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"progress": 3}, "progress"),
    ],
)
def test_bad_arguments_are_one_clear_error(result, arguments, name):
    with pytest.raises(InputError, match=name):
        result.stability(**arguments)


def test_without_rows_to_draw_from(result):
    with pytest.raises(InputError, match="does not hold"):
        replace(result, train=None).stability()
    few = replace(result, train=result.train.rows(np.arange(3), np.arange(10)))
    with pytest.raises(InputError, match=r"at least 4 training rows .* got 3 and 10"):
        few.stability()
    with pytest.raises(InputError, match="name"):
        result.stability(2).frequency("nonsense")


def test_progress_is_told(result):
    seen = []
    result.stability(
        2, random_state=77, progress=lambda stage, detail: seen.append((stage, detail))
    )
    assert seen == [("stability", "resample 1 of 2"), ("stability", "resample 2 of 2")]


def test_no_column_may_vary_in_a_resample_of_evidence():
    x, y = np.zeros((40, 2)), np.zeros((40, 2))
    x[0, 0] = y[1, 1] = 1.0
    result = ta.two_sample_test(x, y, n_variables=1, n_permutations=99, random_state=0)
    found = result.stability(12)
    assert found.n_resamples == 12
    assert found.counts.sum() <= 12
