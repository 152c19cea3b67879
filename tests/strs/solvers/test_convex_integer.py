"""The convex integer program: always a bound, with the guarantee the paper proves."""

import subprocess
import sys

import numpy as np
import pytest
from held_clock import stopped_after, stopped_by_progress
from hypothesis import given
from hypothesis import strategies as st
from instances import KINDS, best_value, examples, gram, problem_of, scale_of

from tellapart.errors import InputError, MissingDependencyError
from tellapart.strs import ShiftedFactor, SparseTrustRegion, solve
from tellapart.strs.bounds.l1 import Program, best_threshold, run_scip, solve_socp, tangent_bound
from tellapart.strs.contract import Control
from tellapart.strs.solvers.convex_integer import ConvexInteger


def rho(d):
    return 1 + np.sqrt(d / (d + 1))


def program_of(problem, floor, pieces):
    eigenvalues, vectors = np.linalg.eigh(problem.A)
    return Program.build(eigenvalues, vectors, problem.a, problem.d, floor=floor, pieces=pieces)


def l1_local_maximum(problem, starts=30):
    """Climb zᵀAz + aᵀz over ‖z‖₂ ≤ 1, ‖z‖₁ ≤ √d (A ⪰ 0) from random points."""
    rng = np.random.default_rng(0)
    best = -np.inf
    for _ in range(starts):
        z = rng.normal(size=problem.n_columns)
        for _ in range(50):
            gradient = 2 * problem.A @ z + problem.a
            excess = np.maximum(np.abs(gradient) - best_threshold(gradient, problem.d), 0.0)
            if not excess.any():
                break
            z = np.sign(gradient) * excess / np.linalg.norm(excess)
        if np.abs(z).sum() <= np.sqrt(problem.d) * (1 + 1e-9):
            best = max(best, float(z @ problem.A @ z + problem.a @ z))
    return best


@pytest.mark.parametrize(("size", "d"), [(1, 1), (6, 1), (8, 3), (5, 5)])
def test_bounds_brute_force(size, d):
    for kind in KINDS:
        problem = problem_of(kind, max(size, 2) if kind == "hard case" else size, d)
        solution = solve(problem, ConvexInteger())
        best = best_value(problem)
        assert solution.upper_bound >= best - 1e-12 * scale_of(problem)
        assert solution.value == problem.value(solution.z)
        assert solution.value <= solution.upper_bound
        assert solution.support.shape[0] <= d
        if solution.status == "optimal":
            assert solution.value >= best - 1e-4 * abs(best) - problem.resolution


def test_scale_changes_nothing():
    plain = solve(problem_of("no linear term", 8, 3), ConvexInteger())
    for scale in (1e-8, 1e6):
        scaled = solve(problem_of("no linear term", 8, 3, scale=scale), ConvexInteger())
        assert scaled.upper_bound / scale == pytest.approx(plain.upper_bound, rel=1e-5)


@examples(6)
@given(st.sampled_from(["no linear term", "small linear term", "PSD"]), st.sampled_from([2, 4]))
def test_guarantee_of_the_program(kind, d):
    problem = problem_of(kind, 9, d)
    best = best_value(problem)
    program = program_of(problem, floor=min(best, np.linalg.eigvalsh(problem.A)[-1]), pieces=3)
    if program.curved.shape[0] == 0:
        _, bound = solve_socp(problem.A, problem.a, d, program.floor, Control(), "test")
    else:
        bound = run_scip(program, best, Control(), "test").bound
    assert best <= bound
    assert bound <= rho(d) ** 2 * best + program.interpolation_error + 3e-4 * program.unit


@pytest.mark.parametrize("d", [2, 4])
def test_guarantee_of_the_l1_relaxation(d):
    problem = problem_of("small linear term", 9, d)
    best = best_value(problem)
    climbed = l1_local_maximum(problem)
    assert best - 1e-9 <= climbed <= rho(d) ** 2 * best
    program = program_of(problem, floor=best, pieces=3)
    assert run_scip(program, best, Control(), "test").bound >= climbed


@pytest.mark.parametrize("pieces", [1, 2, 6, 20])
def test_error_is_that_of_the_pieces(pieces):
    # d = D: the region is the ball, and the program is the trust region problem plus the error
    # of the interpolation. This fails without Σ_j η_ij = 1, which the paper leaves out.
    problem = problem_of("PSD", 6, 6)
    best = best_value(problem)
    program = program_of(problem, np.linalg.eigvalsh(problem.A)[2:4].mean(), pieces)
    assert program.curved.shape[0] == 3
    bound = run_scip(program, 0.0, Control(), "test").bound
    assert best <= bound <= best + program.interpolation_error + 3e-4 * program.unit
    np.testing.assert_allclose(program.reach, 1.0)


def test_shift_moves_the_value_only():
    problem = problem_of("indefinite", 7, 3)
    shifted = SparseTrustRegion(problem.A + 5 * np.eye(7), problem.a, 3)
    floor = np.linalg.eigvalsh(problem.A)[-1] - 0.8
    plain = run_scip(program_of(problem, floor, 3), floor - 100, Control(), "test").bound
    moved = run_scip(program_of(shifted, floor + 5, 3), floor - 95, Control(), "test").bound
    assert moved - 5 == pytest.approx(plain, rel=1e-5)


def test_pieces_follow_the_accuracy():
    problem = problem_of("no linear term", 8, 3)
    eigenvalues, vectors = np.linalg.eigh(problem.A)
    for accuracy in (1e-9, 0.05, 10.0):
        program = Program.build(
            eigenvalues, vectors, problem.a, 3, floor=1.0, pieces=None, accuracy=accuracy
        )
        assert program.pieces in (1, 8) or program.interpolation_error <= accuracy


def test_cone_program_is_one_step_and_nearly_tight():
    problem = problem_of("NSD", 8, 3)
    solution = solve(problem, ConvexInteger())
    assert solution.iterations == 1
    # No point of the region does better than the bound by more than the solver's accuracy.
    z, bound = solve_socp(
        problem.A, problem.a, 3, np.linalg.eigvalsh(problem.A)[-1], Control(), "test"
    )
    top = np.linalg.eigvalsh(problem.A)[-1]
    reached = top - z @ (top * np.eye(8) - problem.A) @ z + problem.a @ z
    assert reached == pytest.approx(bound, rel=1e-6)


def test_tangent_bounds_at_any_point():
    problem = problem_of("indefinite", 7, 3)
    top = np.linalg.eigvalsh(problem.A)[-1]
    best = best_value(problem)
    rng = np.random.default_rng(0)
    for length in (0.0, 0.1, 1.0, 10.0):
        u = length * rng.normal(size=7)
        assert tangent_bound(problem.A, problem.a, 3, top, u) >= best


def test_low_rank_with_few_directions_beats_the_spectrum():
    rng = np.random.default_rng(2)
    problem = SparseTrustRegion(gram(rng, 20, 2), np.zeros(20), 4)
    solution = solve(problem, ConvexInteger())
    assert solution.upper_bound < 0.95 * np.linalg.eigvalsh(problem.A)[-1]


def test_factor_and_matrix_agree():
    rng = np.random.default_rng(1)
    B, a = rng.normal(size=(4, 9)), rng.normal(size=9)
    dense = solve(SparseTrustRegion(0.3 * np.eye(9) - B.T @ B, a, 3), ConvexInteger())
    factor = solve(SparseTrustRegion(ShiftedFactor(0.3, B), a, 3), ConvexInteger())
    assert factor.upper_bound == pytest.approx(dense.upper_bound, rel=1e-7)


def test_time_limit():
    rng = np.random.default_rng(0)
    problem = SparseTrustRegion(gram(rng, 40), np.zeros(40), 8)
    for control in (stopped_after(0), stopped_after(60), stopped_by_progress()):
        solution = ConvexInteger(pieces=20).solve(problem, control)
        assert solution.status == "time_limit"
        assert solution.upper_bound >= solution.value


def test_interrupt_returns_what_is_proved():
    rng = np.random.default_rng(0)
    problem = SparseTrustRegion(gram(rng, 40), np.zeros(40), 8)

    def press(iterations, value, bound):
        raise KeyboardInterrupt

    solution = solve(problem, ConvexInteger(pieces=20), progress=press)
    assert solution.status == "feasible"
    assert solution.upper_bound >= solution.value


def test_bad_settings():
    problem = problem_of("PSD", 6, 2)
    with pytest.raises(InputError, match="pieces"):
        ConvexInteger(pieces=0)
    with pytest.raises(InputError, match="at most 5 variables; got D = 6"):
        solve(problem, ConvexInteger(largest=5))


@pytest.mark.parametrize("module", ["clarabel", "pyscipopt"])
def test_missing_dependency(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=r"tellapart\[solvers\]"):
        solve(problem_of("PSD", 6, 2), ConvexInteger())


def test_a_failure_inside_scip_leaves_the_cone_programs_bound(monkeypatch):
    monkeypatch.setattr("tellapart.strs.bounds.l1._run", lambda *_: True)
    problem = problem_of("no linear term", 8, 3)
    solution = solve(problem, ConvexInteger())
    assert best_value(problem) <= solution.upper_bound
    top = np.linalg.eigvalsh(problem.A)[-1]
    assert solution.upper_bound <= top * (1 + 1e-6)
    assert solution.status == "feasible"


SPEAKING = """
import numpy as np
from tellapart.strs import SparseTrustRegion, solve
from tellapart.strs.solvers.convex_integer import ConvexInteger
import tellapart.strs.bounds.l1 as model

def press(*_):
    raise KeyboardInterrupt

B = np.random.default_rng(0).normal(size=(40, 40))
solve(SparseTrustRegion(B[:9, :9].T @ B[:9, :9], np.zeros(9), 3), ConvexInteger(pieces=4))
solve(SparseTrustRegion(B.T @ B, np.zeros(40), 8), ConvexInteger(pieces=20), progress=press)
# A reduced-cost tolerance that SCIP refuses: it fails, and says so at length.
model.REDUCED_COST = -1.0
try:
    solve(SparseTrustRegion(B.T @ B, np.zeros(40), 8), ConvexInteger(pieces=20))
except ValueError:
    pass
else:
    raise AssertionError("SCIP took a negative tolerance")
"""


def test_scip_prints_nothing_even_when_it_fails():
    run = subprocess.run([sys.executable, "-c", SPEAKING], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
