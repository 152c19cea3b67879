"""Real data to choose variables from: two classes, rows to learn from and rows held out."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from which_few.table import FloatArray, IntArray

FIRST_SPLIT = 10_000


@dataclass(frozen=True)
class Labelled:
    """Rows with a label of 0 or 1."""

    values: FloatArray
    labels: IntArray

    def rows(self, which: IntArray) -> Labelled:
        """Return some of the rows."""
        return Labelled(self.values[which], self.labels[which])

    def sample(self, label: int) -> FloatArray:
        """Return the rows of one label."""
        return self.values[self.labels == label]


@dataclass(frozen=True)
class Data:
    """A data set, its numbers of variables to choose, and how many rows of a label to learn from.

    `learn=None` takes half of the rows of each label.
    """

    load: Callable[[], Labelled]
    sizes: tuple[int, ...]
    learn: int | None
    file: str | None = None

    def at_hand(self) -> bool:
        """Whether the data can be read."""
        return self.file is None or (folder() is not None and (_folder() / self.file).exists())

    def split(self, seed: int) -> tuple[Labelled, Labelled]:
        """Return the rows to learn from and those held out, the same for every selector."""
        data = self.load()
        rng = np.random.default_rng(seed)
        taken = []
        for label in (0, 1):
            rows = rng.permutation(np.flatnonzero(data.labels == label))
            taken.append(rows[: self.learn if self.learn is not None else len(rows) // 2])
        learn = np.concatenate(taken)
        return data.rows(learn), data.rows(np.setdiff1d(np.arange(len(data.labels)), learn))


def folder() -> Path | None:
    """Return the folder that TELLAPART_DATA names."""
    named = os.environ.get("TELLAPART_DATA")
    return Path(named) if named else None


def _folder() -> Path:
    found = folder()
    if found is None:
        raise FileNotFoundError("TELLAPART_DATA must name the folder of the data")
    return found


@cache
def digits() -> Labelled:
    """Return the digits 3 and 8 as 14 × 14 pixels, each the mean of four."""
    file = np.load(_folder() / "mnist.npz")
    images = np.concatenate([file["train_images"], file["test_images"]])
    labels = np.concatenate([file["train_labels"], file["test_labels"]])
    kept = np.isin(labels, (3, 8))
    blocks = images[kept].astype(np.float64).reshape(-1, 14, 2, 14, 2)
    return Labelled(blocks.mean(axis=(2, 4)).reshape(-1, 196), (labels[kept] == 8).astype(int))


@cache
def tumours() -> Labelled:
    """Return 30 measurements of cells, malignant or benign."""
    values, labels = load_breast_cancer(return_X_y=True)
    return Labelled(values, labels)


@cache
def patients() -> Labelled:
    """Return the numeric columns of patients in intensive care, with sepsis or without."""
    frame = pd.read_csv(_folder() / "critical_care.csv")
    labels = frame.pop("sepsis").to_numpy()
    return Labelled(frame.select_dtypes("number").to_numpy(dtype=np.float64), labels)


DATA = {
    "digits": Data(digits, (10, 20), 150, "mnist.npz"),
    "tumours": Data(tumours, (3, 5), None),
    "patients": Data(patients, (5, 10), 300, "critical_care.csv"),
}
