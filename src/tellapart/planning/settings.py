"""The settings of a plan, checked before any work is done."""

from __future__ import annotations

from dataclasses import dataclass

from tellapart.arguments import check_choice, check_integer, check_number
from tellapart.errors import InputError
from tellapart.permutation.labels import check_reach
from tellapart.testing.settings import METHODS

MOST_ROWS = 1_000_000
"""Rows beyond which nothing is planned."""
TARGETS = ("test", "named")
"""What is to be reached with the power wanted."""


@dataclass(frozen=True)
class PlanSettings:
    """The settings of a plan, checked when made; see `plan_sample_size`."""

    power: float
    alpha: float
    method: str
    ratio: float | None
    n_variables: int | None
    confidence: float
    n_simulations: int
    n_permutations: int
    most_rows: int
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
        check_reach(self.n_permutations, self.alpha)
        check_integer("most_rows", self.most_rows, 100, MOST_ROWS)
