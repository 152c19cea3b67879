"""The settings of a plan, checked before any work is done, and how its rows are counted."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tellapart.arguments import check_choice, check_integer, check_number
from tellapart.errors import InputError
from tellapart.permutation.draws import check_attainable
from tellapart.statistics.mmd import effective_size
from tellapart.two_sample.settings import METHODS

MOST_ROWS = 1_000_000
"""Rows beyond which nothing is planned."""
TARGETS = ("test", "named")
"""What the power is of: the test, or naming what differs."""
FEWEST = {"scan": 4, "split": 16}
"""Rows of the smaller sample below which no test of a method is simulated."""


@dataclass(frozen=True)
class Sizes:
    """Samples of m and n = ratio·m rows, by their effective size ñ = 2m·ratio/(1 + ratio).

    >>> Sizes(ratio=2.0).rows(100.0)
    (75, 150)
    >>> Sizes(ratio=2.0).effective(75)
    100.0
    """

    ratio: float
    fewest: int = FEWEST["scan"]

    def rows(self, size: float) -> tuple[int, int]:
        """Return the fewest rows m, n of this effective size or more."""
        m = math.ceil(size * (1 + self.ratio) / (2 * self.ratio) - 1e-9)
        m = max(m, self.fewest, math.ceil(self.fewest / self.ratio))
        return m, max(math.ceil(m * self.ratio - 1e-9), self.fewest)

    def effective(self, n_x: int) -> float:
        """Return ñ of n_x rows of the first sample."""
        return effective_size(n_x, max(round(n_x * self.ratio), 1))

    def rows_within(self, size: float, strength: float = 1.0, most: int = MOST_ROWS) -> int | None:
        """Return rows of the first sample for the size at a strength; None beyond `most`."""
        if strength <= 0 or not math.isfinite(size):
            return None
        rows = self.rows(size / strength**2)[0]
        return rows if rows <= most else None

    @property
    def smallest(self) -> float:
        """The effective size of the smallest samples."""
        return effective_size(*self.rows(0.0))


@dataclass(frozen=True)
class PlanSettings:
    """The settings of a plan, checked when made; see `plan_sample_size`."""

    power: float = 0.8
    alpha: float = 0.05
    method: str = "scan"
    ratio: float | None = None
    n_variables: int | None = None
    confidence: float = 0.9
    n_simulations: int = 240
    n_permutations: int = 999
    most_rows: int = 20_000
    target: str = "test"

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, 0.0, 1.0, open_low=True, open_high=True)
        check_number("power", self.power, 0.0, 1.0, open_low=True, open_high=True)
        if self.power <= self.alpha:
            raise InputError(
                f"power must be above alpha = {self.alpha:g}, which a test of any size has; "
                f"got {self.power:g}"
            )
        check_choice("method", self.method, METHODS)
        check_choice("target", self.target, TARGETS)
        if self.target == "named" and self.method != "scan":
            raise InputError(
                "target must be 'test' with method='split', which names no columns; got 'named'"
            )
        if self.ratio is not None:
            check_number("ratio", self.ratio, 0.01, 100.0)
        if self.n_variables is not None:
            check_integer("n_variables", self.n_variables, 1)
            if self.method == "scan":
                raise InputError(
                    "n_variables must be left out with method='scan', whose p-value does not "
                    f"depend on it; got {self.n_variables}"
                )
        check_number("confidence", self.confidence, 0.5, 1.0, open_high=True)
        check_integer("n_simulations", self.n_simulations, 30)
        check_integer("n_permutations", self.n_permutations, 19)
        check_attainable(self.n_permutations, self.alpha)
        check_integer("most_rows", self.most_rows, 100, MOST_ROWS)
