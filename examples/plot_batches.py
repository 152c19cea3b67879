"""Batches that vary: a monitor that learns by how much
=====================================================

The mean of every day wanders; from the eleventh day on the second column has shifted.
"""

import numpy as np
import pandas as pd

import tellapart as ta

rng = np.random.default_rng(0)


def day(shift=0.0):
    """Return the rows of a day."""
    means = rng.normal(0, 0.3, 2) + np.array([0, shift])
    return pd.DataFrame(rng.normal(means, 1, (60, 2)), columns=["load", "errors"])


reference = pd.concat([day().assign(day=k) for k in range(30)])
monitor = ta.compare_to_reference(reference, batches="day", random_state=0)
for k in range(20):
    check = monitor.check(day(0.0 if k < 10 else 1.5), label=f"day {k + 1}")
    if check.alarm:
        print(check.summary())
        break

# %%
# A score for every column and batch.

monitor.plot_columns()
