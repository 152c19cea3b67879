"""Are two samples alike?
=======================

No difference found is not the same as no difference: an equivalence test says what is excluded.
"""

import numpy as np
import pandas as pd

import tellapart as ta

rng = np.random.default_rng(0)
before = pd.DataFrame(rng.normal(size=(800, 4)), columns=["a", "b", "c", "d"])
after = pd.DataFrame(rng.normal(size=(900, 4)), columns=["a", "b", "c", "d"])
answer = ta.equivalence_test(before, after, margin=0.3, random_state=0)
print(answer.verdict)

# %%
# Effects of all columns with their intervals.

result = ta.two_sample_test(before, after, labels=("before", "after"), random_state=0)
result.plot("love")
