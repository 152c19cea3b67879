"""Real data, thinned until the difference is hard to see."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

from arena.table import FloatArray, Pair

PATIENTS_FILE = "critical_care.csv"


def patients_file() -> Path | None:
    """Return where the patients of critical care are, if TELLAPART_DATA says so."""
    folder = os.environ.get("TELLAPART_DATA")
    path = Path(folder) / PATIENTS_FILE if folder else None
    return path if path is not None and path.exists() else None


@cache
def patients() -> pd.DataFrame:
    """Return all patients: 39 columns of numbers, 4 of categories, and `sepsis`."""
    path = patients_file()
    if path is None:
        raise FileNotFoundError(f"TELLAPART_DATA names no folder with {PATIENTS_FILE}")
    return pd.read_csv(path)


@cache
def bundled(name: str) -> tuple[FloatArray, FloatArray]:
    """Return values and labels of a data set that comes with scikit-learn."""
    data = getattr(datasets, f"load_{name}")()
    return np.asarray(data.data, dtype=np.float64), np.asarray(data.target)


def some(rng: np.random.Generator, values: FloatArray, rows: int) -> FloatArray:
    """Return some of the rows, each at most once."""
    return values[rng.choice(len(values), rows, replace=False)]


def care(rng: np.random.Generator) -> Pair:
    """Draw 20 critically ill adults without sepsis and 20 with it, 43 mixed columns."""
    everyone = patients()
    rows = [
        rng.choice(np.flatnonzero(everyone["sepsis"] == group), 20, replace=False)
        for group in (0, 1)
    ]
    without, with_it = (everyone.iloc[index].drop(columns="sepsis") for index in rows)
    return without.reset_index(drop=True), with_it.reset_index(drop=True)


def digits(rng: np.random.Generator) -> Pair:
    """Draw 60 + 60 images of a 3, one in five of Y replaced by an 8."""
    values, labels = bundled("digits")
    return _contaminated(rng, values[labels == 3], values[labels == 8], 60, 0.2)


def cancer(rng: np.random.Generator) -> Pair:
    """Draw 80 + 80 benign tumours, one in eight of Y replaced by a malignant one."""
    values, labels = bundled("breast_cancer")
    return _contaminated(rng, values[labels == 1], values[labels == 0], 80, 0.12)


def wine(rng: np.random.Generator) -> Pair:
    """Draw 30 + 30 wines, one in three of Y replaced by another grower's; 40 columns of noise."""
    values, labels = bundled("wine")
    noisy = np.hstack([values, rng.normal(size=(len(values), 40))])
    return _contaminated(rng, noisy[labels == 1], noisy[labels == 0], 30, 0.33)


def _contaminated(
    rng: np.random.Generator, usual: FloatArray, other: FloatArray, rows: int, share: float
) -> Pair:
    """Return rows of one class, and as many of which a share comes from another class."""
    drawn = some(rng, usual, 2 * rows)
    X, Y = drawn[:rows], drawn[rows:].copy()
    strange = rng.random(rows) < share
    Y[strange] = some(rng, other, int(strange.sum()))
    return X, Y


KINDS = (care, digits, cancer, wine)
