"""Which p-values so few rows can give, and what would help where none of them is small enough."""

from __future__ import annotations

import math

from tellapart.data.design import Design
from tellapart.errors import warn_caller
from tellapart.permutation.bins import least_binned_pvalue
from tellapart.permutation.design import least_designed_pvalue

# Rows to add to each sample before giving up: far more than any level asks for.
MOST_ADDED = 1000


def warn_of_few_rows(
    n_x: int,
    n_y: int,
    n_permutations: int,
    alpha: float,
    *,
    least: float | None = None,
    held_out: bool = False,
    remedy: str = "",
) -> None:
    """Warn where no p-value can reach the level, and say what would help.

    Parameters
    ----------
    n_x, n_y : int
        Rows whose labels are permuted.
    least : float or None
        The smallest p-value they can give; None where it is that of all permutations.
    held_out : bool
        Whether they are those held out by a split.
    remedy : str
        What else would help, after "or".
    """
    if least is None:
        least = least_binned_pvalue(n_x, n_y, n_permutations)
    if least <= alpha:
        return
    enough = rows_to_reach(n_x, n_y, n_permutations, alpha)
    rows = "held-out rows" if held_out else "rows"
    ways = ["use more rows" + (f" ({enough[0]} and {enough[1]} {rows} would do)" if enough else "")]
    if held_out:
        ways.append("a greater test_size")
    ways.append(f"an alpha of at least {rounded_up(least):g}")
    if remedy:
        ways.append(remedy)
    warn_caller(
        f"{n_x} and {n_y} {rows} have so few permutations that no p-value can fall below "
        f"{least:.3g}, so alpha = {alpha:g} is never reached: "
        f"{', '.join(ways[:-1])} or {ways[-1]}"
    )


def warn_of_few_units(
    design: Design, n_permutations: int, alpha: float, *, symmetric: bool = True
) -> None:
    """Warn where no permutation of a design can give a p-value that reaches the level."""
    least = least_designed_pvalue(design, n_permutations, symmetric)
    if least > alpha:
        warn_caller(
            f"the design ({design.describe()}) has so few permutations that no p-value can fall "
            f"below {least:.3g}, so alpha = {alpha:g} is never reached: use more "
            f"{design.units_name} or an alpha of at least {rounded_up(least):g}"
        )


def rows_to_reach(n_x: int, n_y: int, n_permutations: int, alpha: float) -> tuple[int, int] | None:
    """Return the sizes at which some p-value reaches the level, with as many rows added to each.

    >>> rows_to_reach(2, 2, 999, 0.05), rows_to_reach(5, 5, 999, 0.001)
    ((4, 4), (7, 7))
    """
    for added in range(MOST_ADDED):
        if least_binned_pvalue(n_x + added, n_y + added, n_permutations) <= alpha:
            return n_x + added, n_y + added
    return None


def rounded_up(number: float) -> float:
    """Return a number in (0, 1) rounded up to two digits that count.

    >>> rounded_up(1 / 3), rounded_up(2 / 252), rounded_up(0.1)
    (0.34, 0.008, 0.1)
    """
    digits = 1 - math.floor(math.log10(number))
    # Up, but not for an error of rounding: 0.1 is 10 hundredths.
    scale = 10.0**digits
    return math.ceil(round(number * scale, 6)) / scale
