"""A difference that no single column shows
=========================================

Both columns have the same distribution in both samples; only together do they differ.
"""

import numpy as np
import pandas as pd

import tellapart as ta

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
Y = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
Y["b"] = np.abs(Y["b"]) * np.sign(Y["a"] * rng.choice([1, 1, 1, -1], 300))

# %%
# The finding names the pair.

result = ta.two_sample_test(X, Y, random_state=0)
print(result.findings[0].summary())
result.plot("pair", variables=("a", "b"))
