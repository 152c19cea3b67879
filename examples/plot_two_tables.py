"""Two tables: do they differ, in what, and which variables discriminate?
========================================================================

Measurements of cell nuclei in 212 malignant and 357 benign tumours, 30 columns.
"""

# %%
# One call tests all columns, names what differs and selects three variables.

import tellapart as ta

malignant, benign = ta.datasets.demo_tables()
labels = ("malignant", "benign")
result = ta.two_sample_test(malignant, benign, n_variables=3, labels=labels, random_state=0)
print(result.verdict)
print(result.selection.certificate)

# %%
# The figure shows effect sizes with 95 % confidence intervals, the null distribution of the
# statistic, and the distributions of the columns with the most significant findings.

result.plot()
