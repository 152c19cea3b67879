"""Balance: standardised differences of all columns
=================================================

A love plot shows in which columns two samples differ by more than a tenth of a standard deviation.
"""

import tellapart as ta

malignant, benign = ta.datasets.demo_tables()
result = ta.two_sample_test(malignant, benign, labels=("malignant", "benign"), random_state=0)
result.plot("love")
