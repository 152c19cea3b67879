"""A kernel's choice, proved
==========================

The Gaussian kernel selects a column whose spread differs, and the proof covers all others.
"""

import numpy as np
import pandas as pd

import tellapart as ta

rng = np.random.default_rng(0)
names = [f"x{k}" for k in range(8)]
X = pd.DataFrame(rng.normal(size=(80, 8)), columns=names)
Y = pd.DataFrame(rng.normal(size=(80, 8)), columns=names)
Y["x2"] *= 3
result = ta.two_sample_test(X, Y, kernel="gaussian", n_variables=1, random_state=0)
print(result.selection.certificate)
result.plot("embedding")
