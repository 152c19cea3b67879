"""Sparse principal components, a = 0: anchors from the literature, bundled and published data.

    .venv/bin/python benchmarks/bench_sparse_pca.py [--data FOLDER] [--scip-seconds 10]

Branch and bound on the 13-variable pitprops correlations (optimal values known) and on covariance
and correlation matrices of scikit-learn's bundled data, at most 60 s each, beside SCIP on the same
problem in the same run; all seconds are CPU seconds on one core. With --data also on matrices that
papers on exact sparse PCA use, which are not part of this repository:

- Eisen1_txt, Eisen2_txt and digits_txt from github.com/INFORMSJoC/2022.0372 (Li and Xie), whose
  results/table6.csv and table7.csv are the published figures beside ours;
- communities.jld and arrhythmia.jld from github.com/ryancorywright/ScalableSPCA.jl (Bertsimas,
  Cory-Wright and Pauphilet): covariances, and correlations with 0 for those of constant columns;
- mnist.npz, as in `which_few`: pixels of the test images that are not constant.

Files that are missing are left out. Writes benchmarks/results/sparse_pca.{md,csv}.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyscipopt import Model, quicksum
from sklearn.datasets import load_breast_cancer, load_digits

from pitprops import OPTIMA, pitprops
from store import store, table
from tellapart.strs import SparseTrustRegion
from tellapart.strs.contract import Control
from tellapart.strs.solvers.branch_and_bound import BranchAndBound

LIMIT = 60.0
TOO_MANY_FOR_SCIP = 150
SCIP_PICKS = 20


class Case(NamedTuple):
    """A matrix, d, and what the literature says: the optimal value, and seconds."""

    name: str
    matrix: NDArray[np.float64]
    d: int
    value: float | None = None
    published: str = "–"


def bundled() -> Iterator[Case]:
    """Yield what needs no files."""
    for d, value in OPTIMA.items():
        yield Case("pitprops, correlation", pitprops(), d, value)
    cancer, digits = load_breast_cancer().data, load_digits().data
    digits = digits[:, digits.std(axis=0) > 0]
    products = np.einsum("ni,nj->nij", *(2 * [cancer[:, :12] / cancer[:, :12].std(axis=0)]))
    pairs = products[:, *np.triu_indices(12)]
    for d in (5, 10):
        yield Case("breast cancer, correlation", np.corrcoef(cancer.T), d)
        yield Case("breast cancer, products of 12 columns, correlation", np.corrcoef(pairs.T), d)
        yield Case("digits, covariance", np.cov(digits.T), d)
        yield Case("digits, correlation", np.corrcoef(digits.T), d)


LI_XIE = {
    "Eisen1": ("Eisen-1", {10: "551 s", 20: "520 s"}),
    "Eisen2": ("Eisen-2", {10: "no bound in 3,600 s", 20: "no bound in 3,600 s"}),
    "digits": ("digits of Li and Xie", {10: "no bound in 3,600 s", 20: "no bound in 3,600 s"}),
}
"""File, name, and their tables 6 and 7: the seconds of the one relaxation that closes the gap."""


def published(folder: Path) -> Iterator[Case]:
    """Yield what the files in a folder hold."""
    for file, (name, seconds) in LI_XIE.items():
        if (folder / f"{file}_txt").exists():
            matrix = np.genfromtxt(folder / f"{file}_txt", delimiter=",", skip_header=1)[:, 1:]
            for d in (10, 20):
                yield Case(f"{name}, covariance", matrix, d, published=seconds[d])
    for name in ("communities", "arrhythmia"):
        if (folder / f"{name}.jld").exists():
            import h5py

            with h5py.File(folder / f"{name}.jld") as file:
                covariance = np.asarray(file[name])
                correlation = np.nan_to_num(np.asarray(file[f"norm{name.title()}"]))
            for d in (5, 10, 20, 30):
                yield Case(f"{name}, covariance", covariance, d)
                yield Case(f"{name}, correlation", correlation, d)
    if (folder / "mnist.npz").exists():
        images = np.load(folder / "mnist.npz")["test_images"].reshape(10_000, -1).astype(float)
        images = images[:, images.std(axis=0) > 0]
        for d in (5, 10, 20):
            yield Case("MNIST, covariance", np.cov(images.T), d)
            yield Case("MNIST, correlation", np.corrcoef(images.T), d)


def scip(matrix: NDArray[np.float64], d: int, limit: float) -> str:
    """Return the CPU seconds of SCIP at gap 1e-4, or its gap at the limit.

    The square of each principal direction of z is a term of the objective; |z_i| ≤ q_i, q binary.
    """
    size = matrix.shape[0]
    if limit <= 0.0 or size > TOO_MANY_FOR_SCIP or d != SCIP_PICKS:
        return "–"
    eigenvalues, vectors = np.linalg.eigh(matrix)
    model = Model()
    model.hideOutput()
    model.setParam("timing/clocktype", 1)
    model.setParam("limits/time", limit)
    model.setParam("limits/gap", 1e-4)
    z = [model.addVar(lb=-1, ub=1) for _ in range(size)]
    q = [model.addVar(vtype="B") for _ in range(size)]
    directions = [model.addVar(lb=-1, ub=1) for _ in range(size)]
    for direction, column in zip(directions, vectors.T, strict=True):
        model.addCons(direction == quicksum(float(column[i]) * z[i] for i in range(size)))
    value = model.addVar(lb=None, ub=float(eigenvalues[-1]))
    pairs = zip(eigenvalues, directions, strict=True)
    model.addCons(value <= quicksum(max(float(weight), 0.0) * v * v for weight, v in pairs))
    model.addCons(quicksum(v * v for v in z) <= 1)
    for i in range(size):
        model.addCons(z[i] <= q[i])
        model.addCons(-z[i] <= q[i])
    model.addCons(quicksum(q) <= d)
    model.setObjective(value, "maximize")
    model.optimize()
    gap = model.getGap()
    if gap <= 1e-4:
        return f"{model.getSolvingTime():.1f} s"
    return f"{100 * gap:.0f} % at {limit:.0f} s" if gap < 1e3 else f"no bound at {limit:.0f} s"


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--scip-seconds", type=float, default=10.0)
    settings = parser.parse_args()
    warm = np.random.default_rng(0).normal(size=(40, 80))
    BranchAndBound().solve(SparseTrustRegion(np.corrcoef(warm), np.zeros(40), 5), Control())
    cases = [*bundled(), *([] if settings.data is None else published(settings.data))]
    rows = []
    for case in cases:
        size = case.matrix.shape[0]
        problem = SparseTrustRegion(case.matrix, np.zeros(size), case.d)
        control = Control(time_limit=LIMIT, resolution=problem.resolution, clock=time.process_time)
        solution = BranchAndBound().solve(problem, control)
        rows.append(
            {
                "matrix": case.name,
                "p": size,
                "d": case.d,
                "value": f"{solution.value:.4f}",
                "literature": "–" if case.value is None else f"{case.value:.4f}",
                "status": solution.status,
                "gap": f"{solution.gap:.1e}",
                "nodes": solution.iterations,
                "seconds": f"{solution.seconds:.2f}",
                "SCIP": scip(case.matrix, case.d, settings.scip_seconds),
                "published": case.published,
            }
        )
        print(*rows[-1].values(), flush=True)
    text = (
        "# Sparse principal components\n\n"
        f"Branch and bound, relative gap asked for 1e-4, at most {LIMIT:.0f} CPU s on one core; "
        f"SCIP on the same problem (d = {SCIP_PICKS}, up to {TOO_MANY_FOR_SCIP} variables) at most "
        f"{settings.scip_seconds:.0f} CPU s. "
        "Published: Li and Xie, INFORMS Journal on Computing 2022.0372, the seconds of the "
        "relaxation that closes the gap, with commercial solvers on their machine.\n\n"
        + table(rows)
    )
    store("sparse_pca", text, rows, show=False)


if __name__ == "__main__":
    main()
