"""Drift monitoring: two weeks of traffic against last month's, one promise for the whole sequence.

The traffic is generated. On day 8 a client library starts to retry: the median latency stays as it
was, its spread grows. On day 11 two columns begin to move together, each unchanged by itself. One
monitor sees both, and says which is which.

    .venv/bin/python examples/drift_monitoring.py
"""

import numpy as np
import pandas as pd

import tellapart as ta

DAYS = 14
rng = np.random.default_rng(0)


def traffic(n_rows: int, day: int = 0) -> pd.DataFrame:
    """Return requests of one day; the first days are alike."""
    base = rng.standard_normal((n_rows, 6))
    if day >= 8:
        base[:, 0] *= 1.8
    if day >= 11:
        base[:, 3] = 0.9 * base[:, 2] + np.sqrt(1 - 0.9**2) * base[:, 3]
    return pd.DataFrame(
        {
            "log latency": 4 + 0.3 * base[:, 0],
            "payload kB": np.exp(1 + 0.5 * base[:, 1]),
            "queue length": 10 + 2 * base[:, 2],
            "retries": 5 + base[:, 3],
            "cpu load": 0.5 + 0.1 * base[:, 4],
            "region": np.where(base[:, 5] > 0.4, "eu", "us"),
        }
    )


monitor = ta.compare_to_reference(traffic(3000), random_state=0)
print("day   p         e-value   what differs")
for day in range(1, DAYS + 1):
    result = monitor.check(traffic(400, day), label=f"day {day}")
    story = result.story() if result.alarm else []
    print(f"{day:>3}   {result.pvalue:<10.3g}{result.capital:<10.3g}{story[0] if story else ''}")

print(f"\nThe last day:\n\n{result.summary()}")
print(f"\n{monitor.verdict} {monitor.promise}")
