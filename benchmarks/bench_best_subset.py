"""Best subsets of regressions and portfolios of few assets: branch and bound beside SCIP.

    python benchmarks/bench_best_subset.py [--scip-seconds 10]

Regressions: scikit-learn's diabetes with all products of two columns and squares (64 columns, as
in Efron et al. 2004 and Bertsimas, King and Mazumder 2016), breast cancer (30 columns, y is the
diagnosis) and simulated correlated columns. Portfolios: the largest Sharpe ratio with at most d
assets, long only, of simulated returns with five factors. SCIP solves the same problems in the
same run, one after the other, with a bound on the coefficients that it could not know: twice the
largest one of the optimum. Times are CPU seconds.
Writes benchmarks/results/best_subset.{md,csv}.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pyscipopt import Model, quicksum
from sklearn.datasets import load_breast_cancer, load_diabetes

from store import store, table
from tellapart.strs import Solution, SparseRatio
from tellapart.strs.contract import Control
from tellapart.strs.solve import solve_ratio
from tellapart.strs.solvers.branch_and_bound import BranchAndBound

Matrix = NDArray[np.float64]
GAP = 1e-4


def scaled(X: Matrix) -> Matrix:
    """Return columns with mean 0 and length 1."""
    centred = X - X.mean(axis=0)
    return np.asarray(centred / np.linalg.norm(centred, axis=0))


def diabetes() -> tuple[Matrix, Matrix]:
    """Return the 64 columns and y."""
    X, y = load_diabetes(return_X_y=True)
    products = [X[:, i] * X[:, j] for i in range(10) for j in range(i, 10) if (i, j) != (1, 1)]
    return scaled(np.column_stack([X, *products])), y - y.mean()


def simulated(n_columns: int, n_rows: int = 500, rho: float = 0.7) -> tuple[Matrix, Matrix]:
    """Return columns with correlations ρ^|i−j|, and y from ten of them."""
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(n_rows, n_columns))
    for j in range(1, n_columns):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    signal = X[:, :: n_columns // 10][:, :10].sum(axis=1)
    return scaled(X), signal + signal.std() * rng.normal(size=n_rows) / np.sqrt(2)


def regressions() -> Iterator[tuple[str, Matrix, Matrix, int]]:
    """Yield a name, X, y and d."""
    for d in (5, 10):
        yield "diabetes with products", *diabetes(), d
    X, y = load_breast_cancer(return_X_y=True)
    for d in (5, 10):
        yield "breast cancer", scaled(X), y - y.mean(), d
    for n_columns in (100, 200):
        X, y = simulated(n_columns)
        yield "simulated", X, y - y.mean(), 10


def portfolios() -> Iterator[tuple[str, Matrix, Matrix, int]]:
    """Yield a name, the covariance of returns, their means and d."""
    for n_assets in (50, 100, 200):
        rng = np.random.default_rng(n_assets)
        loadings = rng.normal(1.0, 0.5, size=(n_assets, 5)) * [1.0, 0.5, 0.5, 0.3, 0.3]
        own = rng.uniform(0.5, 2.0, size=n_assets)
        mean = np.abs(0.05 * loadings[:, 0] + 0.05 * rng.normal(size=n_assets)) + 0.01
        yield "portfolio", loadings @ loadings.T + np.diag(own), mean, 10


def proved(problem: SparseRatio, limit: float) -> Solution:
    """Return the solution by branch and bound within so many CPU seconds.

    Objectives are squares of ratios: a gap of 1e-4 there is half of that here.
    """
    control = Control(gap=GAP / 2, time_limit=limit, clock=time.process_time)
    return solve_ratio(problem, BranchAndBound(), control, None)


def scip(
    quadratic: Matrix,
    linear: Matrix | None,
    mean: Matrix | None,
    d: int,
    most: Matrix,
    limit: float,
) -> tuple[float, float]:
    """Return CPU seconds and relative gap of SCIP, at a gap of 1e-4.

    Without `mean` max 2eᵀz − zᵀMz with |z_i| ≤ most_i q_i; with it min zᵀΣz, mean·z = 1, z ≥ 0.
    """
    size = quadratic.shape[0]
    factor = np.linalg.cholesky(quadratic).T
    model = Model()
    model.hideOutput()
    model.setParam("limits/time", limit)
    model.setParam("limits/gap", GAP)
    model.setParam("timing/clocktype", 1)
    z = [model.addVar(lb=-most[i] if mean is None else 0, ub=most[i]) for i in range(size)]
    q = [model.addVar(vtype="B") for _ in range(size)]
    along = [model.addVar(lb=None, ub=None) for _ in range(size)]
    square = model.addVar(lb=0, ub=None)
    for each, row in zip(along, factor, strict=True):
        model.addCons(each == quicksum(row[i] * z[i] for i in range(size)))
    model.addCons(quicksum(v * v for v in along) <= square)
    for i in range(size):
        model.addCons(z[i] <= most[i] * q[i])
        model.addCons(-z[i] <= most[i] * q[i])
    model.addCons(quicksum(q) <= d)
    if linear is not None:
        model.setObjective(quicksum(2 * linear[i] * z[i] for i in range(size)) - square, "maximize")
    else:
        assert mean is not None
        model.addCons(quicksum(mean[i] * z[i] for i in range(size)) == 1)
        model.setObjective(square, "minimize")
    model.optimize()
    return model.getSolvingTime(), model.getGap()


def row_of(
    name: str,
    problem: tuple[int, int],
    found: Solution,
    beside: tuple[float, float],
    limit: float,
) -> dict[str, object]:
    """Return one row of the table."""
    (size, d), (scip_seconds, scip_gap) = problem, beside
    is_open = scip_gap > 1.01 * GAP
    return {
        "problem": name,
        "D": size,
        "d": d,
        "value²": f"{found.value**2:.5g}",
        "status": found.status,
        "gap": f"{2 * found.gap:.1e}",
        "nodes": found.iterations,
        "seconds": f"{found.seconds:.2f}",
        "SCIP seconds": f"> {limit:.0f}" if is_open else f"{scip_seconds:.2f}",
        "SCIP gap": f"{scip_gap:.1e}" if is_open else "0",
    }


def main(limit: float) -> None:
    """Measure, print and store."""
    X, y = diabetes()
    for nonnegative in (False, True):  # compiles
        small = SparseRatio(X[:, :30].T @ X[:, :30], X[:, :30].T @ y, 6, nonnegative)
        proved(small, limit)
    rows = []
    for name, X, y, d in regressions():
        # With y of length 1 the value is R².
        M, e = X.T @ X, X.T @ y / np.linalg.norm(y)
        if np.linalg.eigvalsh(M)[0] < 1e-6:
            M = M + 1e-4 * np.eye(M.shape[0])
        fit = proved(SparseRatio(M, e, d), limit)
        coefficients = np.linalg.solve(M[np.ix_(fit.support, fit.support)], e[fit.support])
        most = np.full(M.shape[0], 2 * np.abs(coefficients).max())
        beside = scip(M, e, None, d, most, limit)
        rows.append(row_of(f"regression, {name}", (M.shape[0], d), fit, beside, limit))
    for name, cov, mean, d in portfolios():
        chosen = proved(SparseRatio(cov, mean, d, nonnegative=True), limit)
        beside = scip(cov, None, mean, d, 1 / mean, limit)
        rows.append(row_of(name, (cov.shape[0], d), chosen, beside, limit))
    text = (
        "# Best subsets and portfolios beside SCIP\n\n"
        f"`python benchmarks/bench_best_subset.py --scip-seconds {limit:.0f}`: relative gap "
        f"1e-4 of the squared objective, at most {limit:.0f} CPU seconds for either, one core.\n"
        "The square is R² of a regression, and that of the Sharpe ratio. SCIP is given a bound on "
        "the coefficients:\ntwice the largest one of the optimum.\n\n"
    )
    store("best_subset", text + table(rows), rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--scip-seconds", type=float, default=10.0)
    main(parser.parse_args().scip_seconds)
