"""The cut loop on a toy: f(q) given support by support, each with the cut that is exact there."""

from itertools import combinations

import numpy as np
import pytest

from tellapart.strs.bounds.cut_loop import Master, close_gap
from tellapart.strs.bounds.cuts import Cut
from tellapart.strs.contract import Control

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
