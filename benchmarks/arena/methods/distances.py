"""Energy distance and MMD as dcor, hyppo and goodpoints offer them."""

from __future__ import annotations

import numpy as np

from arena.methods.base import PERMUTATIONS, Method, Verdict, by_pvalue, median_distance
from arena.table import Table, standardised


def dcor_energy(X: Table, Y: Table, seed: int) -> Verdict:
    """Test by the energy distance of dcor."""
    from dcor.homogeneity import energy_test

    pair = standardised(X, Y)
    result = energy_test(pair.X, pair.Y, num_resamples=PERMUTATIONS, random_state=seed)
    return by_pvalue(float(result.pvalue))


def hyppo_energy(X: Table, Y: Table, seed: int) -> Verdict:
    """Test by hyppo's Energy, its own choice between a χ² bound and permutations."""
    from hyppo.ksample import Energy

    pair = standardised(X, Y)
    return by_pvalue(float(Energy().test(pair.X, pair.Y, random_state=seed)[1]))


def hyppo_mmd(X: Table, Y: Table, seed: int) -> Verdict:
    """Test by hyppo's MMD: Gaussian kernel, median bandwidth, its own choice of null."""
    from hyppo.ksample import MMD

    pair = standardised(X, Y)
    return by_pvalue(float(MMD().test(pair.X, pair.Y, random_state=seed)[1]))


def goodpoints_ctt(X: Table, Y: Table, seed: int) -> Verdict:
    """Test by Compress Then Test with the median distance as bandwidth.

    Made for far more rows than the arena has: a bin keeps a power of four of its rows, so the
    default of 32 bins would drop most of 300 rows. Bins of four rows keep nearly all; below 128
    rows they would be too few to permute, and a bin is one row.
    """
    from goodpoints.ctt import ctt

    pair = standardised(X, Y)
    rows = len(pair.X) + len(pair.Y)
    bandwidth = median_distance(np.concatenate([pair.X, pair.Y]))
    result = ctt(
        pair.X,
        pair.Y,
        g=4,
        B=PERMUTATIONS,
        s=rows // 8 if rows >= 128 else rows // 2,
        lam=bandwidth,
        null_seed=seed,
        statistic_seed=seed,
    )
    values = result.estimator_values
    return by_pvalue(float(np.mean(values >= result.statistic_values)))


METHODS = (
    Method("dcor-energy", "dcor.homogeneity.energy_test, 199 permutations", dcor_energy, ("dcor",)),
    Method("hyppo-energy", "hyppo.ksample.Energy, defaults", hyppo_energy, ("hyppo",)),
    Method("hyppo-mmd", "hyppo.ksample.MMD, defaults", hyppo_mmd, ("hyppo",)),
    Method(
        "goodpoints-ctt",
        "goodpoints.ctt.ctt, g = 4, median bandwidth, bins of four rows or one, 199 permutations",
        goodpoints_ctt,
        ("goodpoints",),
    ),
)
