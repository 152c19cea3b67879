"""How much rows of one unit are alike, which says how much each unit of a design should weigh.

With ρ the share of a column's variance that lies between the units of a block, the mean of n rows
of a unit has the variance σ²(1 + (n − 1)ρ)/n: that of n rows where rows of a unit have nothing in
common, that of one row where they are the same. Means over units are known best with weights that
are inverse to it,

    n/(1 + (n − 1)ρ)   for a unit of n rows,

so that a donor of 5,000 cells does not outweigh nineteen donors of 200. Permutations of whole units
within blocks leave ρ as it is: no label is seen.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse, stats

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.design import Design
from tellapart.data.samples import Samples

MOST_COLUMNS = 200
"""Columns that are looked at, evenly spaced."""


def likeness_of(samples: Samples) -> float:
    """Return ρ of the units of the samples' design, the median over columns that vary.

    By the analysis of variance of ranks, or of the most common level of a category. It is 0 where
    all units have as many rows: they weigh the same then, whatever it is.
    """
    assert samples.design is not None
    block, unit = _pooled_units(samples.design)
    rows = np.bincount(unit)
    if (rows == rows[0]).all():
        return 0.0
    wide = samples.n_columns > MOST_COLUMNS
    places = np.linspace(0, samples.n_columns - 1, MOST_COLUMNS) if wide else samples.n_columns
    columns = np.asarray(places, dtype=np.intp) if wide else np.arange(samples.n_columns)
    values = np.concatenate([samples.x[:, columns], samples.y[:, columns]])
    numeric = np.array([samples.kinds[column] == "numeric" for column in columns])
    scores = np.empty(values.shape)
    scores[:, numeric] = stats.rankdata(values[:, numeric], axis=0)
    for place in np.flatnonzero(~numeric):
        scores[:, place] = values[:, place] == stats.mode(values[:, place]).mode
    shares = _shares_between(scores, block, unit)
    return float(np.median(shares)) if shares.size else 0.0


def _pooled_units(design: Design) -> tuple[IntArray, IntArray]:
    """Return the block of each unit and the unit of each row, X first, both counted from 0."""
    blocks = np.unique(np.concatenate(design.blocks), return_inverse=True)[1]
    side = np.repeat([0, 1], [units.size for units in design.units])
    named = np.stack([blocks, side, np.concatenate(design.units)])
    units, of_rows = np.unique(named, axis=1, return_inverse=True)
    return units[0], of_rows.ravel()


def _shares_between(scores: FloatArray, block: IntArray, unit: IntArray) -> FloatArray:
    """Return the share of variance between units of a block, of each column that varies there.

    With H blocks, G units of n_g rows and N rows, the mean squares s_b² = Σ n_g(m_g − m_h)²/(G − H)
    and s_w² within units have the expectations σ_w² + n₀σ_b² and σ_w², where
    n₀ = (N − Σ_h Σ_{g∈h} n_g²/N_h)/(G − H).
    """
    rows = np.bincount(unit).astype(np.float64)
    n_units, n_blocks, n_rows = rows.size, int(block.max()) + 1, unit.size
    if n_units == n_blocks or n_rows == n_units:
        return np.zeros(0)
    members = sparse.csr_array(
        (np.ones(n_rows), (unit, np.arange(n_rows))), shape=(n_units, n_rows)
    )
    within_blocks = sparse.csr_array((rows, (block, np.arange(n_units))), shape=(n_blocks, n_units))
    of_blocks = np.bincount(block, rows)
    means = np.asarray(members @ scores) / rows[:, np.newaxis]
    centres = np.asarray(within_blocks @ means) / of_blocks[:, np.newaxis]
    inside = np.square(scores - means[unit]).sum(axis=0) / (n_rows - n_units)
    across = (rows @ np.square(means - centres[block])) / (n_units - n_blocks)
    crowd = (n_rows - (np.bincount(block, rows**2) / of_blocks).sum()) / (n_units - n_blocks)
    between = np.maximum(across - inside, 0.0) / crowd
    varies = between + inside > 0
    return np.asarray(between[varies] / (between + inside)[varies])
