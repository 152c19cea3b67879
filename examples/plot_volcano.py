"""Many columns: a volcano plot
=============================

Thirty samples of each kind, 400 columns such as genes, eight of which are shifted.
"""

import numpy as np

import tellapart as ta

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(30, 400)), rng.normal(size=(30, 400))
Y[:, :8] += 1.5

# %%
# Findings at a false discovery rate of 5 %.

result = ta.two_sample_test(X, Y, error_rate="fdr", random_state=0)
print(len(result.findings), "findings")
result.plot("volcano")
