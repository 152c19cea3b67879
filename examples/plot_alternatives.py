"""Which other subsets are nearly as good?
========================================

Three variables that discriminate best, and all subsets within one per cent of them.
"""

import tellapart as ta

malignant, benign = ta.datasets.demo_tables()
result = ta.two_sample_test(malignant, benign, n_variables=3, random_state=0)
near = result.selection.alternatives(within=0.01)
print(near.complete)
for subset in near.subsets[:5]:
    print(subset)
result.plot("weights")
