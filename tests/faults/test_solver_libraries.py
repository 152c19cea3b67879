"""Solver libraries that are missing, fail in the middle or lie: an honest status, true bounds."""

import sys
from types import SimpleNamespace

import clarabel
import highspy
import numpy as np
import pyscipopt
import pytest
from instances import problem_of

import tellapart as ta
from tellapart.errors import MissingDependencyError
from tellapart.strs import solve
from tellapart.strs.problem import polish
from tellapart.strs.solvers.misdp import Misdp
from tellapart.strs.solvers.outer_approximation import OuterApproximation

NEEDED = {
    "outer-approximation": ("highspy", "clarabel"),
    "convex-integer": ("clarabel", "pyscipopt"),
}
REAL = clarabel.DefaultSolver
WITH_CLARABEL = ["convex-integer", OuterApproximation(cuts="sdp"), Misdp(relaxation="conic")]


@pytest.fixture(scope="module")
def problem():
    return problem_of("no linear term", 12, 4)


@pytest.fixture(scope="module")
def optimum(problem):
    return solve(problem, "brute-force").value


@pytest.fixture
def poor_start(monkeypatch):
    """Begin far from the optimum, so that a false bound cannot be right by luck."""

    class Poor:
        def solve(self, problem, control, start=None):
            return SimpleNamespace(support=np.array([0, 1, 7, 8]))

    for module in ("outer_approximation", "convex_integer"):
        monkeypatch.setattr(f"tellapart.strs.solvers.{module}.LocalSearch", Poor)
    monkeypatch.setattr("tellapart.strs.incumbent.improve_by_swaps", _no_swaps)


def _no_swaps(problem, support, control, candidates):
    return support, polish(problem, support)[1], 0


def check_honest(solution, optimum):
    """Whatever failed: a feasible point, no bound below the optimum, no false "optimal"."""
    assert solution.support.size <= 4
    assert np.isfinite(solution.value)
    assert solution.value <= optimum * (1 + 1e-12)
    if solution.upper_bound is not None:
        assert solution.upper_bound >= optimum
    if solution.status == "optimal":
        assert solution.value == pytest.approx(optimum, rel=1e-4)


@pytest.mark.parametrize(
    ("solver", "module"), [(name, module) for name, all_ in NEEDED.items() for module in all_]
)
def test_a_missing_library_is_named_before_any_work(monkeypatch, solver, module):
    monkeypatch.setitem(sys.modules, module, None)

    class Unread:
        """Data that must not be looked at yet."""

        def __getattr__(self, name):
            raise AssertionError(f"{name} was looked at")

    with pytest.raises(MissingDependencyError, match=r'pip install "tellapart\[solvers\]"') as hint:
        ta.two_sample_test(
            Unread(), Unread(), method="split", kernel="linear", solver=solver, nonnegative=False
        )
    assert repr(solver) in str(hint.value)
    assert "\n" not in str(hint.value)


def test_a_solver_object_is_asked_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    settings = {"method": "split", "kernel": "linear", "nonnegative": False}
    x = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(MissingDependencyError, match="'misdp' needs clarabel"):
        ta.two_sample_test(x, x[::-1], solver=Misdp(relaxation="conic"), **settings)
    # ADMM needs no library.
    assert ta.two_sample_test(x, x[::-1], solver="misdp", **settings).pvalue > 0


class Panic(BaseException):
    """What Rust code raises through pyo3."""


Panic.__name__ = "PanicException"


def failing_clarabel(fault):
    """Return Clarabel's solver with a fault."""

    class Solver:
        def __init__(self, quadratic, cost, matrix, *rest):
            self.real = REAL(quadratic, cost, matrix, *rest)

        def solve(self):
            if isinstance(fault, BaseException):
                raise fault
            answer = self.real.solve()
            change = {"nan": np.nan, "huge": 1e200, "zero": 0.0, "opposite": -1.0}[fault]
            return SimpleNamespace(
                x=change * np.array(answer.x),
                z=change * np.array(answer.z),
                status=clarabel.SolverStatus.Solved,
                obj_val=-1e6,
                obj_val_dual=-1e6,
            )

    return Solver


@pytest.mark.parametrize("solver", WITH_CLARABEL, ids=["convex-integer", "outer", "misdp"])
@pytest.mark.parametrize(
    "fault", [RuntimeError("no"), Panic("rust"), "nan", "huge", "zero", "opposite"], ids=repr
)
def test_clarabel_that_fails_or_lies(monkeypatch, problem, optimum, solver, fault):
    monkeypatch.setattr(clarabel, "DefaultSolver", failing_clarabel(fault))
    solution = solve(problem, solver, time_limit=20)
    check_honest(solution, optimum)
    assert solution.upper_bound is not None  # own arithmetic needs no help from Clarabel


class RaisingHighs(highspy.Highs):
    def run(self):
        raise RuntimeError("the library is broken")


class FailedHighs(highspy.Highs):
    def run(self):
        return highspy.HighsStatus.kError


class SilentHighs(highspy.Highs):
    """Says that all went well, and did nothing."""

    def run(self):
        return highspy.HighsStatus.kOk


class LyingHighs(highspy.Highs):
    """Claims an optimum that its own points refute."""

    def getInfo(self):  # noqa: N802
        return SimpleNamespace(mip_dual_bound=0.0)


class NanHighs(highspy.Highs):
    def getInfo(self):  # noqa: N802
        return SimpleNamespace(mip_dual_bound=np.nan)

    def getSolution(self):  # noqa: N802
        real = super().getSolution()
        return SimpleNamespace(
            col_value=np.full(len(real.col_value), np.nan),
            row_dual=np.full(len(real.row_dual), np.nan),
        )


class CrowdedHighs(highspy.Highs):
    """Returns points with more variables than are allowed, and lies about linear programs."""

    def getSavedMipSolutions(self):  # noqa: N802
        found = super().getSavedMipSolutions()
        return [SimpleNamespace(col_value=np.ones(len(entry.col_value))) for entry in found]

    def getSolution(self):  # noqa: N802
        real = super().getSolution()
        return SimpleNamespace(
            col_value=np.zeros(len(real.col_value)), row_dual=-np.array(real.row_dual)
        )


@pytest.mark.parametrize("cuts", ["closed-form", "sdp"])
@pytest.mark.parametrize(
    "broken", [RaisingHighs, FailedHighs, SilentHighs, LyingHighs, NanHighs, CrowdedHighs]
)
def test_highs_that_fails_or_lies(monkeypatch, problem, optimum, poor_start, broken, cuts):
    monkeypatch.setattr(highspy, "Highs", broken)
    solution = solve(problem, OuterApproximation(cuts=cuts), time_limit=20)
    check_honest(solution, optimum)
    assert solution.upper_bound is not None  # that of the root


def test_highs_that_is_whole_closes_the_gap(problem, optimum):
    solution = solve(problem, OuterApproximation(cuts="closed-form"))
    assert solution.status == "optimal"
    check_honest(solution, optimum)


@pytest.mark.parametrize("claim", [-1e3, np.nan, 1e30, -1e30])
def test_scip_that_lies(monkeypatch, problem, optimum, poor_start, claim):
    class LyingModel(pyscipopt.Model):
        def getDualbound(self):  # noqa: N802
            return claim

    monkeypatch.setattr(pyscipopt, "Model", LyingModel)
    solution = solve(problem, "convex-integer", time_limit=20)
    check_honest(solution, optimum)
    assert solution.upper_bound is not None  # that of the cone program


def test_memory_that_runs_out_in_a_library_is_not_hidden(monkeypatch, problem):
    monkeypatch.setattr(clarabel, "DefaultSolver", failing_clarabel(MemoryError("no room")))
    with pytest.raises(MemoryError):
        solve(problem, "convex-integer")

    class Exhausted(highspy.Highs):
        def run(self):
            raise MemoryError

    monkeypatch.setattr(highspy, "Highs", Exhausted)
    with pytest.raises(MemoryError, match="HiGHS"):
        solve(problem, OuterApproximation(cuts="closed-form"))
