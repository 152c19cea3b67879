"""Measure how often the annealed search reaches the best of all supports on small problems.

D = 8, d = 2 and 3, 25 + 30 rows; four kinds of data: a shift, a correlated pair, a product of three
signs, and none at all. The best is by brute force: on every support many random points, the best
few of them polished. 100 instances for each kernel and λ. Writes
benchmarks/results/search_small.{md,csv}.
"""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from store import store, table
from tellapart.data.samples import Samples
from tellapart.kernels import Gaussian, Kernel, Quadratic
from tellapart.search import Annealing
from tellapart.search.sphere import climb
from tellapart.statistics.objective import FittedObjective
from tellapart.strs.contract import Control

FloatArray = NDArray[np.float64]
KINDS = ("shift", "pair", "signs", "null")
N_COLUMNS = 8
ROWS = (25, 30)
INSTANCES = 100
# Random points on every support, and how many of the best are polished.
N_POINTS, N_POLISHED = 100, 3
# The search has reached the best if it is short of it by no more than this share.
TOLERANCE = 1e-6


def instance(kind: str, rows: tuple[int, int], seed: int) -> Samples:
    """Return two samples of 8 columns that differ in the way said, in columns drawn at random."""
    rng = np.random.default_rng(seed)
    x, y = (rng.normal(size=(n, N_COLUMNS)) for n in rows)
    places = rng.permutation(N_COLUMNS)
    if kind == "shift":
        y[:, places[:3]] += [0.8, 0.6, 0.4]
    elif kind == "pair":
        one, other = places[:2]
        y[:, other] = 0.9 * y[:, one] + np.sqrt(1 - 0.81) * y[:, other]
    elif kind == "signs":
        one, two, three = places[:3]
        y[:, three] = np.abs(y[:, three]) * np.sign(y[:, one] * y[:, two])
    names = tuple(f"x{s}" for s in range(N_COLUMNS))
    return Samples(x, y, names, ("numeric",) * N_COLUMNS)


def values_at(objective: FittedObjective, points: FloatArray) -> FloatArray:
    """Return F at many points at once, from the dense formulas and nothing of the search."""
    samples, kernel = objective.samples, objective.kernel
    m, n = samples.n_x, samples.n_y
    pooled = np.concatenate([samples.x, samples.y])
    used = np.flatnonzero(points.any(axis=0))
    stack = np.stack([kernel.scalars[s].gram(pooled[:, s], pooled[:, s]) for s in used])
    index = np.tensordot(kernel.weight.value(points[:, used]), stack, 1)
    gram = kernel.outer.value(index)
    means = gram[:, :, :m].mean(axis=2) - gram[:, :, m:].mean(axis=2)
    p, q = means[:, :m], -means[:, m:]
    variance = 8 * m * n / (m + n) * (p.var(axis=1) / m + q.var(axis=1) / n)
    within = np.zeros(len(points))
    for part in (slice(0, m), slice(m, None)):
        block = gram[:, part, part]
        n_rows = block.shape[1]
        diagonal = np.trace(block, axis1=1, axis2=2)
        within += (block.sum(axis=(1, 2)) - diagonal) / (n_rows * (n_rows - 1))
    statistic = within - 2 * gram[:, :m, m:].mean(axis=(1, 2))
    return np.asarray(statistic - objective.regularization * variance)


def best_of_all_supports(
    objective: FittedObjective, d: int, *, n_points: int, n_polished: int, seed: int
) -> float:
    """Return the best F over all supports of d variables, each searched from many random points."""
    rng = np.random.default_rng(seed)
    n_columns, best = objective.samples.n_columns, -np.inf
    for support in map(list, combinations(range(n_columns), d)):
        points = np.zeros((n_points + d, n_columns))
        points[:n_points, support] = rng.normal(size=(n_points, d))
        points[np.arange(n_points, n_points + d), support] = 1.0
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        values = values_at(objective, points)
        for k in np.argsort(-values)[:n_polished]:
            peak = climb(objective, points[k], support=np.array(support))
            best = max(best, peak.value)
    return best


def compare(kernel: Kernel, regularization: float, number: int) -> dict[str, object]:
    """Search one instance and hold it to brute force."""
    kind, d = KINDS[number % len(KINDS)], 2 + number // len(KINDS) % 2
    samples = instance(kind, ROWS, seed=number)
    objective = FittedObjective(samples, kernel.fit(samples), regularization)
    best = best_of_all_supports(objective, d, n_points=N_POINTS, n_polished=N_POLISHED, seed=number)
    start = time.perf_counter()
    control = Control(rng=np.random.default_rng(number))
    found = Annealing().search(objective, d, control)
    return {
        "kernel": kernel.name,
        "λ": regularization,
        "kind": kind,
        "d": d,
        "seed": number,
        "best": best,
        "found": found.value,
        "reached": found.value >= best - TOLERANCE * abs(best),
        "seconds": time.perf_counter() - start,
    }


def main() -> None:
    """Search all instances, store each, and count."""
    rows, summary = [], []
    for kernel in (Gaussian(), Quadratic()):
        for regularization in (0.0, 0.5):
            runs = [compare(kernel, regularization, number) for number in range(INSTANCES)]
            rows += runs
            shares = {
                f"{kind}, d = {d}": f"{sum(map(bool, hits))}/{len(hits)}"
                for kind in KINDS
                for d in (2, 3)
                if (hits := [r["reached"] for r in runs if r["kind"] == kind and r["d"] == d])
            }
            summary.append(
                {
                    "kernel": kernel.name,
                    "λ": regularization,
                    "reached": f"{sum(bool(r['reached']) for r in runs)}/{len(runs)}",
                    **shares,
                    "seconds": f"{np.mean([float(str(r['seconds'])) for r in runs]):.2f}",
                }
            )
    text = f"""# Annealed search against brute force

D = {N_COLUMNS}, {ROWS[0]} + {ROWS[1]} rows. "Reached" counts instances in which F of
the search is short of the best of all supports by no more than {TOLERANCE:g} of it;
"seconds" are for one search. Brute force polishes the best {N_POLISHED} of {N_POINTS} random
points on every support.

{table(summary)}
"""
    store("search_small", text, rows)


if __name__ == "__main__":
    main()
