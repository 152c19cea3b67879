"""More rows than all pairs of them allow: what a search stands on, and what it says of that."""

import json
from dataclasses import replace

import numpy as np
import pytest
from held_clock import HeldClock, stopped_after
from small_problems import CUBE, RATIONAL, samples_of

import tellapart as ta
from tellapart.kernels import Gaussian, Quadratic
from tellapart.search import Annealing
from tellapart.search.choice import Solvers, choose_weights
from tellapart.search.many_rows import Goal, finished_by_frequencies
from tellapart.search.starts import Scores
from tellapart.statistics.objective import FittedObjective
from tellapart.strs.contract import Control

FAST = Annealing(iterations=0, n_random=0, most_rows=100, most_exact_rows=300, largest_group=2)
# Which way, for each kernel: by frequencies, by features, on drawn rows.
FREQUENCIES, FEATURES, DRAWN = "frequencies", "features", "drawn"
WAYS = [
    (Gaussian("median"), FREQUENCIES),
    (RATIONAL, FREQUENCIES),
    (Quadratic(), FEATURES),
    (CUBE, DRAWN),
]


def data(rows=(900, 700), correlation=0.7, D=8, seed=0):
    rng = np.random.default_rng(seed)
    x, y = (rng.normal(size=(n, D)) for n in rows)
    y[:, 5] = correlation * y[:, 2] + np.sqrt(1 - correlation**2) * y[:, 5]
    return samples_of(x, y)


def goal_of(kernel, samples, control=None, **settings):
    search = replace(FAST, **settings)
    return Goal.of(
        samples,
        kernel.fit(samples),
        1.0,
        nonnegative=True,
        most_rows=search.most_rows,
        most_exact_rows=search.most_exact_rows,
        control=control or Control(),
    )


def chosen(kernel, samples, d=2, control=None, regularization=1.0):
    return choose_weights(
        samples,
        kernel.fit(samples),
        d,
        regularization,
        solvers=Solvers(None, FAST),
        control=control or Control(),
        nonnegative=True,
    )


@pytest.mark.parametrize(("kernel", "way"), WAYS)
def test_each_kernel_goes_its_way(kernel, way):
    goal = goal_of(kernel, data())
    assert (goal.objective.whole is not None) == (way == FEATURES)
    assert (goal.final is not None) == (way == FREQUENCIES)
    assert (goal.n_features is None) == (way == DRAWN)
    assert goal.drawn_rows == ((300, 300) if way == DRAWN else None)
    assert goal.scored.n_x == 900


@pytest.mark.parametrize(("kernel", "way"), WAYS)
def test_few_rows_are_left_alone_and_draw_nothing(kernel, way):
    control = Control(rng=np.random.default_rng(0))
    goal = goal_of(kernel, data((300, 200)), control)
    assert type(goal.objective) is FittedObjective
    assert (goal.final, goal.scored, goal.drawn_rows, goal.n_features) == (None,) * 4
    assert control.rng.integers(2**62) == np.random.default_rng(0).integers(2**62)


@pytest.mark.parametrize("kernel", [Gaussian("median"), RATIONAL, Quadratic()])
def test_the_answer_is_close_to_that_of_all_pairs(kernel):
    samples = data()
    found = chosen(kernel, samples)
    assert np.flatnonzero(found.z).tolist() == [2, 5]
    assert (found.z >= 0).all()
    assert np.linalg.norm(found.z) == pytest.approx(1.0)
    exact = FittedObjective(samples, kernel.fit(samples), 1.0)
    assert found.value == pytest.approx(exact.value(found.z), rel=0.1)
    best = max(
        exact.value(np.cos(t) * np.eye(8)[2] + np.sin(t) * np.eye(8)[5])
        for t in np.linspace(0.1, 1.4, 30)
    )
    assert exact.value(found.z) > 0.97 * best


@pytest.mark.parametrize("kernel", [Gaussian("median"), Quadratic()])
@pytest.mark.long
def test_many_rows_show_a_pair_that_those_searched_on_do_not(kernel):
    found = chosen(kernel, data((20_000, 20_000), 0.2), regularization=0.1)
    assert np.flatnonzero(found.z).tolist() == [2, 5]


@pytest.mark.parametrize("kernel", [Gaussian("median"), Quadratic()])
def test_the_same_seed_gives_the_same_answer(kernel):
    samples = data()
    one, other = (
        chosen(kernel, samples, control=Control(rng=np.random.default_rng(3))) for _ in range(2)
    )
    np.testing.assert_array_equal(one.z, other.z)
    assert one.value == other.value


@pytest.mark.parametrize("kernel", [Gaussian("median"), Quadratic()])
def test_swapped_samples_have_the_same_choice(kernel):
    samples = data()
    swapped = samples_of(samples.y, samples.x)
    one, other = (chosen(kernel, part, regularization=0.1) for part in (samples, swapped))
    np.testing.assert_array_equal(np.flatnonzero(one.z), np.flatnonzero(other.z))
    assert one.value == pytest.approx(other.value, rel=0.05)


def test_wide_tables_and_time_limits_take_fewer_rows(set_budget):
    samples = data((2_000, 1_000))
    clock = HeldClock()
    limited = goal_of(Gaussian(), samples, Control(time_limit=0.5, clock=clock))
    assert limited.drawn_rows == (1_000, 1_000)
    set_budget(feature_entries=8 * 600)
    assert goal_of(Gaussian(), samples).drawn_rows == (600, 600)
    set_budget(feature_entries=8)
    assert goal_of(Gaussian(), samples).drawn_rows == (300, 300)


@pytest.mark.parametrize(("kernel", "way"), WAYS)
def test_a_time_limit_ends_the_whole_choice(kernel, way):
    found = chosen(kernel, data(), d=4, control=stopped_after(3))
    assert found.status == "time_limit"
    assert 1 <= np.count_nonzero(found.z) <= 4


def test_a_time_limit_ends_the_final_weights():
    samples = data()
    goal = goal_of(Gaussian("median"), samples)
    scores = Scores(np.arange(8.0), np.zeros(8), ((2, 5), (1, 3)))
    control = stopped_after(1)
    assert control.out_of_time
    peak, made = finished_by_frequencies(goal.final, scores, [np.eye(8)[0]], 3, control)
    assert (peak.support.tolist(), made) == ([0], 0)


def test_variables_are_exchanged_where_that_helps():
    samples = data()
    goal = goal_of(Gaussian("median"), samples)
    scores = Scores(np.arange(8.0), np.zeros(8), ())
    start = (np.eye(8)[2] + np.eye(8)[0]) / np.sqrt(2)
    scores.single[:] = [1, 0, 1, 0, 0, 0, 0, 0]
    peak, made = finished_by_frequencies(goal.final, scores, [start], 2, Control())
    assert peak.support.tolist() == [2, 5]
    assert made == 1


@pytest.mark.parametrize(("kernel", "way"), WAYS)
def test_a_selection_says_what_it_stands_on(kernel, way):
    samples = data()
    found = ta.select_variables(
        samples.x, samples.y, 2, kernel=kernel, regularization=1.0, solver=FAST, random_state=0
    )
    stored = json.loads(json.dumps(found.to_dict()))
    assert ("300 and 300 rows, drawn at random" in found.summary()) == (way == DRAWN)
    assert ("features of the kernel" in found.summary()) == (way != DRAWN)
    assert stored["drawn_rows"] == ([300, 300] if way == DRAWN else None)
    assert stored["n_features"] == {FREQUENCIES: 512, FEATURES: 10, DRAWN: None}[way]


def test_too_few_exact_rows_are_refused():
    with pytest.raises(ta.InputError, match="most_exact_rows must be an integer of at least 8"):
        Annealing(most_exact_rows=3)
