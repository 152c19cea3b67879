"""Groups that differ in age: does anything differ besides?
=========================================================

Cases are older than the others, and blood pressure rises with age.
"""

import numpy as np
import pandas as pd

import tellapart as ta

rng = np.random.default_rng(1)
age = rng.normal(60, 10, 600)
case = rng.random(600) < 1 / (1 + np.exp(-(age - 60) / 8))
table = pd.DataFrame({"age": age, "pressure": age + rng.normal(0, 10, 600)})
table["marker"] = age / 10 + rng.normal(size=600) + 0.6 * case
cases, others = table[case], table[~case]

# %%
# Given age, pressure does not differ; the marker does.

labels = ("cases", "others")
result = ta.two_sample_test(cases, others, adjust="age", labels=labels, random_state=0)
for finding in result.findings:
    print(finding.summary())

# %%
# Rows are compared where both samples have some: how likely each row is to be a case by its age.

result.plot("propensity")
