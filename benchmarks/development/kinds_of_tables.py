# ruff: noqa: D103 - the name of a kind says what it is
"""Tables of categories, of several differences at once, and real ones thinned until it is hard."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from development.kind import Pair, Rng, kind, link, normal


@kind
def shares(rng: Rng) -> Pair:
    usual = [0.4, 0.3, 0.2, 0.1]

    def table(first: Sequence[float]) -> pd.DataFrame:
        levels = {
            f"c{i}": rng.choice(list("abcd"), 150, p=first if i == 0 else usual) for i in range(8)
        }
        return pd.DataFrame({**levels, **{f"v{i}": rng.normal(size=150) for i in range(6)}})

    return table([0.24, 0.34, 0.27, 0.15]), table(usual)


@kind
def categories_together(rng: Rng) -> Pair:
    def table(share: float) -> pd.DataFrame:
        levels = {f"c{i}": rng.choice(list("abc"), 200) for i in range(10)}
        levels["c1"] = np.where(rng.random(200) < share, levels["c0"], levels["c1"])
        return pd.DataFrame(levels)

    return table(0.35), table(0.0)


@kind
def number_with_category(rng: Rng) -> Pair:
    def table(slope: float) -> pd.DataFrame:
        columns = {f"v{i}": rng.normal(size=150) for i in range(15)}
        columns |= {f"c{i}": rng.choice(list("ab"), 150) for i in range(5)}
        moved = columns["v0"] + slope * np.where(columns["c0"] == "a", 1, -1)
        columns["v0"] = moved / np.sqrt(1 + slope**2)
        return pd.DataFrame(columns)

    return table(0.5), table(0.0)


@kind
def several(rng: Rng) -> Pair:
    X, Y = normal(rng, 120, 40)
    X[:, 0] += 0.3
    X[:, 1] *= 1.3
    link(X, 2, 3, 0.4)
    return X, Y


@kind
def wine(rng: Rng) -> Pair:
    values, target = load_wine(return_X_y=True)
    some, others = values[target == 0], values[target == 1]
    X, Y = (others[rng.permutation(len(others))[:30]] for _ in range(2))
    Y[:6] = some[rng.permutation(len(some))[:6]]
    return X, Y


@kind
def tumours(rng: Rng) -> Pair:
    values, target = load_breast_cancer(return_X_y=True)
    some, others = values[target == 0], values[target == 1]
    rows = rng.permutation(len(others))
    X, Y = others[rows[:60]], others[rows[60:120]]
    Y[:5] = some[rng.permutation(len(some))[:5]]
    return X, Y


@kind
def diabetes(rng: Rng) -> Pair:
    values, target = load_diabetes(return_X_y=True)
    rows = rng.permutation(len(values))
    high = target[rows] > np.median(target)
    above, below = rows[high][:28], rows[~high][:28]
    # Twelve of each change sides, which makes it hard.
    mixed = np.r_[below[:12], above[12:]], np.r_[above[:12], below[12:]]
    return values[mixed[0]], values[mixed[1]]
