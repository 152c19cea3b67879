"""Competitors of tellapart's own test, with one interface, for comparisons on equal terms."""

from tellapart.baselines.base import Baseline, FittedBaseline, SelectingBaseline, permutation_null
from tellapart.baselines.bonferroni import Bonferroni
from tellapart.baselines.l1_mmd import L1MMD
from tellapart.baselines.projected_wasserstein import ProjectedWasserstein
from tellapart.baselines.sparse_logistic import SparseLogisticRegression
from tellapart.baselines.standard_mmd import StandardMMD

__all__ = [
    "L1MMD",
    "Baseline",
    "Bonferroni",
    "FittedBaseline",
    "ProjectedWasserstein",
    "SelectingBaseline",
    "SparseLogisticRegression",
    "StandardMMD",
    "permutation_null",
]
