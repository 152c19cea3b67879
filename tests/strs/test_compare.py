"""Solvers side by side: every name once, honest rows, a readable table."""

import numpy as np
import pytest

from tellapart.errors import InputError
from tellapart.strs import SOLVERS, SparseTrustRegion, compare


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
