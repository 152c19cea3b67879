"""A stand-in for AnnData: what is read of the real thing, which the tests do without."""

from types import SimpleNamespace

import pandas as pd

GENES = ["CD3E", "MS4A1", "NKG7", "LYZ"]


class AnnData(SimpleNamespace):
    """Holds a matrix and its names."""

    def __getitem__(self, key):
        rows, names = key
        places = [list(self.var_names).index(name) for name in names]
        return AnnData(
            X=self.X[rows][:, places],
            var_names=self.var_names[places],
            obs=self.obs[rows],
            layers={},
        )


AnnData.__module__ = "anndata._core.anndata"


def annotated(matrix, names=GENES, layers=None, raw=None, **obs):
    frame = pd.DataFrame(obs)
    return AnnData(X=matrix, var_names=pd.Index(names), obs=frame, layers=layers or {}, raw=raw)
