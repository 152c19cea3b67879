"""Products of short features, summed over all rows of each sample: one pass, no pairs of rows.

Let f_s be features of column s, k_s(u, v) ≈ f_s(u)ᵀf_s(v), and C_sr = mean_i f_s(i) f_r(i)ᵀ of one
sample. Then the mean over pairs of its rows of k_s k_r is ‖C_sr‖²_F, and between two samples it is
⟨C_sr, C′_sr⟩. Pairs of a row with itself are told apart by Σ_i |f_s(i)|² |f_r(i)|².
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples, Values, rows_of
from tellapart.interrupts import check_interrupts
from tellapart.kernels.base import PairFunction
from tellapart.kernels.landmarks import Landmarks

Singles = NDArray[np.float32]

# Numbers in a block of features: 16 MB in single precision.
_BLOCK_ENTRIES = 4_194_304


@dataclass(frozen=True)
class Tensor:
    """The mean products of features of every two columns in one sample.

    Attributes
    ----------
    count : int
        Rows.
    products : array of shape (D, r, D, r)
        C: mean_i f_s(i) f_r(i)ᵀ.
    own : array of shape (D, D)
        mean_i |f_s(i)|² |f_r(i)|².
    """

    count: int
    products: FloatArray
    own: FloatArray


@dataclass(frozen=True)
class Products:
    """What the features of one sample add up to; D columns of r features each.

    Attributes
    ----------
    tensor : Tensor
        Of every two columns.
    means : array of shape (D, r)
        mean_i f_s(i).
    own_means : array of shape (D,)
        mean_i |f_s(i)|².
    """

    tensor: Tensor
    means: FloatArray
    own_means: FloatArray


def place_landmarks(
    samples: Samples, scalars: Sequence[PairFunction], rank: int
) -> tuple[Landmarks, ...]:
    """Return the features of every column, from the pooled values."""
    found = []
    for s, scalar in enumerate(scalars):
        column = np.array([s])
        pooled = np.concatenate([samples.x[:, column], samples.y[:, column]]).ravel()
        found.append(Landmarks.of(scalar, pooled, rank))
    return tuple(found)


def features_of(values: FloatArray, landmarks: Sequence[Landmarks], rank: int) -> Singles:
    """Return the features of some rows, of shape (rows, D, r); 0 where a column has fewer."""
    block = np.zeros((values.shape[0], len(landmarks), rank), dtype=np.float32)
    for s, one in enumerate(landmarks):
        block[:, s, : one.rank] = one.features(np.ascontiguousarray(values[:, s]))
    return block


def blocks_of(values: Values, landmarks: Sequence[Landmarks], rank: int) -> Iterator[Singles]:
    """Yield the features of one sample, a block of rows at a time."""
    n_columns = len(landmarks)
    step = max(64, _BLOCK_ENTRIES // (n_columns * max(rank, 1)))
    everything = np.arange(n_columns)
    for start in range(0, values.shape[0], step):
        check_interrupts()
        rows = np.arange(start, min(start + step, values.shape[0]))
        yield features_of(rows_of(values, rows)[:, everything], landmarks, rank)


def products_of(
    values: Values, landmarks: Sequence[Landmarks], rank: int, centre: FloatArray | None = None
) -> Products:
    """Sum the products of features over the rows of one sample, less `centre` if given."""
    n_rows, n_columns = values.shape[0], len(landmarks)
    width = n_columns * rank
    means, products = np.zeros(width), np.zeros((width, width))
    own, own_means = np.zeros((n_columns, n_columns)), np.zeros(n_columns)
    for block in blocks_of(values, landmarks, rank):
        if centre is not None:
            block -= centre.astype(np.float32)
        squares = np.einsum("isa,isa->is", block, block)
        flat = block.reshape(-1, width)
        means += flat.sum(axis=0, dtype=np.float64)
        products += flat.T @ flat
        own += squares.T @ squares
        own_means += squares.sum(axis=0, dtype=np.float64)
    products = products.reshape(n_columns, rank, n_columns, rank) / n_rows
    return Products(
        Tensor(n_rows, products, own / n_rows),
        means.reshape(n_columns, rank) / n_rows,
        own_means / n_rows,
    )


def squared_difference(x: Tensor, y: Tensor) -> FloatArray:
    """Return the unbiased MMD² of k_s k_r for every two columns, of shape (D, D)."""
    total = -2 * np.einsum("sarb,sarb->sr", x.products, y.products)
    for one in (x, y):
        squares = np.einsum("sarb,sarb->sr", one.products, one.products)
        total += _without_own(squares, one.own, one.count)
    return np.asarray(total)


def squared_shift(x: Products, y: Products) -> FloatArray:
    """Return the unbiased MMD² of k_s for every column, of shape (D,)."""
    total = -2 * np.einsum("sa,sa->s", x.means, y.means)
    for one in (x, y):
        squares = np.einsum("sa,sa->s", one.means, one.means)
        total += _without_own(squares, one.own_means, one.tensor.count)
    return np.asarray(total)


def _without_own(over_all: FloatArray, own: FloatArray, count: int) -> FloatArray:
    """Return the mean over pairs of different rows, given that over all and that of a row's own."""
    return np.asarray((count * over_all - own) / (count - 1))
