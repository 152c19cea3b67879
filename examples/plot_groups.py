"""Several groups: each against the rest
======================================

Three kinds of cells, one of which has a marker of its own.
"""

import numpy as np
import pandas as pd

import tellapart as ta

rng = np.random.default_rng(0)
kind = np.repeat(["B", "NK", "T"], 60)
cells = pd.DataFrame(rng.normal(size=(180, 5)), columns=["g1", "g2", "g3", "g4", "g5"])
cells.loc[kind == "T", "g3"] += 2
cells.loc[kind == "B", "g5"] += 1

result = ta.compare_groups(cells, kind, random_state=0)
for comparison in result.comparisons:
    print(comparison.group, comparison.pvalue, comparison.difference)
result.plot()
