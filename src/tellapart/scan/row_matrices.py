"""Matrices of pooled rows that statistics of whole rows sum over: made without labels."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from tellapart.arrays import FloatArray, IntArray
from tellapart.permutation.bins import Singles


def distances(points: Singles, lengths: Singles, rows: slice) -> Singles:
    """Return the distances of some of the points from all of them; `lengths` are their squares."""
    return np.asarray(_distances(points[rows] @ points.T, lengths, rows))


def distances_by_products(products: FloatArray, rows: slice) -> FloatArray:
    """Return the same distances from the inner products of all points."""
    return np.asarray(_distances(products[rows], np.diagonal(products), rows))


def _distances(
    products: FloatArray | Singles, lengths: FloatArray | Singles, rows: slice
) -> FloatArray | Singles:
    squares = -2 * products
    squares += lengths[rows, np.newaxis]
    squares += lengths
    return np.sqrt(np.maximum(squares, 0, out=squares))


def ridge_matrix(points: Singles, ridge: float) -> FloatArray:
    """Return M with δᵀ(Σ + ridge·I)⁻¹δ = wᵀMw, Σ = VᵀV/N, δ = Vᵀw: M = K(K/N + ridge·I)⁻¹, K = VVᵀ.

    K(K/N + ridge·I)⁻¹ = N·(I − ridge·(K/N + ridge·I)⁻¹): one factorisation, no spectrum.
    """
    return ridge_by_products((points @ points.T).astype(np.float64), ridge)


def ridge_by_products(products: FloatArray, ridge: float) -> FloatArray:
    """Return the same matrix from K, the inner products of all points."""
    n_rows = products.shape[0]
    matrix = products / n_rows
    matrix[np.diag_indices_from(matrix)] += ridge
    matrix = inverse_definite(matrix)
    matrix *= -ridge * n_rows
    matrix[np.diag_indices_from(matrix)] += n_rows
    return matrix


def inverse_definite(matrix: FloatArray) -> FloatArray:
    """Return the inverse of a symmetric positive definite matrix, by Cholesky's factor.

    >>> inverse_definite(np.array([[2.0, 1.0], [1.0, 2.0]])).round(6).tolist()
    [[0.666667, -0.333333], [-0.333333, 0.666667]]
    """
    factor, _ = lapack.dpotrf(matrix, lower=1, clean=0)
    inverse, _ = lapack.dpotri(factor, lower=1)
    lower = np.tril(inverse)
    return np.asarray(lower + np.tril(inverse, -1).T)


def crowd(parent: IntArray) -> Singles:
    """Return what score columns are divided by: the levels of one column count as one column."""
    _, place, counts = np.unique(parent, return_inverse=True, return_counts=True)
    return np.sqrt(counts[place]).astype(np.float32)
