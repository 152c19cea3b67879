import warnings

import numpy as np
import pytest
from held_clock import stopped_after
from instances import KINDS, best_value, gram, indefinite, problem_of, scale_of

from tellapart.budget import Budget, using_budget
from tellapart.strs import ShiftedFactor, SparseTrustRegion, solve
from tellapart.strs import incumbent as tree
from tellapart.strs.incumbent import Incumbent
from tellapart.strs.solvers import branch_and_bound
from tellapart.strs.solvers.branch_and_bound import BranchAndBound

HULL_BOUNDS_ONLY = Budget(visited_supports_work=0, semidefinite_columns=0, enumerated_columns=0)


@pytest.fixture(scope="module", params=["down to leaves", "as shipped"])
def visits(request):
    """Small problems are otherwise solved support by support, or by semidefinite bounds."""
    with using_budget(HULL_BOUNDS_ONLY if request.param == "down to leaves" else Budget()):
        yield


def check(problem, solution, gap=1e-4):
    best = best_value(problem)
    noise = max(1e-11 * scale_of(problem), problem.resolution)
    assert solution.status == "optimal"
    assert solution.value <= best + 1e-12 * scale_of(problem)
    assert solution.value >= best - gap * abs(best) - noise
    assert solution.upper_bound >= best - 1e-13 * scale_of(problem)


@pytest.mark.usefixtures("visits")
@pytest.mark.parametrize(("size", "d"), [(1, 1), (6, 1), (10, 3), (11, 4), (7, 6), (5, 5)])
def test_equals_brute_force(size, d):
    for kind in KINDS:
        problem = problem_of(kind, max(size, 2) if kind == "hard case" else size, d)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check(problem, solve(problem, "branch-and-bound"))


@pytest.mark.usefixtures("visits")
@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e-80, 1e80])
def test_equals_brute_force_at_any_scale(scale):
    for kind in ("PSD", "NSD", "indefinite", "low rank", "ties", "hard case"):
        problem = problem_of(kind, 9, 3, scale=scale)
        check(problem, solve(problem, "branch-and-bound", gap=1e-8), gap=1e-8)


@pytest.mark.usefixtures("visits")
def test_terms_of_different_scale():
    for ratio in (1e-9, 1e9):
        rng = np.random.default_rng(3)
        problem = SparseTrustRegion(ratio * indefinite(rng, 9), rng.normal(size=9), 3)
        check(problem, solve(problem, "branch-and-bound"))


@pytest.mark.usefixtures("visits")
def test_smallest_gap_is_proved():
    for kind in ("PSD", "NSD", "indefinite", "duplicated"):
        problem = problem_of(kind, 10, 4)
        check(problem, solve(problem, "branch-and-bound", gap=1e-9), gap=1e-9)


def test_optimum_of_zero_ends_the_search():
    """Duplicated columns cancel: the optimum is 0, which no relative gap can close or prove."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(200, 60))
    B = np.hstack([half, half])
    problem = SparseTrustRegion(-B.T @ B / 200, np.zeros(120), 5)
    solution = solve(problem, "branch-and-bound")
    assert solution.status == "feasible"
    assert solution.value == pytest.approx(0.0, abs=1e-12)
    assert 0.0 <= solution.upper_bound <= solution.value + problem.resolution


def test_factor_form_equals_dense_form():
    rng = np.random.default_rng(0)
    B, a = rng.normal(size=(6, 14)) / 3, rng.normal(size=14)
    for multiple in (-0.5, 0.0, 2.0):
        factored = SparseTrustRegion(ShiftedFactor(multiple, B), a, 4)
        dense = SparseTrustRegion(multiple * np.eye(14) - B.T @ B, a, 4)
        first = solve(factored, "branch-and-bound", gap=1e-7)
        second = solve(dense, "branch-and-bound", gap=1e-7)
        check(factored, first, gap=1e-7)
        assert first.value == pytest.approx(second.value, rel=1e-7)
        assert first.support.tolist() == second.support.tolist()


@pytest.mark.parametrize("limit", [20, 100])
def test_factor_of_many_variables(limit):
    """The D × D matrix is never formed; bounds agree with the dense path."""
    rng = np.random.default_rng(1)
    B = rng.normal(size=(40, 300)) / 8
    a = 2 * np.abs(rng.normal(size=300)) ** 3
    problem = SparseTrustRegion(ShiftedFactor(0.0, B), a, 6)
    dense = solve(problem, "branch-and-bound")
    fresh = SparseTrustRegion(problem.factor, a, 6)
    with using_budget(Budget(dense_columns=limit, shifted_columns=60)):
        solution = solve(fresh, "branch-and-bound")
    assert "A" not in vars(fresh)
    assert dense.status == solution.status == "optimal"
    assert solution.value <= dense.upper_bound
    assert dense.value <= solution.upper_bound
    assert solution.value == pytest.approx(dense.value, rel=1e-4)


def test_a_principal_direction_that_is_nearly_sparse_is_proved_soon():
    """The hull bound λ_max leaves a gap of a few per cent that no branching closes."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(60, 40))
    rows[:, :8] += 3.0 * rng.normal(size=(60, 1))
    problem = SparseTrustRegion(rows.T @ rows / 60, np.zeros(40), 8)
    with using_budget(HULL_BOUNDS_ONLY):
        root = solve(problem, "branch-and-bound", time_limit=1e-3)
    assert 1e-4 < root.gap < branch_and_bound.LOOSE_ROOT
    solution = solve(problem, "branch-and-bound")
    assert solution.status == "optimal"
    assert solution.support.tolist() == list(range(8))
    assert solution.iterations <= 10


def hard_problem(size=80, d=10):
    """Sparse PCA on noise with a weak linear term: no proof in reach."""
    rng = np.random.default_rng(0)
    return SparseTrustRegion(gram(rng, size), 0.01 * rng.normal(size=size), d)


@pytest.mark.parametrize(("size", "d"), [(80, 10), (120, 40), (100, 90)])
def test_time_limit_is_obeyed(size, d):
    problem = hard_problem(size, d)
    for readings in (0, 3, 30):
        control = stopped_after(readings)
        solution = BranchAndBound().solve(problem, control)
        # Past the limit only the work in hand is finished, and all its loops look at the clock.
        assert control.clock.now < readings + 30
        assert solution.status == "time_limit"
        assert solution.support.shape[0] <= d
        assert solution.value == pytest.approx(problem.value(solution.z))
        assert solution.upper_bound >= solution.value


class TestInterrupt:
    @pytest.fixture(autouse=True)
    def long_search(self):
        with using_budget(HULL_BOUNDS_ONLY):
            yield

    def test_from_the_progress_callback(self):
        problem = hard_problem(12, 4)

        def interrupt(iterations, value, bound):
            raise KeyboardInterrupt

        solution = solve(problem, "branch-and-bound", gap=1e-9, progress=interrupt)
        assert solution.iterations == 1
        assert solution.value <= best_value(problem) <= solution.upper_bound

    @pytest.mark.parametrize(
        "where", ["relax", "fix_variables", "tighten", "Incumbent.offer", "Incumbent.improve"]
    )
    @pytest.mark.parametrize("calls", [1, 5])
    def test_from_inside(self, monkeypatch, where, calls):
        problem = hard_problem(10, 4)
        owner = Incumbent if "." in where else branch_and_bound
        where = where.removeprefix("Incumbent.")
        original = getattr(owner, where)
        # The very first support is needed to have anything to return.
        left = calls + (where == "offer")

        def interrupted(*args, **kwargs):
            nonlocal left
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, where, interrupted)
        solution = solve(problem, "branch-and-bound", gap=1e-9)
        assert solution.support.shape == (4,)
        best = best_value(problem)
        assert solution.value <= best + 1e-12
        assert solution.upper_bound is None or solution.upper_bound >= best

    @pytest.mark.parametrize("calls", [1, 4, 9])
    def test_while_nodes_move(self, monkeypatch, calls):
        """No node is missing from the bound, however unlucky the moment."""
        problem = hard_problem(10, 4)
        left = calls

        def pop(heap):
            nonlocal left
            left -= 1
            taken = original(heap)
            if left == 0:
                raise KeyboardInterrupt
            return taken

        original = tree.heapq.heappop
        monkeypatch.setattr(tree.heapq, "heappop", pop)
        solution = solve(problem, "branch-and-bound", gap=1e-9)
        assert solution.upper_bound is None or solution.upper_bound >= best_value(problem)


@pytest.mark.usefixtures("visits")
def test_bound_never_rises_and_value_never_falls():
    told = []
    problem = hard_problem(12, 5)
    solution = solve(
        problem, "branch-and-bound", gap=1e-9, progress=lambda *state: told.append(state)
    )
    iterations, values, bounds = (np.array(column) for column in zip(*told, strict=True))
    assert iterations.tolist() == list(range(1, solution.iterations + 1))
    assert (np.diff(values) >= 0).all()
    assert (np.diff(bounds) <= 1e-12).all()
    assert (bounds >= best_value(problem) - 1e-12).all()


def test_start_is_used():
    problem = hard_problem()
    start = solve(problem, "local-search")
    solution = BranchAndBound().solve(problem, stopped_after(3), start.support)
    assert solution.value >= start.value - 1e-12


def test_runs_are_repeatable():
    problem = problem_of("indefinite", 12, 4)
    first, second = (solve(problem, "branch-and-bound") for _ in range(2))
    np.testing.assert_array_equal(first.z, second.z)
    assert first.upper_bound == second.upper_bound
    assert first.iterations == second.iterations
