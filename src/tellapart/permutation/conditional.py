"""Permutations of labels given covariates: drawn by their odds, of values less what these explain.

With odds exp(λ_g) of unit g (a row, or a cluster) to be of X, and as many of X in each block as
there are, labels have the probability ∝ exp(Σ_{g of x} λ_g). A sweep pairs the units of a block at
random; of a pair with one label each, unit g gets that of x with probability
exp(λ_g)/(exp(λ_g) + exp(λ_h)). Sweeps leave this law as it is and are reversible. So labels that
are reached by some sweeps from one middle labelling, which was itself reached from the true labels
by as many, are exchangeable with the true ones, however few the sweeps are (Besag and Clifford,
1989; Berrett, Wang, Barber and Samworth, 2020).

Sums over units are adjusted for the functions b of `tellapart.data.adjustment.Adjustment`: with c_g
the rows of unit g and b_g their mean of b,

    S̃_g = S_g − c_g b_gᵀβ + c_g μ,   β = (Σ c_g b_g b_gᵀ)⁻¹ Σ b_g S_g,

μ the mean over all rows. As b has a constant and the propensity π, Σ_g π_g (S̃_g − c_g μ) = 0: δ has
mean 0 under these permutations, up to 1/N, and about the variance

    (1/n_x + 1/n_y)² Σ_g π_g(1 − π_g) (S̃_g − c_g μ − their mean with weights π(1 − π))².
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.compiling import compiled
from tellapart.data.adjustment import Adjustment
from tellapart.data.design import ExchangeableUnits
from tellapart.permutation.design import ROUNDING, Units
from tellapart.threads import blas_threads, in_slices

SWEEPS = 50
DRAWS_AT_A_TIME = 64
LEAST_SINGULAR = 1e-7
"""Functions whose share of the largest singular value is smaller are combinations of others."""


@dataclass(frozen=True, eq=False)
class ConditionalScheme:
    """Draws labels by the odds of units; see `tellapart.data.design.PermutationScheme`."""

    logits: FloatArray
    name: str = "their odds given the covariates"

    def draw(
        self, units: ExchangeableUnits, n_permutations: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Return which units count as X, of shape (n_permutations, G)."""
        order = np.lexsort((rng.random(units.block.size), units.block))
        starts = np.searchsorted(units.block[order], np.arange(int(units.block.max()) + 2))
        logits = self.logits[order]
        middle = units.of_x[order].astype(np.uint8)
        _sweep(middle, logits, starts, SWEEPS, np.uint64(rng.integers(1, 2**63)))
        drawn = np.tile(middle, (n_permutations, 1))
        seeds = rng.integers(1, 2**63, size=n_permutations).astype(np.uint64)

        def draw(rows: slice) -> None:
            for k in range(*rows.indices(n_permutations)):
                _sweep(drawn[k], logits, starts, SWEEPS, seeds[k])

        in_slices(draw, n_permutations, DRAWS_AT_A_TIME, blas_threads())
        labels = np.empty_like(drawn)
        labels[:, order] = drawn
        return labels


@compiled
def _sweep(labels, logits, starts, sweeps, seed):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Make so many sweeps over labels of units that stand block by block, in place."""
    state = seed
    for _ in range(sweeps):
        for h in range(starts.size - 1):
            first, size = starts[h], starts[h + 1] - starts[h]
            if size < 2:
                continue
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            # Unit i is paired with c − i, counted around the block: a random reflection.
            c = np.int64(state >> np.uint64(11)) % size
            for i in range(size):
                j = c - i
                if j < 0:
                    j += size
                if j <= i:
                    continue
                a, b = first + i, first + j
                if labels[a] != labels[b]:
                    state ^= state << np.uint64(13)
                    state ^= state >> np.uint64(7)
                    state ^= state << np.uint64(17)
                    uniform = np.float64(state >> np.uint64(11)) * (1.0 / 9007199254740992.0)
                    of_a = uniform < 1.0 / (1.0 + np.exp(logits[b] - logits[a]))
                    labels[a] = 1 if of_a else 0
                    labels[b] = 0 if of_a else 1


@dataclass(frozen=True, eq=False, kw_only=True)
class ConditionalUnits(Units):
    """Units whose labels are permuted given covariates, and sums less what these explain.

    Attributes
    ----------
    functions : array of shape (G, k)
        The functions of the covariates, means over the rows of each unit; the first is 1.
    propensities : array of length G
        The probability of each unit to be of X.
    """

    functions: FloatArray
    propensities: FloatArray

    @classmethod
    def of(cls, units: Units, adjustment: Adjustment) -> ConditionalUnits:
        """Return units of single rows or of clusters with the models of their labels and values."""
        unit = np.concatenate(units.of_rows)
        rows = np.arange(unit.size)
        adding = sparse.csr_array((np.ones(unit.size), (unit, rows)), shape=(units.size, unit.size))
        counts = units.rows.astype(np.float64)[:, np.newaxis]
        functions = np.asarray(adding @ adjustment.functions) / counts
        logits = (adding @ np.concatenate(adjustment.logits)) / counts[:, 0]
        given = {each.name: getattr(units, each.name) for each in fields(Units)}
        given["scheme"] = ConditionalScheme(logits)
        return cls(**given, functions=functions, propensities=special.expit(logits))

    @property
    def adjusts(self) -> bool:
        """Whether sums are adjusted: always."""
        return True

    @cached_property
    def needs_centring(self) -> bool:
        """Whether sums are centred: always."""
        return True

    @cached_property
    def _turned(self) -> FloatArray:
        """Q (G × k) with QᵀQ = I, spanning √c_g b_g."""
        weighted = self.functions * np.sqrt(self.counts)[:, np.newaxis]
        weighted /= np.maximum(np.sqrt(np.square(weighted).sum(axis=0)), np.finfo(np.float64).tiny)
        left, values, _ = np.linalg.svd(weighted, full_matrices=False)
        return np.asarray(left[:, values > LEAST_SINGULAR * values[0]])

    def residuals(self, sums: FloatArray) -> FloatArray:
        """Return S_g − c_g b_gᵀβ of sums (G, F)."""
        root = np.sqrt(self.counts)[:, np.newaxis]
        explained = self._turned @ (self._turned.T @ (sums / root))
        return np.asarray(sums - root * explained)

    def centre(self, sums: FloatArray) -> FloatArray:
        """Return S̃ of sums of shape (G, F); a feature that is all explained is constant."""
        level = self.counts[:, np.newaxis] * (sums.sum(axis=0) / self.counts.sum())
        rest = self.residuals(sums)
        size = np.sqrt(float(self.rows.max())) * np.abs(sums).max(axis=0)
        still = np.abs(rest).max(axis=0) <= 10 * ROUNDING * size
        return np.asarray(level + np.where(still, 0.0, rest))

    def centred_weights(self, labels: FloatArray | Singles) -> FloatArray:
        """Return weights of unadjusted sums that give the same as w(e) does of adjusted ones."""
        root = np.sqrt(self.counts)
        weights = self.weights(labels)
        explained = ((weights * root) @ self._turned) @ self._turned.T
        return np.asarray(weights - explained / root)

    @property
    def chances(self) -> FloatArray:
        """π(1 − π) of every unit."""
        return np.asarray(self.propensities * (1 - self.propensities))

    def spread_out(self, sums: FloatArray) -> FloatArray:
        """Return Z with ZᵀZ about the covariance over permutations of δ, of adjusted sums."""
        rest = sums - self.counts[:, np.newaxis] * (sums.sum(axis=0) / self.counts.sum())
        chances = self.chances[:, np.newaxis]
        of_blocks = np.maximum(self._members @ chances, np.finfo(np.float64).tiny)
        rest = rest - (self._members @ (rest * chances) / of_blocks)[self.block]
        return np.asarray(rest * (self.unit**2 * np.sqrt(chances)))

    @cached_property
    def freedom(self) -> int:
        """Degrees of freedom of what is left of sums beside covariates, blocks and samples."""
        informative = float(4 * self.chances.sum())
        return max(int(min(informative, self.size) - self._turned.shape[1] - 1), 1)

    def only_moved(self) -> ConditionalUnits:
        """Return the units themselves: all may be of either sample."""
        return self

    def arranged(self, order: IntArray) -> Units:
        """Return the units in another order, for weights by labels that stand in it."""
        own = super().arranged(order)
        assert isinstance(own, ConditionalUnits)
        given = {each.name: getattr(own, each.name) for each in fields(ConditionalUnits)}
        given["functions"] = self.functions[order]
        given["propensities"] = self.propensities[order]
        return ConditionalUnits(**given)
