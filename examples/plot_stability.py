"""How stable is a choice of variables?
=====================================

Variables are selected again on halves of the rows: how often is each of them chosen?
"""

import tellapart as ta

malignant, benign = ta.datasets.demo_tables()
result = ta.two_sample_test(malignant, benign, n_variables=3, random_state=0)
print(result.variables)
result.plot("stability", n_resamples=20)
