"""Data with a known answer: the paper's four synthetic cases, and one real data set."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import signal
from sklearn import datasets as sklearn_datasets

from tellapart.arguments import check_choice, check_integer, check_number, check_random_state
from tellapart.arrays import FloatArray, IntArray
from tellapart.data.sources.array import with_names
from tellapart.errors import InputError
from tellapart.optional import is_installed, pa

CASES = ("mean-shift", "covariance-shift", "laplace", "mixture")
DEFAULT_TAU = {"mean-shift": 1.0, "covariance-shift": 2.0, "mixture": 2.0}
LAPLACE_DEVIATION = 0.8


def make_case(
    name: str,
    n_x: int,
    n_y: int | None = None,
    n_features: int = 100,
    n_informative: int = 20,
    tau: float | None = None,
    rho: float = 0.5,
    random_state: int | np.random.Generator | None = None,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Draw two samples that differ in their first d = `n_informative` columns only.

    With Σ_st = ρ^|s−t| and v_s = τ/s for s = 1, …, d (0 beyond), X ~ μ and Y ~ ν are

    - "mean-shift" (case I): μ = N(0, Σ), ν = N(v, Σ);
    - "covariance-shift" (II): μ = N(0, Σ), ν = N(0, Σ′), Σ′ = τΣ in the block of the first
      d columns and Σ outside it;
    - "laplace" (III): μ = N(0, I), ν has d independent Laplace columns of mean 0 and
      standard deviation 0.8, the others N(0, 1);
    - "mixture" (IV): μ = N(0, I), ν = ½N(−v, I) + ½N(v, I).

    Parameters
    ----------
    name : str
        One of the four names above.
    n_x, n_y : int
        Rows of X and of Y; `n_y` is `n_x` unless given.
    n_features : int
        Columns, D.
    n_informative : int
        Columns that differ, d; 0 gives two samples of one distribution, to measure a test's level.
    tau : float
        Size τ of the difference: above 0 in cases I (default 1) and IV (default 2), above 1 in
        case II (default 2); case III has none.
    rho : float
        Correlation ρ of neighbours, in (−1, 1), for cases I and II; III and IV have none.
    random_state : None, int or numpy Generator
        The source of randomness.

    Returns
    -------
    X : float array, n_x × n_features
    Y : float array, n_y × n_features
    support : int array
        The columns that differ, 0, …, d − 1.

    Examples
    --------
    >>> X, Y, support = make_case("mean-shift", 200, n_features=8, n_informative=2, random_state=0)
    >>> X.shape, Y.shape, support
    ((200, 8), (200, 8), array([0, 1]))
    """
    case = check_choice("name", name, CASES)
    rows_x = check_integer("n_x", n_x, 2)
    rows_y = rows_x if n_y is None else check_integer("n_y", n_y, 2)
    n_columns = check_integer("n_features", n_features, 1)
    d = check_integer("n_informative", n_informative, 0, n_columns)
    strength = _check_tau(case, tau)
    correlation = check_number("rho", rho, -1.0, 1.0, open_low=True, open_high=True)
    rng = check_random_state(random_state)

    # Independent columns are the correlated ones with ρ = 0.
    within = correlation if case in ("mean-shift", "covariance-shift") else 0.0
    x = _autoregressive(rows_x, n_columns, within, rng)
    y = _autoregressive(rows_y, n_columns, within, rng)
    if case == "mean-shift":
        y[:, :d] += strength / np.arange(1, d + 1)
    elif case == "covariance-shift":
        # Independent noise of covariance (τ − 1)Σ makes τΣ of the block, and touches no other.
        y[:, :d] += math.sqrt(strength - 1.0) * _autoregressive(rows_y, d, within, rng)
    elif case == "laplace":
        y[:, :d] = rng.laplace(scale=LAPLACE_DEVIATION / math.sqrt(2.0), size=(rows_y, d))
    else:
        sides = rng.choice([-1.0, 1.0], size=(rows_y, 1))  # one coin per row, not per entry
        y[:, :d] += sides * (strength / np.arange(1, d + 1))
    return x, y, np.arange(d)


def demo_tables() -> tuple[Any, Any]:
    """Return scikit-learn's breast cancer data as two tables: malignant and benign tumours.

    Returns
    -------
    malignant, benign : pyarrow.Table
        212 and 357 rows of 30 named measurements of cell nuclei; where pyarrow is not installed,
        as `tellapart.with_names` returns them.

    Examples
    --------
    >>> malignant, benign = demo_tables()
    >>> malignant.num_rows, benign.num_rows, benign.column_names[0]
    (212, 357, 'mean radius')
    """
    data = sklearn_datasets.load_breast_cancer()
    names = list(map(str, data.feature_names))
    tables = []
    for label in ("malignant", "benign"):
        rows = data.data[data.target == list(data.target_names).index(label)]
        if is_installed("pyarrow"):
            tables.append(pa.table(dict(zip(names, rows.T.copy(), strict=True))))
        else:
            tables.append(with_names(rows, names))
    return tables[0], tables[1]


def _check_tau(case: str, tau: float | None) -> float:
    if case not in DEFAULT_TAU:
        if tau is not None:
            raise InputError(f"tau must be None for the case {case!r}, which has none; got {tau!r}")
        return math.nan
    low = 1.0 if case == "covariance-shift" else 0.0
    return check_number("tau", DEFAULT_TAU[case] if tau is None else tau, low, open_low=True)


def _autoregressive(
    n_rows: int, n_columns: int, rho: float, rng: np.random.Generator
) -> FloatArray:
    """Draw rows of N(0, Σ), Σ_st = ρ^|s−t|, by z_s = ρ z_{s−1} + √(1 − ρ²) e_s."""
    noise = rng.standard_normal((n_rows, n_columns))
    if rho == 0.0 or n_columns == 0:
        return noise
    step = math.sqrt(1.0 - rho * rho)
    noise[:, 0] /= step  # the filter shrinks every entry, but z_1 has variance 1 already
    return np.asarray(signal.lfilter([step], [1.0, -rho], noise, axis=1))
