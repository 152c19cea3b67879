"""The audit of the solvers: five hundred problems, and that it sees what is false."""

from collections import Counter
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest

from audit.claims import false_claims
from audit.exact import optimum
from audit.families import FAMILIES, draw
from audit.problem import Problem
from audit.run import answer, examine, solvers_for

QUICK = ("branch-and-bound", "brute-force", "local-search", "truncation")
OTHERS = ("sdp", "convex-integer", "outer-approximation", "misdp")


def audit(numbers):
    tally = Counter()
    for number in numbers:
        # Each of the four others in turn: the script runs them all on every problem.
        tally += examine(1, number, (*QUICK, OTHERS[number // len(FAMILIES) % 4]))
    return tally


def test_not_one_claim_of_a_few_is_false():
    tally = audit(range(0, 4 * len(FAMILIES), 9))
    assert [line for line in tally if line.startswith("fault|")] == []
    assert tally["branch-and-bound|optimal"] > 10


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_not_one_claim_is_false(part):
    tally = audit(range(part, 500, 4))
    assert [line for line in tally if line.startswith("fault|")] == []
    assert tally["brute-force|answers"] == 125
    assert tally["branch-and-bound|optimal"] > 110


def test_there_are_many_families_and_each_gives_problems_of_every_kind():
    assert len(FAMILIES) >= 33
    drawn = [draw(0, number) for number in range(4 * len(FAMILIES))]
    assert {problem.family for problem in drawn} == set(FAMILIES)
    for kind in ("nonnegative", "ratio", "required", "factor"):
        assert any(getattr(problem, kind) for problem in drawn)


def test_the_optimum_is_that_of_closed_forms():
    a = np.array([3.0, -4.0, 1.0])
    nothing = np.zeros((3, 3))
    assert optimum(Problem("", nothing, a, 2)) == pytest.approx(5.0, rel=1e-30)
    assert optimum(Problem("", nothing, a, 2, nonnegative=True)) == pytest.approx(
        float(mp.sqrt(10)), rel=1e-15
    )
    diagonal = np.diag([1.0, 2.0, -1.0])
    assert optimum(Problem("", diagonal, np.zeros(3), 3)) == 2
    # The hard case: a misses the top: 2 + ¼·1²/(2 − 1).
    assert optimum(Problem("", diagonal, np.array([1.0, 0, 0]), 2)) == pytest.approx(2.25)
    assert optimum(Problem("", np.diag([1.0, 4.0, 1.0]), a, 2, ratio=True)) == pytest.approx(
        float(mp.sqrt(13)), rel=1e-15
    )


@pytest.mark.parametrize("number", [0, 1, 12, 33, 36])
def test_what_is_false_is_seen(number):
    problem = draw(5, number)
    best = optimum(problem)
    honest = answer(problem, "brute-force", 1e-4, None)
    assert false_claims(problem, honest, best, 1e-4) == []
    below = float(best) - 1e-14 * abs(float(best)) - 1e-200

    def faults(**changes):
        return false_claims(problem, replace(honest, **changes), best, 1e-4)

    assert "false bound" in faults(upper_bound=below)
    assert "z is not of length 1" in faults(z=2 * honest.z)
    assert "value is not the objective at z" in faults(value=honest.value + 1.0)
    assert "optimal without proof" in faults(upper_bound=None, status="optimal")
    worst = np.zeros(problem.size)
    worst[int(np.argmin(np.diag(problem.A) + np.abs(problem.a)))] = 1.0
    poor = {"z": worst, "support": np.flatnonzero(worst), "value": float(problem.value(worst))}
    if float(best) - poor["value"] > 1e-3 * abs(poor["value"]):
        assert "false status" in faults(**poor)


def test_solvers_that_take_plain_problems_only_are_not_asked_others():
    plain = replace(draw(0, 0), nonnegative=False, required=())
    assert set(OTHERS) < set(solvers_for(plain))
    assert not set(OTHERS) & set(solvers_for(replace(plain, nonnegative=True)))
