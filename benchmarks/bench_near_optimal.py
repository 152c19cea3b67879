"""All near-optimal supports against enumeration, on small problems of every kind.

    python benchmarks/bench_near_optimal.py            # 1,000 problems, about 3 minutes
    python benchmarks/bench_near_optimal.py 100        # fewer

Each problem has 4 to 9 variables. `strs.near_optimal` names the minimal supports of at most d
variables within some relative distance of the best, and `strs.next_best` the runner-up; beside
them every support of at most d variables is solved by itself. A problem fails if a support is
missing or too many, if the answer is not said to be complete, or if the runner-up is another one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from store import store, table
from tellapart.budget import current_budget, using_budget
from tellapart.strs import NearOptimal, SparseRatio, SparseTrustRegion, near_optimal, next_best
from tellapart.strs.problem import polish

Problem = SparseTrustRegion | SparseRatio
WITHIN = (0.0, 0.001, 0.01, 0.05, 0.2)


def _matrix(rng: np.random.Generator, size: int, kind: str) -> np.ndarray:
    B = rng.normal(size=(size, size))
    if kind == "low rank":
        B = rng.normal(size=(2, size))
    if kind == "duplicated":
        B[:, size // 2 :] = B[:, : size - size // 2] + 1e-3 * rng.normal(
            size=(size, size - size // 2)
        )
    if kind == "indefinite":
        return (B + B.T) / 2
    if kind == "ties":
        return -np.full((size, size), 0.5) - np.eye(size)
    sign = 1 if kind == "PSD" else -1
    return sign * B.T @ B / B.shape[0]


MATRICES = ("PSD", "NSD", "indefinite", "low rank", "duplicated", "ties")
LINEAR = {"none": 0.0, "small": 0.05, "large": 1.0, "dominant": 30.0}
FORMS = ("signed", "nonnegative", "ratio", "nonnegative ratio")


@dataclass(frozen=True)
class Case:
    """A problem and how near to the best its supports are to be."""

    name: str
    problem: Problem
    within: float
    by_branching: bool

    def answer(self) -> NearOptimal:
        """Return the near-optimal supports; `by_branching`, even few are not visited at once."""
        budget = current_budget()
        if self.by_branching:
            budget = replace(budget, visited_supports_work=0)
        with using_budget(budget):
            return near_optimal(self.problem, within=self.within, gap=1e-6)


def cases(count: int, seed: int = 0) -> Iterator[Case]:
    """Yield random problems: all forms and matrices in turn, with required variables in some."""
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        form = FORMS[number % len(FORMS)]
        kind = MATRICES[number // len(FORMS) % len(MATRICES)]
        size = int(rng.integers(4, 10))
        d = int(rng.integers(1, min(size, 5) + 1))
        linear = list(LINEAR)[int(rng.integers(len(LINEAR)))]
        a = LINEAR[linear] * (np.ones(size) if kind == "ties" else rng.normal(size=size))
        required = None
        if rng.random() < 0.3:
            required = rng.choice(size, int(rng.integers(1, d + 1)), replace=False)
        A, positive = _matrix(rng, size, kind), form.startswith("nonnegative")
        within = WITHIN[int(rng.integers(len(WITHIN)))]
        branching = number // (len(FORMS) * len(MATRICES)) % 2 == 0
        name = f"{number}: {form}, {kind}, linear term {linear}"
        if form.endswith("ratio"):
            M = A + (0.1 - np.linalg.eigvalsh(A)[0]) * np.eye(size)
            yield Case(name, SparseRatio(M, a, d, positive, required), within, branching)
        else:
            yield Case(name, SparseTrustRegion(A, a, d, positive, required), within, branching)


def enumerate_values(problem: Problem) -> dict[frozenset[int], float]:
    """Return the value of every support of at most d variables with those required."""
    given = frozenset(problem.required.tolist())
    others = [j for j in range(problem.n_columns) if j not in given]
    return {
        given | set(added): _value(problem, sorted(given | set(added)))
        for size in range(problem.d - len(given) + 1)
        for added in combinations(others, size)
        if given or added
    }


def _value(problem: Problem, support: list[int]) -> float:
    index = np.array(support, dtype=np.intp)
    if isinstance(problem, SparseTrustRegion):
        return polish(problem, index)[1]
    block, linear = problem.M[np.ix_(index, index)], problem.a[index]
    gains = linear if problem.nonnegative else np.abs(linear)
    if gains.max() <= 0:
        return float((gains / np.sqrt(np.diag(block))).max())
    if not problem.nonnegative:
        return float(np.sqrt(linear @ np.linalg.solve(block, linear)))
    # Over z ≥ 0: the best of the faces on which the maximiser is positive.
    best = 0.0
    for size in range(1, index.size + 1):
        for face in map(list, combinations(range(index.size), size)):
            z = np.linalg.solve(block[np.ix_(face, face)], linear[face])
            if (z > 0).all():
                best = max(best, float(linear[face] @ z))
    return float(np.sqrt(best))


def minimal_sets(values: dict[frozenset[int], float], threshold: float) -> set[frozenset[int]]:
    """Return the supports that reach the threshold while none of their subsets does."""
    reached = sorted((s for s, value in values.items() if value >= threshold), key=len)
    minimal: list[frozenset[int]] = []
    for support in reached:
        if not any(smaller < support for smaller in minimal):
            minimal.append(support)
    return set(minimal)


def disagreement(case: Case, near: NearOptimal) -> str:
    """Return what is wrong with an answer; empty if nothing is."""
    values = enumerate_values(case.problem)
    best = max(values.values())
    matrix = case.problem.M if isinstance(case.problem, SparseRatio) else case.problem.A
    scale = max(abs(best), 1e-3 * float(np.abs(matrix).max()))
    if abs(best - near.best.value) > 1e-4 * scale:
        return f"best {near.best.value} instead of {best}"
    # Rounding error may decide for supports at the threshold itself.
    margin = 1e-9 * scale
    most = minimal_sets(values, near.threshold - margin)
    least = minimal_sets(values, near.threshold + margin)
    found = {frozenset(support.tolist()) for support in near.supports}
    if most == least and found != most:
        return f"{len(found)} supports instead of {len(most)}"
    for support, value in zip(near.supports, near.values, strict=True):
        if abs(values[frozenset(support.tolist())] - value) > 1e-7 * scale:
            return f"a value of {value}"
    # Where the best value is 0, no relative gap is proved, and nothing relative to it.
    is_proved = near.complete if near.best.status == "optimal" else best <= margin
    if not is_proved or near.upper_bound > near.threshold + margin:
        return f"not complete (reach {near.reach})"
    return _wrong_runner_up(case.problem, near, values, scale)


def _wrong_runner_up(
    problem: Problem, near: NearOptimal, values: dict[frozenset[int], float], scale: float
) -> str:
    runner_up = next_best(problem, near.best)
    chosen = frozenset(near.best.support.tolist())
    others = [value for support, value in values.items() if not chosen <= support]
    if runner_up is None:
        return "no runner-up" if others else ""
    is_proved = runner_up.status == "optimal" or abs(max(others)) <= 1e-9 * scale
    if abs(runner_up.value - max(others)) > 2e-4 * scale or not is_proved:
        return f"a runner-up of {runner_up.value} ({runner_up.status}), not {max(others)}"
    return ""


def main(count: int) -> None:
    """Check so many problems, and store how they went by form."""
    counts = {"problems": 0, "supports": 0, "wrong": 0, "CPU s": 0.0}
    rows: list[dict[str, Any]] = [{"form": form, **counts} for form in FORMS]
    for case in cases(count):
        form = case.name.split(": ")[1].split(",")[0]
        row = rows[FORMS.index(form)]
        started = time.process_time()
        near = case.answer()
        row["CPU s"] += time.process_time() - started
        row["problems"] += 1
        row["supports"] += len(near.supports)
        wrong = disagreement(case, near)
        if wrong:
            row["wrong"] += 1
            print(case.name, f"within {case.within}:", wrong, file=sys.stderr)
    for row in rows:
        row["CPU s"] = round(row["CPU s"], 1)
    text = (
        "# All near-optimal supports against enumeration\n\n"
        f"`python benchmarks/bench_near_optimal.py {count}`: random problems of 4 to 9 variables, "
        "d up to 5,\nwithin 0 to 20 % of the best, 30 % with required variables. `supports` are "
        "the minimal ones found,\n`wrong` the problems in which they, their values, the proof or "
        "the runner-up differ.\n\n"
    )
    store("near_optimal", text + table(rows), rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
