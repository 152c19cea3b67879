"""The master problem against enumeration, and the cut loop on a toy."""

from itertools import combinations

import numpy as np
import pytest
from held_clock import stopped_after

from tellapart.strs.bounds.cut_loop import Master, close_gap
from tellapart.strs.bounds.cuts import Cut
from tellapart.strs.contract import Control


def some_cuts(seed, size, count):
    rng = np.random.default_rng(seed)
    return [Cut(float(rng.normal()), rng.uniform(0, 1, size=size)) for _ in range(count)]


def enumerate_best(cuts, forced, picks):
    free = np.flatnonzero(~forced)
    best, where = -np.inf, None
    for chosen in combinations(free, picks):
        q = forced.astype(float)
        q[list(chosen)] = 1.0
        value = min(cut.at(q) for cut in cuts)
        if value > best:
            best, where = value, q
    return best, where


@pytest.mark.parametrize("seed", range(5))
def test_equals_enumeration(seed):
    forced = np.zeros(8, dtype=bool)
    forced[2] = True
    cuts = some_cuts(seed, 8, 12)
    best, where = enumerate_best(cuts, forced, 3)
    high = max(cut.at(np.ones(8)) for cut in cuts)
    master = Master(forced, 3, best - 1.0, high, cuts[:4], solver="test")
    for cut in cuts[4:]:
        master.add(cut)
    relaxed = master.relaxed(Control())
    answer = master.solve(Control(), tolerance=0.0)
    assert best <= answer.bound <= best + 1e-4
    assert relaxed.bound >= answer.bound - 1e-4
    np.testing.assert_array_equal(answer.points[0], where)


def test_level_makes_it_infeasible_with_a_bound():
    forced = np.zeros(6, dtype=bool)
    cuts = some_cuts(0, 6, 5)
    best, _ = enumerate_best(cuts, forced, 2)
    master = Master(forced, 2, best - 1.0, best + 1.0, cuts, solver="test")
    master.require(best + 0.1)
    for answer in (master.relaxed(Control()), master.solve(Control(), tolerance=0.0)):
        if not answer.points:
            assert best <= answer.bound <= best + 0.11
    assert not master.solve(Control(), tolerance=0.0).points


def test_steep_cuts_lose_nothing():
    # Weights of 1e9 would drown the others in HiGHS; clipped at the bound they say the same.
    forced = np.zeros(5, dtype=bool)
    cuts = [Cut(0.0, np.array([1e9, 1.0, 0.5, 0.2, 0.1])), Cut(1.0, np.full(5, 0.1))]
    best, _ = enumerate_best(cuts, forced, 2)
    master = Master(forced, 2, 0.0, 2.0, cuts, solver="test")
    assert master.unit <= 2.0
    answer = master.solve(Control(), tolerance=0.0)
    assert best <= answer.bound <= best + 1e-5


def test_stopped_at_once_the_bound_still_holds():
    forced = np.zeros(14, dtype=bool)
    cuts = some_cuts(3, 14, 60)
    best, _ = enumerate_best(cuts, forced, 4)
    master = Master(forced, 4, -5.0, 50.0, cuts, solver="test")
    assert master.solve(stopped_after(0), tolerance=0.0).bound >= best


SIZE, PICKS = 7, 3


class Toy:
    """Both sides of the loop: who wants the gap closed, and where cuts come from."""

    rounds, points = 3, 2

    def __init__(self, seed, most=10**6):
        rng = np.random.default_rng(seed)
        self.values = {s: float(rng.uniform(1, 2)) for s in combinations(range(SIZE), PICKS)}
        self.variables = np.arange(SIZE)
        self.control = Control(gap=1e-4)
        self.value, self.open_bound, self.masters, self.most = 0.0, 2.0, 0, most

    @property
    def cutoff(self):
        return self.value + self.control.allowed(self.value)

    @property
    def stopped(self):
        return self.masters >= self.most

    def offer(self, support):
        self.value = max(self.value, self.values[tuple(support)])

    def count_master(self):
        self.masters += 1

    def at(self, q):
        """Return f(q̂) + Σ_{i∉q̂} q_i, valid since no value is above 2; nothing at fractions."""
        if not ((q == 0) | (q == 1)).all():
            return []
        return [Cut(self.values[tuple(np.flatnonzero(q))], 1.0 - q)]

    def run(self):
        seed = Cut(2.0, np.zeros(SIZE))
        master = Master(np.zeros(SIZE, dtype=bool), PICKS, 0.0, 2.0, [seed], solver="test")
        close_gap(self, self, master)
        return max(self.values.values())


@pytest.mark.parametrize("seed", range(3))
def test_closes_the_gap(seed):
    toy = Toy(seed)
    best = toy.run()
    assert toy.value == best
    assert best <= toy.open_bound <= toy.cutoff
    assert toy.masters <= len(toy.values) + 1


@pytest.mark.parametrize("most", [0, 1, 4])
def test_a_limit_leaves_a_valid_bound(most):
    toy = Toy(0, most)
    best = toy.run()
    assert toy.masters == most
    assert toy.value <= best <= toy.open_bound <= 2.0
