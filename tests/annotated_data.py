"""A stand-in for AnnData: what is read of the real thing, which the tests do without."""

from types import SimpleNamespace

import pandas as pd

GENES = ["CD3E", "MS4A1", "NKG7", "LYZ"]


class AnnData(SimpleNamespace):
    """Holds a matrix and its names."""


AnnData.__module__ = "anndata._core.anndata"


def annotated(matrix, names=GENES, **obs):
    return AnnData(X=matrix, var_names=pd.Index(names), obs=pd.DataFrame(obs), layers={})
