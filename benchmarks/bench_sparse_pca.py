"""Sparse principal components, a = 0: anchors from the literature and bundled data.

    .venv/bin/python benchmarks/bench_sparse_pca.py

Branch and bound on the 13-variable pitprops correlations (optimal values known), and on
covariance and correlation matrices of scikit-learn's bundled data with d = 5 and 10, at most 60 s
each.
Writes benchmarks/results/sparse_pca.{md,csv}.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits

from pitprops import OPTIMA, pitprops
from store import store, table
from tellapart.strs import SparseTrustRegion, solve

LIMIT = 60.0


def problems() -> Iterator[tuple[str, NDArray[np.float64], int, float | None]]:
    """Yield a name, a matrix, d, and the optimal value where the literature knows it."""
    for d, value in OPTIMA.items():
        yield "pitprops, correlation", pitprops(), d, value
    cancer, digits = load_breast_cancer().data, load_digits().data
    digits = digits[:, digits.std(axis=0) > 0]
    products = np.einsum("ni,nj->nij", *(2 * [cancer[:, :12] / cancer[:, :12].std(axis=0)]))
    pairs = products[:, *np.triu_indices(12)]
    for d in (5, 10):
        yield "breast cancer, correlation", np.corrcoef(cancer.T), d, None
        yield "breast cancer, products of 12 columns, correlation", np.corrcoef(pairs.T), d, None
        yield "digits, covariance", np.cov(digits.T), d, None
        yield "digits, correlation", np.corrcoef(digits.T), d, None


def main() -> None:
    """Measure, print and store."""
    solve(SparseTrustRegion(np.corrcoef(load_breast_cancer().data.T), np.zeros(30), 5))
    rows = []
    for name, matrix, d, known in problems():
        problem = SparseTrustRegion(matrix, np.zeros(matrix.shape[0]), d)
        solution = solve(problem, "branch-and-bound", time_limit=LIMIT)
        rows.append(
            {
                "matrix": name,
                "p": matrix.shape[0],
                "d": d,
                "value": f"{solution.value:.4f}",
                "literature": "–" if known is None else f"{known:.4f}",
                "status": solution.status,
                "gap": f"{solution.gap:.1e}",
                "nodes": solution.iterations,
                "seconds": f"{solution.seconds:.2f}",
            }
        )
    text = (
        "# Sparse principal components\n\n"
        f"Branch and bound, relative gap asked for 1e-4, at most {LIMIT:.0f} s.\n\n" + table(rows)
    )
    store("sparse_pca", text, rows)


if __name__ == "__main__":
    main()
