"""How much every score of every column differs between the samples, over all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.permutation.design_units import true_labels
from tellapart.permutation.labels import Labels
from tellapart.scan.families.correlation import CORRELATED, all_pairs
from tellapart.scan.features import SINGLES, Pairs, Product, Requests
from tellapart.scan.sums import CorrelationSums, Sums, sum_bins
from tellapart.scan.tables import PooledSample, Tables, tables_of
from tellapart.threads import one_blas_thread

CLEAR = 4.0
"""z-scores of a shift or spread beyond which a column's correlations are not judged."""
MOST_PAIRED = 300
"""Columns whose pairs are judged by all rows where no scan chose which."""
LEAST_VARIANCE, EDGE = 1e-6, 0.9999
FEWEST_ROWS = 4
"""Rows of a sample that must have both columns of a pair for it to be judged."""


@dataclass(frozen=True, eq=False)
class Differences:
    """z-scores of the differences of means, δ/√var(δ), of score columns.

    The variance is that over permutations of the labels: N²/(m n (N − 1)) for scores of variance 1
    over the N = m + n pooled rows. Under a design it is that of sums over its units within blocks
    and samples, and z has the tail of the t statistic (`DesignUnits.zscores`).

    Attributes
    ----------
    column, level : array and tuple of length P
        The column, and the level of a category, that each score column belongs to.
    zscores : mapping from score to array of length P
        By `tellapart.scan.features.SINGLES`.
    correlations : mapping from pair of int to float
        z-scores of the change of correlation of pairs of columns, s < t, neither of which is
        clearly shifted or spread out: such a change bends correlations, too, however little.
    by_design : bool
        Whether the variances are those of a design.
    """

    column: IntArray
    level: tuple[str | None, ...]
    zscores: Mapping[str, FloatArray]
    correlations: Mapping[tuple[int, int], float] = field(default_factory=dict)
    by_design: bool = False

    @classmethod
    def of(
        cls,
        sums: Sums,
        tables: Tables,
        labels: Labels,
        product: Product | None = None,
    ) -> Differences:
        """Return the z-scores from sums over all rows of both samples.

        `product` is that of U of the pairs of columns that are judged. Under a design the sums are
        adjusted for its blocks, and the deviations are those of its units.
        """
        table = {name: labels.zscores(sums.of(name)) for name in SINGLES}
        if not labels.by_design:
            table["far"] = table["far"] * tables.units.far_scale
        correlations: dict[tuple[int, int], float] = {}
        if product is not None:
            pairs = Pairs(*product.columns)
            still = np.maximum(np.abs(table["normal"]), np.abs(table["spread"])) < CLEAR
            still &= np.array([level is None for level in tables.level], dtype=np.bool_)
            kept = np.flatnonzero(still[pairs.s] & still[pairs.t])
            products = CorrelationSums(sums, product, labels.n_rows)
            changes = _correlation_changes(sums, product, *labels.true_counts)[kept]
            changes = labels.product_zscores(changes, products, kept)
            s, t = tables.column[pairs.s[kept]], tables.column[pairs.t[kept]]
            keys = zip(np.minimum(s, t).tolist(), np.maximum(s, t).tolist(), strict=True)
            correlations = dict(zip(keys, changes.tolist(), strict=True))
        return cls(tables.column, tables.level, table, correlations, labels.by_design)

    @classmethod
    def joined(cls, parts: Sequence[Differences]) -> Differences:
        """Return the differences of several parts of the columns, one after the other."""
        return cls(
            np.concatenate([part.column for part in parts]),
            tuple(level for part in parts for level in part.level),
            {
                name: np.concatenate([part.zscores[name] for part in parts])
                for name in parts[0].zscores
            },
            {pair: z for part in parts for pair, z in part.correlations.items()},
            parts[0].by_design,
        )

    def correlation_changes(self, s: IntArray, t: IntArray, default: FloatArray) -> FloatArray:
        """Return the z-scores of pairs of columns: those of `default` where there are none here."""
        keys = zip(np.minimum(s, t).tolist(), np.maximum(s, t).tolist(), strict=True)
        zscores = [self.correlations.get(key, np.nan) for key in keys]
        return np.where(np.isnan(zscores), default, zscores)

    def aligned(
        self, name: str, default: FloatArray, column: IntArray, level: tuple[str | None, ...]
    ) -> FloatArray:
        """Return the z-scores of other score columns, and `default` where there are none here."""
        if name not in self.zscores:
            return default
        places = {
            key: p for p, key in enumerate(zip(self.column.tolist(), self.level, strict=True))
        }
        at = np.array(
            [places.get(key, -1) for key in zip(column.tolist(), level, strict=True)], dtype=np.intp
        )
        return np.where(at >= 0, self.zscores[name][at], default)


def find_differences(samples: Samples, n_jobs: int = 1) -> Differences:
    """Return the z-scores over all rows: one pass that adds up scores, without permutations.

    Under a design they are adjusted for its blocks, and in units of its own deviations.
    """
    tables = tables_of(samples, PooledSample.of(samples), n_jobs)
    numeric = tables.numeric[:MOST_PAIRED]
    product = CORRELATED.of(all_pairs(numeric, tables.column))
    requests = Requests.of([product], pattern=samples.pattern)
    labels = true_labels(samples)
    with one_blas_thread():
        sums = sum_bins(samples, tables, labels, requests, n_jobs)
    return Differences.of(sums, tables, labels, product)


def _correlation_changes(sums: Sums, product: Product, n_x: float, n_y: float) -> FloatArray:
    """Return (artanh r_x − artanh r_y)/√(1/m + 1/n) of every pair, r the correlations of U."""
    of, squares, products = sums.of("normal"), sums.squares("normal"), sums.feature(product)
    pairs = Pairs(*product.columns)
    single, both = of.rows_behind(n_x, n_y), products.rows_behind(n_x, n_y)
    sides = []
    every = of.sides(), squares.sides(), products.sides()
    for k in (0, 1):
        mean, square, of_pair = (
            sums_of[k] / np.maximum(rows, 1)
            for sums_of, rows in zip(every, (single[k], single[k], both[k]), strict=True)
        )
        deviation = np.sqrt(np.maximum(square - mean**2, LEAST_VARIANCE))
        r = (of_pair - mean[pairs.s] * mean[pairs.t]) / (deviation[pairs.s] * deviation[pairs.t])
        sides.append(np.arctanh(np.clip(r, -EDGE, EDGE)))
    noise = np.sqrt(1 / np.maximum(both[0], 1) + 1 / np.maximum(both[1], 1))
    changes = (sides[0] - sides[1]) / noise
    if products.present is not None:
        changes[np.minimum(*both) < FEWEST_ROWS] = 0.0
    return np.asarray(changes)
