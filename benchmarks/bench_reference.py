"""What a stored reference saves: the time and the power of a check beside a two-sample test.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_reference.py [runs]

Normal references and batches of 50 columns. CPU seconds: the median of three, λ and the number of
variables tuned, a batch of 2,000 rows of which three columns have 1.3 times the spread. Power:
`runs` (default 100) references of 10,000 rows and batches of 300 at level 0.05, spread 1.25 times,
λ = 0.1 and three variables. "all rows" is `reference_ratio=None`: only the reading, the split and
the bandwidths of the reference are kept. Writes benchmarks/results/reference.md and reference.csv.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

import tellapart as ta
from store import store, table
from tellapart.arrays import FloatArray

COLUMNS, BATCH, ROWS = 50, 2_000, (20_000, 100_000)
WEAK_ROWS, WEAK_BATCH = 10_000, 300


def drifted(rng: np.random.Generator, n_rows: int, spread: float) -> FloatArray:
    """Return a batch whose first three columns are wider than the reference's."""
    batch = rng.normal(size=(n_rows, COLUMNS))
    batch[:, :3] *= spread
    return batch


def seconds(work: Callable[[], object]) -> float:
    """Return the median CPU time of three runs: other work on the machine does not count."""
    times = []
    for _ in range(3):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return statistics.median(times)


def timings(n_rows: int) -> dict[str, object]:
    """Time the test, and the check with all rows and with ten per row of the batch."""
    rng = np.random.default_rng(0)
    reference, batch = rng.normal(size=(n_rows, COLUMNS)), drifted(rng, BATCH, 1.3)
    whole = ta.compare_to_reference(reference, method="split", reference_ratio=None, random_state=0)
    part = ta.compare_to_reference(reference, method="split", random_state=0)
    test = seconds(lambda: ta.two_sample_test(reference, batch, method="split", random_state=0))
    all_rows, rows_of = seconds(lambda: whole.check(batch)), seconds(lambda: part.check(batch))
    return {
        "reference rows": n_rows,
        "two_sample_test, s": f"{test:.2f}",
        "check, all rows, s": f"{all_rows:.2f}",
        "check, s": f"{rows_of:.2f}",
        "speedup": f"{test / rows_of:.1f}",
    }


def rejections(seed: int) -> list[bool]:
    """Return whether the test, the check with all rows and the check find a weak drift."""
    rng = np.random.default_rng([1, seed])
    reference = rng.normal(size=(WEAK_ROWS, COLUMNS))
    batch = drifted(rng, WEAK_BATCH, 1.25)
    fixed = {
        "method": "split",
        "n_variables": 3,
        "regularization": 0.1,
        "n_permutations": 199,
        "random_state": seed,
    }
    return [
        ta.two_sample_test(reference, batch, **fixed).reject,
        ta.compare_to_reference(reference, reference_ratio=None, **fixed).check(batch).reject,
        ta.compare_to_reference(reference, **fixed).check(batch).reject,
    ]


def main(runs: int) -> None:
    """Measure and store both tables."""
    ta.compare_to_reference(np.random.default_rng(0).normal(size=(99, 2)), method="split").check(
        np.eye(9)[:, :2]
    )
    rows = [timings(n_rows) for n_rows in ROWS]
    test, whole, part = np.mean([rejections(seed) for seed in range(runs)], axis=0)
    text = (
        "# A stored reference: time and power of a check\n\n"
        f"D = {COLUMNS}, a batch of {BATCH} rows, tuned; CPU seconds of one thread; "
        "`python benchmarks/bench_reference.py`.\n\n"
        + table(rows)
        + f"\n\nPower over {runs} weak drifts, {WEAK_ROWS} rows of reference and {WEAK_BATCH} of "
        f"batch: two_sample_test {test:.2f}, check with all rows {whole:.2f}, check {part:.2f}."
    )
    store("reference", text, rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
