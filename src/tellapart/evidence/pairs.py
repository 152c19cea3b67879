"""Pairs of columns: whose dependence differs, whatever the columns do by themselves.

The correlations r of scores by own ranks (`tellapart.evidence.copula`) are compared. With the
influence ψ = ab − r(a² + b²)/2 of a row on r, var(r) = E ψ²/n, so that

    z = (r_x − r_y)/√(v (1/m + 1/n)),   v the mean of E ψ² over both samples,

bent to the tails that few rows give (`normal_tail` with min(m, n)/2 degrees of freedom).
"""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.evidence.copula import CopulaScores
from tellapart.evidence.groups import Group
from tellapart.evidence.mixture import fit_mixture, log_bayes_factor
from tellapart.scan.design_scales import normal_tail
from tellapart.scan.differences import Differences
from tellapart.scan.scores import Singles

KINDS = (
    ("normal", "normal"),
    ("spread", "spread"),
    ("wave", "wave"),
    ("normal", "spread"),
    ("spread", "normal"),
)
# The last two are one kind, seen from either column: which comes first says nothing.
ALIKE = np.array([0, 1, 2, 3, 3])
FEWEST_ROWS = 16
MOST_COLUMNS = 1_000
"""Columns whose pairs are looked at: half a million pairs."""
LEAST_VARIANCE = 1e-3
# The median of |z| of pairs that do not differ: scores of ties and atoms are noisier than they say.
MEDIAN = 0.6745


def find_pairs(
    x: CopulaScores,
    y: CopulaScores,
    columns: IntArray,
    most: int,
    differences: Differences | None = None,
) -> list[Group]:
    """Return the pairs that more likely differ than not, the surest first, `most` at most.

    `columns` are the columns of the samples that the scores stand for. Where the scores are those
    of drawn rows, `differences` has the changes of correlation over all rows. Under a design they
    are all that is judged: rows are not independent of each other.
    """
    if columns.size < 2:
        return []
    first, second = np.triu_indices(columns.size, 1)
    if differences is not None and differences.by_design:
        unknown = np.full(first.size, np.nan)
        changes = differences.correlation_changes(columns[first], columns[second], unknown)
        known = np.flatnonzero(~np.isnan(changes))
        if known.size == 0:
            return []
        first, second, alike = first[known], second[known], ALIKE[:1]
        table = calibrated(changes[np.newaxis, known], None)
    else:
        table = np.array(
            [
                _zscores(x.by_name(a), x.by_name(b), y.by_name(a), y.by_name(b))[first, second]
                for a, b in KINDS
            ]
        )
        table, alike = calibrated(table, min(x.normal.shape[0], y.normal.shape[0]), ALIKE), ALIKE
        if differences is not None:
            table[0] = differences.correlation_changes(columns[first], columns[second], table[0])
    mixture = fit_mixture(log_bayes_factor(table**2), 1.0, alike)
    groups = []
    for place in np.argsort(-mixture.log_odds, kind="stable")[:most]:
        if mixture.log_odds[place] <= 0:
            break
        kind = int(mixture.kind[place])
        s, t = int(first[place]), int(second[place])
        a, b = KINDS[kind]
        product = np.concatenate([side.by_name(a)[:, s] * side.by_name(b)[:, t] for side in (x, y)])
        groups.append(
            Group(
                (int(columns[s]), int(columns[t])),
                float(mixture.log_odds[place]),
                float(table[kind, place]),
                product,
            )
        )
    return groups


def calibrated(table: FloatArray, fewer: int | None, alike: IntArray | None = None) -> FloatArray:
    """Return z-scores with the tails that so few rows give, and no wider than noise in the middle.

    `fewer` are the rows of the smaller sample; None where the z-scores have normal tails already.

    Most pairs and triples do not differ: the median of their |z| tells how noisy they are. Rows of
    the table with one number in `alike` are one kind, and have one noise.
    """
    bent = table if fewer is None else normal_tail(table, fewer / 2)
    kinds = np.arange(len(bent)) if alike is None else alike
    sizes = np.abs(bent)
    noise = np.array([np.median(sizes[kinds == kind]) for kind in kinds])[:, np.newaxis] / MEDIAN
    return np.asarray(bent / np.maximum(noise, 1.0))


def _zscores(ax: Singles, bx: Singles, ay: Singles, by: Singles) -> FloatArray:
    n_x, n_y = ax.shape[0], ay.shape[0]
    r_x, v_x = _correlation(ax, bx)
    r_y, v_y = _correlation(ay, by)
    variance = np.maximum((n_x * v_x + n_y * v_y) / (n_x + n_y), LEAST_VARIANCE)
    return np.asarray((r_x - r_y) / np.sqrt(variance * (1 / n_x + 1 / n_y)))


def _correlation(a: Singles, b: Singles) -> tuple[FloatArray, FloatArray]:
    """Return the correlations of every column of a with every one of b, and E ψ²."""
    n = a.shape[0]
    a2, b2 = a * a, b * b
    r = np.asarray(a.T @ b / n, dtype=np.float64)
    squares = a2.T @ b2 / n
    cubes = ((a2 * a).T @ b + a.T @ (b2 * b)) / n
    fourth_a, fourth_b = (a2 * a2).mean(axis=0), (b2 * b2).mean(axis=0)
    fourths = fourth_a[:, np.newaxis] + fourth_b + 2 * squares
    return r, np.asarray(squares - r * cubes + r * r * fourths / 4, dtype=np.float64)
