"""Drift monitoring: two weeks of traffic against last month's, one error for the whole sequence.

The traffic is generated. On day 8 a client library starts to retry: the median latency stays as it
was, its spread grows. On day 11 two columns begin to move together, each unchanged by itself: the
linear kernel cannot see that, a second monitor with the quadratic kernel can.

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


last_month = traffic(3000)
settings = {
    "method": "split",
    "n_checks": DAYS,
    "n_variables": 2,
    "regularization": 0.1,
    "random_state": 0,
}
single = ta.compare_to_reference(last_month, **settings)
pairs = ta.compare_to_reference(
    last_month.drop(columns="log latency"), kernel="quadratic", reference_ratio=2, **settings
)

print("day   p (single variables)              p (pairs, without latency)")
for day in range(1, DAYS + 1):
    today = traffic(400, day)
    one = single.check(today, label=f"day {day}")
    two = pairs.check(today.drop(columns="log latency"), label=f"day {day}")
    cells = [
        f"{result.pvalue:<8.4g}" + (", ".join(result.variables) if result.alarm else "")
        for result in (one, two)
    ]
    print(f"{day:>3}   {cells[0]:<34}{cells[1]}")
print(f"\n{single!r}\n{pairs!r}")
print(f"Alarm where p ≤ {single.alarm_level(1):.4g}: any false alarm in {DAYS} days: at most 0.05.")
