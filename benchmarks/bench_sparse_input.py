"""What a sparse sample costs: time and memory of the whole test, beside the same numbers dense.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_sparse_input.py

10,000 + 10,000 rows of counts, 5 % of them not 0, in 1,000 and 5,000 columns of which 20 differ;
10 variables, λ = 0.1, 999 permutations, one thread. Each run has a process of its own: "peak" is
the most memory that process held during the test, less what it held before (Python, its libraries
and the input itself), as Linux counts it. Writes benchmarks/results/sparse_input.md and .csv.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse

import tellapart as ta
from store import store, table

ROWS, DENSITY, DIFFERENT = 10_000, 0.05, 20


def counts(n_columns: int, density: float, seed: int) -> sparse.csr_array:
    """Return counts of at least 1 at random places."""
    rng = np.random.default_rng(seed)
    return sparse.random_array(
        (ROWS, n_columns),
        density=density,
        format="csr",
        rng=rng,
        data_sampler=lambda size: rng.poisson(2, size) + 1.0,
    )


def pair(n_columns: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return two samples that differ in the first columns."""
    more = sparse.hstack(
        [counts(DIFFERENT, 0.3, 2), sparse.csr_array((ROWS, n_columns - DIFFERENT))]
    )
    return counts(n_columns, DENSITY, 0), (counts(n_columns, DENSITY, 1) + more).tocsr()


def held(field: str) -> float:
    """Return VmRSS, the memory this process holds, or VmHWM, the most it has held, in MB."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise OSError(f"/proc/self/status has no {field}")


def measure(form: str, n_columns: int) -> dict[str, object]:
    """Run one test in this process."""
    warm = counts(50, DENSITY, 3)
    ta.two_sample_test(
        warm[:5000], warm[5000:], method="split", n_variables=1, regularization=0.1, random_state=0
    )
    x, y = pair(n_columns)
    size = sum(m.data.nbytes + m.indices.nbytes + m.indptr.nbytes for m in (x, y))
    if form == "dense":
        x, y = x.toarray(), y.toarray()
        size = x.nbytes + y.nbytes
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forget the most so far
    before, start = held("VmRSS"), time.process_time()
    result = ta.two_sample_test(
        x, y, method="split", n_variables=10, regularization=0.1, random_state=0
    )
    seconds, peak = time.process_time() - start, held("VmHWM") - before
    assert result.reject
    return {
        "columns": n_columns,
        "input": form,
        "size of input (MB)": f"{size / 1e6:.0f}",
        "processor seconds": f"{seconds:.1f}",
        "peak beyond the input (MB)": f"{peak:.0f}",
        "first variables": " ".join(result.variables[:3]),
    }


def main() -> None:
    """Measure every size and form, each in a process of its own, and store the table."""
    rows = []
    for n_columns in (1_000, 5_000):
        for form in ("sparse", "dense"):
            command = [sys.executable, __file__, form, str(n_columns)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append(json.loads(done.stdout))
    text = (
        "# A sparse sample beside the same sample dense\n\n"
        f"{ROWS:,} + {ROWS:,} rows, {DENSITY:.0%} not 0, 10 variables, λ = 0.1, 999 permutations, "
        "one thread; `python benchmarks/bench_sparse_input.py`.\n\n" + table(rows)
    )
    store("sparse_input", text, rows)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
    else:
        main()
