"""Branch and bound and brute force on thousands of small problems, against a slow oracle.

    .venv/bin/python benchmarks/bench_small_problems.py [--count 2000] [--seed 0]

Nonnegative trust region problems of 13 kinds, and ratios of 10 kinds, signed and nonnegative; one
in four has required variables. The oracle (tests/strs/slow_oracle.py) enumerates faces and climbs
from several starts. Prints how many disagree, have a bound that is too low, or are left open.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from tellapart.strs import Solution, SparseRatio, SparseTrustRegion, solve

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "strs"))
from slow_oracle import (
    RATIO_KINDS,
    TRUST_REGION_KINDS,
    any_ratio,
    any_trust_region,
    nonnegative_optimum,
    ratio_optimum,
)


def faults(solution: Solution, best: float, noise: float) -> list[str]:
    """Return what is wrong with a solution, given the optimum up to some noise."""
    found = []
    if solution.value > best + noise:
        found.append("above the oracle")
    if solution.upper_bound is None or solution.upper_bound < best - 1e-3 * noise:
        found.append("bound too low")
    if solution.value < best - 1.001e-4 * abs(best) - noise:
        found.append("value too low")
    if solution.status != "optimal":
        # At a value of 0 rounding error hides the relative gap.
        found.append("open" if abs(best) > 1e-2 * noise else "open at 0")
    return found


def draw(seed: int, index: int, largest: int) -> tuple[np.random.Generator, int, int, np.ndarray]:
    """Return a generator, D, d and the required variables."""
    rng = np.random.default_rng([seed, index])
    size = int(rng.integers(1, largest + 1))
    d = int(rng.integers(1, min(size, 4) + 1))
    count = int(rng.integers(0, d + 1)) if index % 4 == 0 else 0
    return rng, size, d, rng.choice(size, count, replace=False)


def main() -> None:
    """Solve, compare and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args()
    tally: Counter[str] = Counter()
    for index in range(settings.count):
        rng, size, d, required = draw(settings.seed, index, 7)
        A, a = any_trust_region(rng, size, index % TRUST_REGION_KINDS)
        best = nonnegative_optimum(A, a, d, rng, required.tolist())
        noise = 1e-9 * float(np.abs(A).max() + np.abs(a).max())
        for name in ("brute-force", "branch-and-bound"):
            solution = solve(SparseTrustRegion(A, a, d, True, required), name)
            tally.update(f"z ≥ 0, {name}: {fault}" for fault in faults(solution, best, noise))
        rng, size, d, required = draw(settings.seed, index, 9)
        M, a = any_ratio(rng, size, index // 2 % RATIO_KINDS)
        best = ratio_optimum(M, a, d, bool(index % 2), required.tolist())
        for name in ("brute-force", "branch-and-bound"):
            solution = solve(SparseRatio(M, a, d, bool(index % 2), required), name)
            wrong = faults(solution, best, 1e-8 * abs(best))
            tally.update(f"ratio, {name}: {fault}" for fault in wrong)
    print(f"{settings.count} problems of each type, seed {settings.seed}")
    for fault, count in sorted(tally.items()):
        print(f"{count:6d}  {fault}")
    if not tally:
        print("   all proved, none in disagreement")


if __name__ == "__main__":
    main()
