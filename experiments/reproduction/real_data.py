"""The real data of the studies, by path, or what scikit-learn bundles in their place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from sklearn import datasets as sklearn_datasets

from tellapart.arrays import FloatArray
from tellapart.data.sources.files import read_table
from tellapart.errors import InputError

DIGITS_FILE = "mnist.npz"
PATIENTS_FILE = "critical_care.csv"
LABEL = "sepsis"


@dataclass(frozen=True)
class Digits:
    """Images of digits as features: `values` (k × side²) with `labels`."""

    name: str
    values: FloatArray
    labels: FloatArray
    side: int


@dataclass(frozen=True)
class Patients:
    """Two groups of people, with the names of their numeric measurements."""

    name: str
    without: FloatArray
    with_it: FloatArray
    features: tuple[str, ...]
    groups: tuple[str, str]


@cache
def load_digits(folder: Path | None) -> Digits:
    """Return MNIST from a folder, 3 × 3 means with stride 2, or scikit-learn's 8 × 8 digits.

    The paper's 9 × 9 convolution cannot make 13 × 13 = 169 of 28 × 28 [E10]; a 3 × 3 one with
    stride 2 does. Its nine entries are not printed: here they are all 1/9.
    """
    if folder is None:
        bundled = sklearn_datasets.load_digits()
        values = np.asarray(bundled.data, dtype=np.float64) / 16.0
        return Digits("digits", values, np.asarray(bundled.target), 8)
    with np.load(existing(folder, DIGITS_FILE)) as file:
        images = np.concatenate([file["train_images"], file["test_images"]])
        labels = np.concatenate([file["train_labels"], file["test_labels"]])
    values = convolve(images.reshape(-1, 28, 28)).reshape(images.shape[0], -1)
    return Digits("mnist", values, labels, 13)


def convolve(images: FloatArray) -> FloatArray:
    """Return the means over 3 × 3 windows of images (k × h × w), two steps apart, in [0, 1].

    >>> convolve(np.full((1, 28, 28), 255)).shape
    (1, 13, 13)
    """
    scaled = np.asarray(images, dtype=np.float64) / 255.0
    windows = np.lib.stride_tricks.sliding_window_view(scaled, (3, 3), axis=(1, 2))
    return np.asarray(windows[:, ::2, ::2].mean(axis=(3, 4)))


@cache
def load_patients(folder: Path | None) -> Patients:
    """Return critically ill adults by sepsis, or scikit-learn's breast tumours by kind."""
    if folder is None:
        bundled = sklearn_datasets.load_breast_cancer()
        values = np.asarray(bundled.data, dtype=np.float64)
        malignant = np.asarray(bundled.target) == 0
        names = tuple(map(str, bundled.feature_names))
        return Patients(
            "breast", values[~malignant], values[malignant], names, ("benign", "malignant")
        )
    table = read_table(str(existing(folder, PATIENTS_FILE)))
    numeric = [
        field.name
        for field in table.schema
        if field.name != LABEL and str(field.type) in ("int64", "double")
    ]
    values = np.column_stack([table.column(name).to_numpy().astype(np.float64) for name in numeric])
    ill = table.column(LABEL).to_numpy() == 1
    return Patients(
        "critical-care", values[~ill], values[ill], tuple(numeric), ("no sepsis", "sepsis")
    )


def existing(folder: Path, name: str) -> Path:
    """Return the path of a file in the folder of data; raise if it is not there."""
    path = folder / name
    if not path.is_file():
        raise InputError(f"--data must be a folder that holds {name}; got {str(folder)!r}")
    return path
