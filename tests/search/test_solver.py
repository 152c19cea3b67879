"""The whole search: as good as brute force on small problems, repeatable, and without time."""

import numpy as np
import pytest
from orthant_oracle import best_in_orthant
from small_problems import KERNELS, SIGNS_MATTER, joint, objective, samples_of

from bench_search_small import KINDS, best_of_all_supports
from tellapart.errors import InputError
from tellapart.kernels import Gaussian, Quadratic
from tellapart.search import Annealing, solver
from tellapart.search import starts as screening
from tellapart.search.starts import Start
from tellapart.statistics.objective import FittedObjective, Objective
from tellapart.strs.contract import Control
from tellapart.threads import one_blas_thread


def search(goal, n_variables, *, seed=0, n_jobs=1, known=(), settings=None, **control):
    return (settings or Annealing()).search(
        goal,
        n_variables,
        Control(rng=np.random.default_rng(seed), **control),
        n_jobs=n_jobs,
        known=known,
    )


def check_point(goal, found, n_variables):
    assert np.linalg.norm(found.z) == pytest.approx(1.0)
    assert np.count_nonzero(found.z) <= n_variables
    assert found.value == pytest.approx(goal.value(found.z), rel=1e-9, abs=1e-13)
    if goal.squares_weights or goal.nonnegative:
        assert (found.z >= 0).all()


@pytest.mark.parametrize("kernel", ["gaussian", "quadratic"])
@pytest.mark.long
def test_the_best_of_all_supports_is_reached(kernel):
    """benchmarks/bench_search_small.py has 400 instances: here are a few."""
    missed = 0
    for number in range(6):
        kind, d = KINDS[number % 4], 2 + number // 4
        price = (0.0, 0.5)[number // 2 % 2]
        goal = objective(kind, kernel, price, rows=(20, 24), seed=number)
        best = best_of_all_supports(goal, d, n_points=40, n_polished=1, seed=number)
        found = search(goal, d, seed=number)
        check_point(goal, found, d)
        missed += found.value < best - 1e-6 * abs(best)
    assert missed == 0


@pytest.mark.parametrize("count", [4, pytest.param(30, marks=pytest.mark.long)])
@pytest.mark.parametrize("regularization", [0.0, 0.5])
def test_the_best_of_the_orthant_is_reached(regularization, count):
    missed, few = 0, Annealing(iterations=5)
    for seed in range(count):
        goal = objective(
            KINDS[seed % 4], "quadratic", regularization, (16, 18), seed, True, n_columns=6
        )
        with one_blas_thread():
            best = best_in_orthant(goal, 3, seed)
        found = search(goal, 3, seed=seed, settings=few)
        check_point(goal, found, 3)
        missed += found.value < best - 1e-6 * abs(best)
    assert missed <= 1


@pytest.mark.parametrize(
    "problems", [((0.1, 3),), pytest.param(((0.0, 3), (0.1, 1)), marks=pytest.mark.long)]
)
@pytest.mark.parametrize("kernel", SIGNS_MATTER)
@pytest.mark.parametrize("kind", KINDS)
def test_a_search_within_the_orthant(kernel, kind, problems):
    few = Annealing(iterations=5)
    for regularization, d in problems:
        upright = objective(kind, kernel, regularization, nonnegative=True)
        found = search(upright, d, settings=few)
        check_point(upright, found, d)
        # A start of the caller's with a negative weight does not lead out of the orthant.
        free = search(objective(kind, kernel, regularization), d, settings=few)
        known = (Start("mine", free.z),)
        check_point(upright, search(upright, d, settings=few, known=known), d)


def test_what_signed_weights_reach_within_the_orthant_is_reached():
    compared = 0
    for seed in range(8):
        upright, signed = (
            objective("shift", "quadratic", 0.0, seed=seed, nonnegative=flag)
            for flag in (True, False)
        )
        free = search(signed, 3, settings=Annealing(iterations=5))
        if (free.z >= 0).all():
            compared += 1
            found = search(upright, 3, settings=Annealing(iterations=5))
            assert found.value >= free.value - 1e-9 * abs(free.value)
    assert compared >= 4


@pytest.mark.parametrize("kernel", ["gaussian", "rational"])
def test_where_only_squares_count_the_flag_changes_nothing(kernel):
    few = Annealing(iterations=5)
    one, other = (
        search(objective("pair", kernel, nonnegative=flag), 3, settings=few)
        for flag in (False, True)
    )
    np.testing.assert_array_equal(one.z, other.z)
    assert one.traces == other.traces


def test_many_rows_and_columns_within_the_orthant():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 50)), rng.normal(size=(90, 50))
    y[:, [7, 33]] += 1.5
    samples = samples_of(x, y)
    goal = FittedObjective(samples, Quadratic().fit(samples), 0.1, nonnegative=True)
    few = Annealing(iterations=3, most_candidates=15, most_rows=40, largest_group=2)
    found = search(goal, 4, settings=few)
    check_point(goal, found, 4)
    assert {7, 33} <= set(np.flatnonzero(found.z))


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads(kernel):
    goal = objective("pair", kernel, seed=2)
    few = Annealing(iterations=8)
    one, again, two = (search(goal, 3, n_jobs=n_jobs, settings=few) for n_jobs in (1, 1, 2))
    for other in (again, two):
        np.testing.assert_array_equal(one.z, other.z)
        assert one.value == other.value
        assert one.traces == other.traces
        assert one.exchanges == other.exchanges


def test_traces_and_progress():
    goal, calls = objective("null"), []
    settings = Annealing(iterations=7)
    found = search(goal, 2, settings=settings, progress=lambda *call: calls.append(call))
    check_point(goal, found, 2)
    assert len(found.traces) >= 1
    for trace in found.traces:
        assert len(trace.accepted) == 7
        assert found.value >= trace.best - 1e-6 * abs(trace.best)
        assert trace.best >= max(trace.values)
    assert len(calls) >= len(found.traces) + 1
    assert all(bound is None for _, _, bound in calls)
    assert found.candidates == 8


def test_without_time_there_is_an_answer_without_a_search():
    rng = np.random.default_rng(0)
    goal = Objective(rng.normal(size=(150, 60)), rng.normal(size=(150, 60)), Gaussian("median"))
    found = search(goal, 10, time_limit=1e-9)
    check_point(goal, found, 10)
    # The limit has passed before the start: no step was taken, no exchange made.
    assert found.traces
    assert found.exchanges == 0
    assert all(trace.accepted == () for trace in found.traces)


def test_a_start_of_the_callers_is_not_lost():
    goal = objective("signs", "gaussian", 0.0)
    best = search(goal, 3)
    bare = Annealing(iterations=0, n_random=0, n_exchanged=0, largest_group=1)
    found = search(goal, 3, settings=bare, known=(Start("mine", best.z),))
    assert found.value >= best.value - 1e-9 * abs(best.value)


@pytest.mark.parametrize("kernel", [Gaussian("median"), Quadratic()])
def test_a_pair_is_found_that_only_differs_jointly(kernel):
    x, y = joint(12, (150, 150), (4, 9), seed=1)
    assert np.flatnonzero(search(Objective(x, y, kernel, 0.1), 2).z).tolist() == [4, 9]


def test_a_triple_is_found_of_which_no_pair_differs():
    x, y = map(np.sign, joint(10, (120, 120), (2, 5, 7), seed=1))
    found = search(Objective(x, y, Gaussian("median", multiplier=0.5), 0.1), 3)
    assert np.flatnonzero(found.z).tolist() == [2, 5, 7]


@pytest.mark.parametrize("kernel", [Gaussian("median"), Quadratic()])
def test_many_columns_are_screened(kernel):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 300)), rng.normal(size=(45, 300))
    y[:, [7, 150, 299]] += 2.0
    goal = Objective(x, y, kernel, 0.1)
    settings = Annealing(iterations=5, most_candidates=20, largest_group=2)
    found = search(goal, 3, settings=settings)
    check_point(goal, found, 3)
    assert set(np.flatnonzero(found.z)) <= {7, 150, 299}
    assert found.candidates < 300


def test_strong_variables_outside_the_first_screen_are_found(monkeypatch):
    """The first screen is made blind: what is missing must come in by its slope."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 60)), rng.normal(size=(60, 60))
    y[:, [30, 45]] += 2.0
    goal = Objective(x, y, Quadratic(), 0.1)

    def blind(objective, scores, n_variables, most, must=()):
        columns = np.arange(10)
        return screening.Screen(columns, objective.columns(columns), 60)

    plain = screening.Screen.of
    monkeypatch.setattr(screening.Screen, "of", blind)
    none = solver.Scores(np.zeros(60), np.eye(60)[0], ())
    monkeypatch.setattr(solver, "score_columns", lambda *_, **__: none)
    found = search(goal, 2, settings=Annealing(iterations=3))
    monkeypatch.setattr(screening.Screen, "of", plain)
    assert set(np.flatnonzero(found.z)) == {30, 45}
    assert found.candidates > 10


@pytest.mark.parametrize("kernel", ["gaussian", "quadratic", "cube"])
@pytest.mark.parametrize("n_variables", [1, 8])
def test_one_variable_and_all_variables(kernel, n_variables):
    goal = objective("shift", kernel)
    found = search(goal, n_variables)
    check_point(goal, found, n_variables)
    if n_variables == 1:
        signs = (1.0,) if goal.squares_weights else (1.0, -1.0)
        values = [goal.value(sign * unit) for unit in np.eye(8) for sign in signs]
        assert found.value == pytest.approx(max(values), rel=1e-9)


def test_duplicated_columns_and_equal_samples():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 3)), rng.normal(loc=[1, 0, 0], size=(25, 3))
    twice = Objective(np.hstack([x, x]), np.hstack([y, y]), Gaussian("median"), 0.0)
    assert set(np.flatnonzero(search(twice, 2).z)) <= {0, 3}
    same = Objective(x, x, Gaussian("median"), 0.5)
    check_point(same, search(same, 2), 2)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("iterations", -1),
        ("n_random", -1),
        ("n_annealed", 0),
        ("n_exchanged", 1.5),
        ("largest_group", 4),
        ("largest_group", 0),
        ("most_candidates", 1),
    ],
)
def test_bad_settings_are_refused(setting, value):
    with pytest.raises(InputError, match=f"{setting} must be an integer"):
        Annealing(**{setting: value})


def test_samples_of_few_rows():
    rng = np.random.default_rng(0)
    for m, n in ((2, 2), (2, 8)):
        samples = samples_of(rng.normal(size=(m, 5)), rng.normal(size=(n, 5)))
        for kernel in (Gaussian("median"), Quadratic()):
            goal = FittedObjective(samples, kernel.fit(samples), 0.5)
            check_point(goal, search(goal, 3), 3)
