"""One door to all solvers, and several of them side by side."""

import numpy as np
import pytest
from instances import problem_of

from tellapart.errors import InputError
from tellapart.strs import SOLVERS, ShiftedFactor, SparseTrustRegion, compare, solve
from tellapart.strs.solve import choose
from tellapart.strs.solvers.branch_and_bound import BranchAndBound
from tellapart.strs.solvers.local_search import LocalSearch

PROBLEM = problem_of("indefinite", 6, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"problem": np.eye(3)}, "problem must be a SparseTrustRegion or a SparseRatio"),
        ({"solver": "simplex"}, "solver must be one of 'auto'"),
        ({"solver": None}, "solver must be one of 'auto'"),
        ({"solver": BranchAndBound}, "solver must be one of 'auto'"),
        ({"gap": 0}, r"gap must be a finite number in \[1e-09, 1\); got 0"),
        ({"gap": 1e-10}, r"gap must be a finite number in \[1e-09, 1\)"),
        ({"gap": 1.0}, r"gap must be a finite number in \[1e-09, 1\)"),
        ({"gap": "small"}, "gap must be a finite number"),
        ({"gap": np.nan}, "gap must be a finite number"),
        ({"time_limit": 0}, "time_limit must be a finite number"),
        ({"time_limit": -1}, "time_limit must be a finite number"),
        ({"time_limit": np.inf}, "time_limit must be a finite number"),
        ({"random_state": -1}, "random_state must be"),
        ({"random_state": "seed"}, "random_state must be"),
        ({"progress": 3}, "progress must be callable or None; got int"),
        ({"start": np.zeros(6)}, "start must have between 1 and d = 2 non-zeros; got 0"),
        ({"start": np.ones(6)}, "start must have between 1 and d = 2 non-zeros; got 6"),
        ({"start": np.ones(5)}, "start must be 6 finite numbers"),
        ({"start": [np.nan] * 6}, "start must be 6 finite numbers"),
        ({"start": ["x"] * 6}, "start must be 6 finite numbers; got list"),
    ],
)
def test_bad_input_is_refused_by_name(arguments, message):
    with pytest.raises(InputError, match=message):
        solve(**{"problem": PROBLEM, **arguments})


def test_unknown_solvers_are_answered_with_the_known_ones():
    with pytest.raises(InputError) as caught:
        solve(PROBLEM, "simplex")
    for name in ["auto", *SOLVERS]:
        assert repr(name) in str(caught.value)
    assert str(caught.value).endswith("got 'simplex'")


def test_a_solver_of_your_own():
    mine = LocalSearch(name="mine", candidates=3)
    assert solve(PROBLEM, mine).solver == "mine"


@pytest.mark.parametrize(
    ("size", "d", "name"),
    [(6, 2, "brute-force"), (50, 50, "brute-force"), (30, 5, "branch-and-bound")],
)
def test_auto_says_what_it_picked(size, d, name):
    problem = problem_of("NSD", size, d)
    assert choose(problem) == name
    assert solve(problem).solver == name


def test_seeds_are_accepted():
    for seed in (None, 0, np.random.default_rng(0)):
        assert solve(PROBLEM, "local-search", random_state=seed).support.shape == (2,)


def test_smallest_gap_is_accepted():
    assert solve(PROBLEM, gap=1e-9).status == "optimal"


def test_one_variable():
    solution = solve(SparseTrustRegion([[2.0]], [-3.0], 1))
    assert solution.z.tolist() == [-1.0]
    assert solution.value == 5.0


def test_auto_does_without_a_proof_where_the_first_bound_would_come_too_late():
    matrix = SparseTrustRegion(np.eye(1_500), np.ones(1_500), 3)
    assert choose(matrix) == "branch-and-bound"
    assert choose(matrix, time_limit=60.0) == "branch-and-bound"
    assert choose(matrix, time_limit=0.5) == "local-search"
    factor = SparseTrustRegion(ShiftedFactor(0.0, np.ones((2, 1_500))), np.ones(1_500), 3)
    assert choose(factor, time_limit=0.5) == "branch-and-bound"


@pytest.fixture(scope="module")
def problem() -> SparseTrustRegion:
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((10, 8))
    return SparseTrustRegion(-factor.T @ factor / 10, rng.standard_normal(8), 3)


def test_runs_all_but_brute_force_by_default(problem: SparseTrustRegion) -> None:
    comparison = compare(problem, random_state=0)
    assert list(comparison.solutions) == [name for name in SOLVERS if name != "brute-force"]
    best = comparison["branch-and-bound"].value
    assert comparison.best_bound is not None
    assert all(s.value <= comparison.best_bound for s in comparison)
    assert all(s.value <= best * (1 + 1e-4) for s in comparison)


def test_rows_hold_the_solutions(problem: SparseTrustRegion) -> None:
    comparison = compare(problem, ["truncation", "brute-force"])
    first, second = comparison.rows()
    assert first["solver"] == "truncation"
    assert first["upper_bound"] is None
    assert second["value"] == comparison["brute-force"].value
    assert set(first) == {"solver", "value", "upper_bound", "gap", "seconds", "status"}


def test_prints_one_line_a_solver(problem: SparseTrustRegion) -> None:
    lines = str(compare(problem, ["truncation", "local-search"])).splitlines()
    assert len(lines) == 3
    assert lines[0].split()[:2] == ["solver", "value"]
    assert "–" in lines[1]


def test_no_bound_at_all_is_none(problem: SparseTrustRegion) -> None:
    assert compare(problem, ["truncation"]).best_bound is None


@pytest.mark.parametrize("solvers", ["sdp", ["sdp", "gurobi"], [3]])
def test_bad_solvers_are_refused(problem: SparseTrustRegion, solvers: object) -> None:
    with pytest.raises(InputError, match="solvers must be"):
        compare(problem, solvers)  # type: ignore[arg-type]
