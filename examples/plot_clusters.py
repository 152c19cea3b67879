"""Cells of one donor are alike
=============================

Eight donors a group, 30 cells each; donors vary, groups do not differ.
"""

import numpy as np
import pandas as pd

import tellapart as ta

rng = np.random.default_rng(3)


def group(first):
    """Return the cells of eight donors."""
    donor = np.repeat(np.arange(first, first + 8), 30)
    values = rng.normal(size=(16 + first, 4))[donor] + rng.normal(size=(240, 4))
    return pd.DataFrame(values, columns=["g1", "g2", "g3", "g4"]).assign(donor=donor)


X, Y = group(0), group(8)

# %%
# With donors as units nothing differs; with cells as if they were independent, much does.

columns = ["g1", "g2", "g3", "g4"]
right = ta.two_sample_test(X, Y, clusters="donor", random_state=0)
wrong = ta.two_sample_test(X[columns], Y[columns], random_state=0)
print(right.pvalue, wrong.pvalue)
wrong.plot("columns")
