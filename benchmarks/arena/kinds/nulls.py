"""No difference: both samples come from one distribution, so a rejection is an error."""

from __future__ import annotations

import numpy as np

from arena.kinds.few import arm, banded
from arena.kinds.means import ar_columns
from arena.kinds.real import patients
from arena.table import Pair


def null_gaussian(rng: np.random.Generator) -> Pair:
    """Draw 150 + 150 rows of 50 AR(0.8) columns."""
    return ar_columns(rng, 150, 50, 0.8), ar_columns(rng, 150, 50, 0.8)


def null_ties(rng: np.random.Generator) -> Pair:
    """Draw 100 + 60 rows of 30 heavy-tailed columns, rounded, half of them zeros."""
    values = np.round(rng.standard_cauchy(size=(160, 30)), 1)
    values[rng.random(values.shape) < 0.5] = 0
    return values[:100], values[100:]


def null_care(rng: np.random.Generator) -> Pair:
    """Draw 80 + 80 critically ill adults by chance."""
    everyone = patients().drop(columns="sepsis")
    drawn = everyone.iloc[rng.choice(len(everyone), 160, replace=False)].reset_index(drop=True)
    return drawn[:80], drawn[80:].reset_index(drop=True)


def null_spiral(rng: np.random.Generator) -> Pair:
    """Draw 400 + 400 rows along a spiral of 2 columns."""
    return arm(rng, 0.0), arm(rng, 0.0)


def null_strips(rng: np.random.Generator) -> Pair:
    """Draw 400 + 400 rows of 1 column of categories and 1 of rounded numbers."""
    return banded(rng, 0.5), banded(rng, 0.5)


KINDS = (null_gaussian, null_ties, null_care, null_spiral, null_strips)
