"""Where to simulate: few tests find the range in which power rises, the others go there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tellapart.planning.power_curve import Point, RisingCurve, fit_curve

Successes = Callable[[Sequence[float]], Sequence[float]]
"""From sizes, one for each test to be made, to whether each succeeded (1 or 0, or a share)."""
SCOUTS = 8
ENOUGH = 7
"""Of the scouts at one size, how many must reject for the next size not to be looked at."""
AIMS = (0.3, 0.5, 0.65, 0.8, 0.9, 0.95)
"""Powers around which the curve is measured."""
FEWEST = 60
ROUNDS = 3


def search_curve(
    successes: Successes,
    alpha: float,
    *,
    first: float,
    most: float,
    n_simulations: int,
    cells: Callable[[float], float],
    budget: float,
) -> RisingCurve:
    """Return a power curve: sizes are doubled until most tests reject, then it is measured there.

    Parameters
    ----------
    successes : callable
        Makes the tests.
    alpha : float
        Power at size 0: the level, for the power of the test.
    first, most : float
        The smallest and the largest size to look at.
    n_simulations : int
        Tests to make, at most, beyond those that look for the range.
    cells : callable
        What a test of a size costs, in cells of its tables.
    budget : float
        Cells that all tests together may take: large ones are fewer, but never fewer than 60.
    """
    points: list[Point] = []
    size = first
    while True:
        hits = sum(successes([size] * SCOUTS))
        points.append(Point(size, SCOUTS, hits))
        if hits >= ENOUGH or size >= most:
            break
        size = min(2 * size, most)
    curve = fit_curve(points, alpha)
    at_goal = min(max(curve.solve(AIMS[-1]), first), most)
    count = int(min(n_simulations, max(budget / cells(at_goal), FEWEST)))
    for _ in range(ROUNDS):
        sizes = sorted({min(max(curve.solve(aim), first), most) for aim in AIMS})
        each = max(count // (ROUNDS * len(sizes)), 1)
        asked = [size for size in sizes for _ in range(each)]
        found = list(successes(asked))
        points += [
            Point(size, each, sum(found[i * each : (i + 1) * each])) for i, size in enumerate(sizes)
        ]
        curve = fit_curve(points, alpha)
    return curve
