"""MMD over many kernels at once: MMD-FUSE and MMDAgg by their authors' code."""

from __future__ import annotations

import os
import sys

import numpy as np

from arena.methods.base import ALPHA, PERMUTATIONS, Method, Verdict, by_pvalue
from arena.table import FloatArray, Table, standardised

WIDTH = 64
"""Columns are filled up with zeros, which change no distance, to a multiple of this."""
SIMULATIONS = 500
"""Of MMDAgg: its level is shared among 20 kernels, so 199 would leave the quantiles empty."""

for _name in ("MMDFUSE_PATH", "MMDAGG_PATH"):
    if os.environ.get(_name):
        sys.path.append(os.environ[_name])


def _filled(values: FloatArray) -> FloatArray:
    """Return the columns filled up with zeros, so that few shapes are compiled."""
    return np.pad(values, ((0, 0), (0, -values.shape[1] % WIDTH)))


def mmd_fuse(X: Table, Y: Table, seed: int) -> Verdict:
    """Test by MMD-FUSE: its default kernels and bandwidths."""
    import jax
    from mmdfuse import mmdfuse

    pair = standardised(X, Y)
    _, pvalue = mmdfuse(
        jax.numpy.asarray(_filled(pair.X)),
        jax.numpy.asarray(_filled(pair.Y)),
        jax.random.PRNGKey(seed),
        number_permutations=PERMUTATIONS,
        return_p_val=True,
    )
    # Single precision: 10/200 must not become a little more than 0.05.
    return by_pvalue(round(float(pvalue), 6))


def mmd_agg(X: Table, Y: Table, seed: int) -> Verdict:
    """Test by MMDAgg: its default kernels, bandwidths and weights. It has no overall p-value."""
    from mmdagg.np import mmdagg

    pair = standardised(X, Y)
    rejected = mmdagg(pair.X, pair.Y, alpha=ALPHA, B1=SIMULATIONS, B2=SIMULATIONS, seed=seed)
    return Verdict(bool(rejected), None)


METHODS = (
    Method(
        "mmd-fuse",
        "mmdfuse.mmdfuse, default kernels, 199 permutations",
        mmd_fuse,
        ("jax", "mmdfuse"),
    ),
    Method("mmd-agg", "mmdagg.np.mmdagg, B1 = B2 = 500", mmd_agg, ("jax", "mmdagg")),
)
